#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "library.hpp"

namespace mosiqs {

/// Made-up data as large and as named as those of the paper's Table I, GLAS/ICESat L2 sea ice altimetry: so many files (4,137
/// in all) of 2,167 objects, with 37 attributes each. A file is a group `GLAH_634_NNNN`; in it are 197 tracks of four
/// digits with 11 quantities each. The names that the paper's queries ask for, `GLAH_634_2121` and `9610/Inf`, are among
/// them at any scale.
class Granules {
public:
    static constexpr std::uint64_t files_in_all = 4137;
    static constexpr std::uint64_t tracks = 197;
    static constexpr std::uint64_t quantities = 11;
    static constexpr std::uint64_t objects_of_a_file = tracks * quantities;
    static constexpr std::uint64_t attributes_of_an_object = 37;
    static_assert(objects_of_a_file == 2167);

    static constexpr const char* asked_group = "GLAH_634_2121";
    static constexpr const char* asked_text = "9610/Inf";

    /// Errors: std::invalid_argument (fewer than four files, or more than the paper has).
    explicit Granules(std::uint64_t files);

    std::uint64_t files() const { return files_; }
    std::string group(std::uint64_t file) const;
    std::string name(std::uint64_t file, std::uint64_t object) const;
    /// Those of an object; and of a file, for an object of another number.
    std::vector<Attribute> attributes(std::uint64_t file, std::uint64_t object) const;
    /// What the data of an object are made of, by its id.
    static std::uint64_t stamp_of(std::string_view id);

private:
    std::uint64_t files_;
};

}  // namespace mosiqs
