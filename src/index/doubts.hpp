#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "index/node.hpp"

namespace pmemcpy::index {

class Inheritance;
class Lookup;

/// A comparison of which an index cannot tell that it meets what compares, nor that it meets nothing that does not.
struct Doubt {
    const Node* test;
    bool has_unlike = false;  // for sure: something that does not compare
    bool is_all = true;       // no other object than `to_look_at` may have something that compares
    std::vector<std::string> to_look_at{};
};

/// Of a condition, for objects in its scope. `changed`, sorted, are places of which the index tells nothing any more, and which somebody looks
/// at. Errors: corrupt, io_error.
std::vector<Doubt> doubts_of(const Lookup& lookup, const Inheritance& inheritance,
                             const NodePointer& condition, std::span<const std::uint64_t> changed);

}  // namespace pmemcpy::index
