#pragma once

#include <cstdint>
#include <pmemcpy/type.hpp>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// A number or text inside an element, where its structures and arrays end.
struct Leaf {
    std::string field;         ///< whose it is: "x", "inner.x"; of what is in no structure "value"
    std::string name;          ///< with the indices in arrays: "at[1]", "inner[0].x", "value"
    std::uint64_t offset = 0;  ///< in the element
    Type type;
};

/// The leaves of an element, by their offset. A type whose length varies is one leaf.
std::vector<Leaf> leaves_of(const Type& type);

}  // namespace pmemcpy::cli
