#pragma once

#include <memory>
#include <optional>
#include <pmemcpy/glob.hpp>
#include <pmemcpy/query.hpp>
#include <span>
#include <string>
#include <vector>

namespace pmemcpy::index {

enum class Relation {
    all,   // of the parts
    any,   // of the parts
    none,  // not the one part
    under,
    exists,
    equal,
    differs,
    less,
    at_most,
    greater,
    at_least,
    matches,
    contains,
    begins,
    between,
    one_of
};

/// A condition: others put together, or one test of a key.
struct Node {
    Relation relation;
    std::vector<std::shared_ptr<const Node>> parts;  // of all, any, none
    std::shared_ptr<const Key> key;                  // of a test
    std::vector<Literal> operands;                   // of `under` the group's id
    std::optional<Glob> glob;                        // of matches
    std::string misfit;  // why only an attribute can meet the test; empty where what is known can, too
    std::size_t parameters = 0;  // that no value was given for
};

using NodePointer = std::shared_ptr<const Node>;

NodePointer join(Relation relation, std::span<const NodePointer> parts);
NodePointer join(Relation relation, const NodePointer& a, const NodePointer& b);
NodePointer negate(const NodePointer& node);

/// Errors: type_mismatch for what no object can meet, such as `@bytes > "a"`; invalid_argument for a glob that is none.
NodePointer test(Relation relation, const Key& key, std::vector<Literal> operands);
bool is_parameter(const Literal& literal);
/// With values for its parameters, one after another; what has none is not copied. Errors: type_mismatch, as test().
NodePointer bound(const NodePointer& node, std::span<const Literal> values);
/// Errors: invalid_argument (id).
NodePointer under(std::string_view group);

/// Whether a test may meet what cannot be compared so: what is known of an object has one sort, but for its value and its creator, so a test
/// made for that sort has its sense; and whether there is something at all is no comparison.
bool can_be_unlike(const Node& node);
/// Of a condition, in the order of its text. Null: none.
std::vector<const Node*> tests_that_can_be_unlike(const NodePointer& condition);

/// That it is no group.
bool leaves_groups_out(const Node& node);
/// What `under` says of the name; null for "/", which says nothing.
NodePointer test_of_name(const Node& under);

/// "=", "contains", ...; empty for those that are no operator between a key and one literal.
std::string_view sign_of(Relation relation);
/// The other way round; nothing for other words. `==` is `=`, too.
std::optional<Relation> relation_of(std::string_view sign);
/// ~, contains and begins, which take a text.
bool is_of_text(Relation relation);

/// As it can be parsed again.
std::string text_of(const Node& node);

}  // namespace pmemcpy::index
