#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pmemcpy::spaces {

inline constexpr std::size_t longest_name = 64;
inline constexpr std::string_view pool_suffix = ".pmem";
inline constexpr std::string_view shared_pool = "shared";

/// Whether these could be the letters of a name, reserved or not.
bool is_name(std::string_view text) noexcept;

/// Errors: invalid_argument, with what is wrong with it.
void check_namespace_name(const std::string& name);
void check_pool_name(const std::string& name);

/// A pool as users name it: NAME: or NAME:POOL.
struct Reference {
    std::string space;
    std::string pool;
};
/// Nothing for a plain path. Errors: invalid_argument.
std::optional<Reference> parse_reference(const std::string& path);

/// "x" for "x.pmem"; nothing for what is the name of no pool.
std::optional<std::string> pool_of_file(const std::string& file);
inline std::string file_of_pool(const std::string& pool) { return pool + std::string(pool_suffix); }

/// Between the name of a pool and the number of a user, in the name of the file with what is private to that user.
inline constexpr std::string_view private_part = ".private-";
/// "x.pmem" for "x.pmem.private-1000", also where more follows the number; nothing for other files, such as the ones that lie beside
/// that one while it is in use (.rt, .feed).
std::optional<std::string> pool_of_private_file(const std::string& file);

}  // namespace pmemcpy::spaces
