#include "metadata.hpp"

#include <cstdio>

namespace pmemcpy::hermes {

std::string name_of_file(std::uint64_t number) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "run%03u/file.%012llu", static_cast<unsigned>(number % 1000),
                  static_cast<unsigned long long>(number));
    return text.data();
}

Metadata metadata_of_file(std::uint64_t number) {
    Metadata metadata;
    metadata.size_bytes = 2 << 20;
    metadata.mode = 0100644;
    metadata.links = 1;
    metadata.accessed_ns = metadata.modified_ns = metadata.changed_ns = static_cast<std::int64_t>(number);
    metadata.places[0] = {0, 1 << 20, 0, 1, 0, number, 1};
    metadata.places[1] = {1 << 20, 1 << 20, 0, 2, 0, number, 1};
    return metadata;
}

void change(Metadata& metadata) {
    metadata.accessed_ns += 1;
    metadata.places[0].layer = 0;
    metadata.places[0].frequency += 1;
}

}  // namespace pmemcpy::hermes
