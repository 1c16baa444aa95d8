#pragma once

#include "os/directory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pmemcpy::layout {

/// The bit that tells payload files, under whatever name, from files that somebody put into the directory: "sticky",
/// to which Linux gives no meaning on files. (A copy that keeps the mode keeps the bit.)
inline constexpr unsigned payload_mark = 01000;

inline bool is_payload(const os::Named& named) {
    return named.what == os::Named::regular && (named.mode_bits & payload_mark) != 0;
}

/// The name of a payload file in `.data`: its number in 16 hexadecimal digits.
std::string name_of_payload(std::uint64_t number);
/// The name that a file has while it takes the place of another readable name, or leaves its own. In `.data` only what lies under
/// such a name may be a user's, and without the mark.
std::string passing_name_of(std::uint64_t number);
/// The number in such a name, or nothing.
std::optional<std::uint64_t> number_of_passing(std::string_view name);
/// The number of a process's passing name: of an owner in the session that began at that version, for owners' numbers come again in
/// each session.
std::uint64_t passing_number(std::uint64_t owner, std::uint64_t session_began_at, std::uint64_t drawn);
std::uint64_t owner_of_passing(std::uint64_t number);
/// Hardly ever true of another session.
bool is_of_session(std::uint64_t number, std::uint64_t session_began_at);

/// The name it has below a pool that does not need it any more, while the target's inventory still names it.
std::string kept_name_of(std::uint64_t number);

/// The number in a kept payload's name, or nothing.
std::optional<std::uint64_t> number_of_kept(std::string_view name);
/// The number in a payload's name, or nothing.
std::optional<std::uint64_t> number_of_payload(std::string_view name);
/// Whether the name is that of a payload, or one that is passing.
bool is_payload_name(std::string_view name);

}  // namespace pmemcpy::layout
