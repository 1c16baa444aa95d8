// Queries as people type them; and what they are compared with: values and attributes of any type, whatever their bytes, and JSON.

#include <cmath>
#include <string>
#include <vector>

#include <pmemcpy/error.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/type.hpp>

#include "bytes.hpp"
#include "index/fact.hpp"
#include "index/node.hpp"
#include "target.hpp"

namespace pmemcpy::fuzz {
namespace {

constexpr std::uint64_t largest_element = 4096;

Type type_of_description(Input description) {
    try {
        return Type::decode(as_bytes(description));
    } catch (const Error&) {
        return Type::opaque(1, "json");
    }
}

index::Facts facts(const Type& type, Input bytes, std::span<const std::string> members) {
    try {
        return index::facts_of(type, SerializerType::bp4, as_bytes(bytes), members);
    } catch (const Error& error) {
        expect(error.kind() == Code::corrupt, error.what());
        return {};
    }
}

void check_order(const index::Facts& facts) {
    for (const index::Fact& a : facts) {
        expect(!index::is_before(a, a), "something is before itself");
        for (const index::Fact& b : facts)
            expect(!(index::is_before(a, b) && index::is_before(b, a)), "two things are before each other");
    }
}

void ask(const index::Node& node, const Type& type, Input bytes) {
    for (const index::NodePointer& part : node.parts) ask(*part, type, bytes);
    if (!node.key) return;
    const index::Facts found = facts(type, bytes, std::span(node.key->parts()).subspan(1));
    for (const index::Fact& fact : found) {
        static_cast<void>(index::compare(fact, node));
        expect(!index::description_of(fact).empty(), "a fact without words");
    }
    if (found.size() <= 16) check_order(found);
}

}  // namespace

void read_query(Input input) {
    Bytes rest(input);
    const std::string text = rest.take_text();
    Query query;
    try {
        query = Query::parse(text);
    } catch (const Error& error) {
        const bool is_said = error.kind() == Code::invalid_argument || error.kind() == Code::type_mismatch;
        expect(is_said && std::string_view(error.what()).starts_with("in the query, column "), error.what());
        return;
    }
    const std::string printed = query.text();
    expect(Query::parse(printed).text() == printed,
           "'" + printed + "' is another query when it is read again");
    if (!query.condition()) return;
    const Input description = rest.take_bytes(rest.take<std::uint8_t>());
    const Type type = type_of_description(description);
    if (type.size() <= largest_element) ask(*query.condition()->node(), type, rest.rest());
}

}  // namespace pmemcpy::fuzz
