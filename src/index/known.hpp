#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pmemcpy {
class Key;
}

namespace pmemcpy::index {

/// What is known of every object without an attribute; in a query by these names.
enum class Known {
    name,
    group,  // that it is in; "/" for those in none
    kind,   // value, array or group
    dtype,  // as Type::name()
    shape,  // of an array
    rank,   // of an array: how many dimensions
    bytes,
    stored,  // bytes in the pool
    blocks,  // of an array
    codec,
    scope,    // shared or private
    step,     // the newest that it was stored in
    changed,  // when it was stored last
    created,  // when it was stored first
    creator,  // the user; its members tell the host, the program, and of how many ranks
    min,      // of numbers, where characterised
    max,
    mean,
    value,  // of a value itself; of an array its elements
};

/// What a known thing is compared with.
enum class Sort { text, number, time, shape, anything };

std::optional<Known> known_of(std::string_view word);
std::string_view word_of(Known known);
/// Whether a key is of that, or of a member of it, where no attribute is nearer.
bool is_known(const Key& key, Known known);
/// What a key means beside attributes; nothing if it means one.
std::optional<Known> known_of(const Key& key);
/// Whether everything that lies in a pool has it, so that an attribute of that name is no member's.
bool is_of_all(Known known);
/// Whether a member of it may be called so.
bool has_members(Known known, std::span<const std::string> members);
Sort sort_of(Known known);
/// What may stand behind it and a dot.
struct Members {
    bool are_any = false;
    std::span<const std::string_view> names{};
};
Members members_of(Known known);
/// Words that mean something else in a query: `and`, `in`, ...
bool is_reserved(std::string_view word);
/// "a, b, ...", for messages.
std::string list_of(std::span<const std::string_view> names);
/// All of them, for messages: "name, group, ...".
std::string list_of_known();

}  // namespace pmemcpy::index
