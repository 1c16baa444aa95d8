#pragma once

#include <pmemcpy/type.hpp>
#include <string>
#include <vector>

namespace pmemcpy {

/// What a Type that is more than a number shares between its copies. Never changes after it was made.
struct Type::Details {
    std::string tag;
    Type element;
    Dimensions dims;
    std::vector<Field> fields;
    std::vector<EnumValue> values;
    int depth = 1;  // of nesting
};

namespace array {

/// Bounds for every description, whether made here or read from media.
inline constexpr int max_type_depth = 16;
inline constexpr std::uint64_t max_type_bytes = std::uint64_t{1} << 40;  // of one element
inline constexpr std::size_t max_type_name_bytes = 255;
inline constexpr std::size_t max_type_encoded_bytes = 65536;

constexpr bool is_scalar(Kind kind) noexcept { return kind >= Kind::int8 && kind <= Kind::boolean; }
constexpr bool is_integer(Kind kind) noexcept { return kind >= Kind::int8 && kind <= Kind::uint64; }

}  // namespace array
}  // namespace pmemcpy
