#pragma once

#include <cstdint>
#include <optional>
#include <pmemcpy/query.hpp>
#include <pmemcpy/serializer.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "index/node.hpp"

namespace pmemcpy::index {

/// What is there but compares with nothing: complex numbers, structures as a whole, bytes that only their owner understands.
struct Incomparable {
    std::string what;  // "a complex128"
};

/// What an object has under a key.
using Fact =
    std::variant<bool, std::int64_t, std::uint64_t, double, std::string, Time, Dimensions, Incomparable>;
using Facts = std::vector<Fact>;

/// What the bytes of a value or attribute say under the rest of a key: members of structures and of JSON by name, elements of
/// lists by number or all of them. Nothing if there is no such member. A name of an enumeration is a text and a number.
/// Errors: corrupt when the bytes are not what the type says.
Facts facts_of(const Type& type, SerializerType serializer, std::span<const std::byte> bytes,
               std::span<const std::string> members);

/// Adds those of bytes that lie as elements of arrays do.
void add_facts(Facts& facts, const Type& type, std::span<const std::byte> bytes,
               std::span<const std::string> members);

/// One fact of each sort that elements of a type can have under these members, whatever their bytes are.
Facts kinds_in(const Type& type, std::span<const std::string> members);

/// A fact that facts_of() gives for these members.
struct Leaf {
    std::vector<std::string> members;
    Fact fact;
};
struct Leaves {
    std::vector<Leaf> leaves{};
    bool is_all = true;
};
/// Every fact that bytes say under any members that are names, but no more than `at_most`. What is in a list is under its name.
/// Errors: as facts_of().
Leaves leaves_of(const Type& type, SerializerType serializer, std::span<const std::byte> bytes,
                 std::size_t at_most);

/// The index that a member of a list is called by; nothing for other names.
std::optional<std::uint64_t> index_of(const std::string& member);

/// The same of JSON text, by a build that knows JSON.
Facts facts_of_json(std::string_view text, std::span<const std::string> members);
Leaves leaves_of_json(std::string_view text, std::size_t at_most);

enum class Answer { no, yes, unlike };

/// Whether a fact compares so with the operands of a test; unlike if they are of another sort.
Answer compare(const Fact& fact, const Node& test);

/// Whether a text meets a test that is of texts: ~, contains, begins.
bool meets(std::string_view text, const Node& test);

/// "the number 3", "the text \"K\"", for messages.
std::string description_of(const Fact& fact);

/// For `order by`: by sort first (numbers, times, texts, ...), then by value.
bool is_before(const Fact& a, const Fact& b);

}  // namespace pmemcpy::index
