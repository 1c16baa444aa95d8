#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy::hermes {

/// What the paper's metadata manager keeps of a file: its properties, and where it is in the hierarchy.
///
/// Source: Hermes, section 3.3.2 B: {filename, {filestat}} and {filename, {(offset, size), (node, layer, type, identifier, freq)}}.
struct Place {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    std::uint32_t node = 0;
    std::uint16_t layer = 0;
    std::uint16_t type = 0;
    std::uint64_t identifier = 0;
    std::uint64_t frequency = 0;
    friend bool operator==(const Place&, const Place&) = default;
};

struct Metadata {
    std::uint64_t size_bytes = 0;
    std::uint32_t mode = 0;
    std::uint32_t links = 0;
    std::uint32_t user = 0;
    std::uint32_t group = 0;
    std::int64_t accessed_ns = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    std::array<Place, 2> places{};
    friend bool operator==(const Metadata&, const Metadata&) = default;
};
static_assert(sizeof(Metadata) == 128);

/// Of 24 bytes, as the keys of all services may be.
std::string name_of_file(std::uint64_t number);
Metadata metadata_of_file(std::uint64_t number);
/// What an update changes: a part of the file was read, and lies elsewhere now.
void change(Metadata& metadata);

}  // namespace pmemcpy::hermes
