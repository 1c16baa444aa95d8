#pragma once

#include <string_view>
#include <vector>

namespace pmemcpy::array {

/// Ids of variables and groups, one grammar for all layouts: 1 to 4096 bytes of UTF-8 without NUL; components
/// parted by `/`, none of them empty, `.` or `..`. An id that ends in `#dims` is reserved: `A#dims` reads the
/// dimensions of `A`.
inline constexpr std::size_t max_id_bytes = 4096;
inline constexpr std::string_view dims_suffix = "#dims";

/// Errors: invalid_argument that says what is wrong and at which byte. Says nothing about the reserved
/// suffix.
void validate_id(std::string_view id);

/// For whoever creates something: validate_id, and no reserved suffix.
void validate_new_id(std::string_view id);

/// "A" of "A#dims"; empty if the id does not end in that suffix.
std::string_view variable_of_dims_id(std::string_view id);

/// The groups that hold an id, outermost first: of "a/b/c" they are "a" and "a/b".
std::vector<std::string_view> parents(std::string_view id);

/// The last component: "c" of "a/b/c".
std::string_view last_component(std::string_view id);

}  // namespace pmemcpy::array
