#include "granules.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace mosiqs {
namespace {

// The first file has this number, at full scale; at a smaller one the files around the one that is asked for are made.
constexpr std::uint64_t asked_number = 2121;
// The number of the first track. So 9610 is among those of the first four files, and returns every 10,000 tracks.
constexpr std::uint64_t first_track = 9000;

constexpr std::array<const char*, Granules::quantities> quantity_names = {
    "Elevation", "Geolocation", "Geophysical", "Inf",   "Quality", "Reflectivity",
    "Roughness", "Time",        "Transmit",    "Tides", "Waveform"};

/// As far as the products' own attributes go; the others are numbered.
constexpr std::array<const char*, 12> text_keys = {
    "long_name",   "standard_name", "units",       "source",     "contentType", "coordinates",
    "description", "title",         "institution", "references", "platform",    "instrument"};

}  // namespace

Granules::Granules(std::uint64_t files) : files_(files) {
    if (files < 4 || files > files_in_all) throw std::invalid_argument("from 4 to 4137 files");
}

std::string Granules::group(std::uint64_t file) const {
    char text[32];
    std::snprintf(text, sizeof text, "GLAH_634_%04u",
                  static_cast<unsigned>(asked_number + file - files_ / 2));
    return text;
}

std::string Granules::name(std::uint64_t file, std::uint64_t object) const {
    char text[48];
    const std::uint64_t track = (first_track + file * tracks + object / quantities) % 10'000;
    std::snprintf(text, sizeof text, "%04u/%s", static_cast<unsigned>(track),
                  quantity_names[object % quantities]);
    return text;
}

std::vector<Attribute> Granules::attributes(std::uint64_t file, std::uint64_t object) const {
    std::vector<Attribute> attributes;
    attributes.reserve(attributes_of_an_object);
    const std::uint64_t number = file * objects_of_a_file + object;
    for (std::size_t i = 0; i < attributes_of_an_object; ++i) {
        if (i < text_keys.size()) {
            // A quantity has the same in all files, as real ones have; one text is the object's own.
            attributes.push_back({text_keys[i], std::string(quantity_names[object % quantities]) +
                                                    " of the " + text_keys[i] +
                                                    (i == 0 ? " " + std::to_string(number) : "")});
        } else if (i % 2 == 0) {
            attributes.push_back(
                {"parameter_" + std::to_string(i), static_cast<std::int64_t>((number + i) % 5000)});
        } else {
            attributes.push_back(
                {"parameter_" + std::to_string(i), 0.25 * static_cast<double>((number * i) % 9973)});
        }
    }
    return attributes;
}

std::uint64_t Granules::stamp_of(std::string_view id) {
    std::uint64_t hash = 14'695'981'039'346'656'037u;
    for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211u;
    return hash;
}

}  // namespace mosiqs
