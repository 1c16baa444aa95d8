#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/asked.hpp"
#include "index/lookup.hpp"
#include "index/node.hpp"

namespace pmemcpy::index {

/// Sorted by object, none in both. Their ids lie in the index as long as it is read.
struct Postings {
    std::vector<Posting> sure;   // they meet the condition
    std::vector<Posting> maybe;  // they may
};

/// What an index says about a condition.
struct Plan {
    bool is_answered = false;  // else nothing is known: every object may meet it
    Postings postings;
    std::vector<std::string> steps;  // for people
};

/// For whom an answer is: only people read how it was come by.
enum class Steps { told, untold };

class Inheritance;

Plan plan_of(const Lookup& lookup, const Inheritance& inheritance, const NodePointer& condition, Steps steps);

/// For the commonest question, whether an attribute is equal to a value: those that are for sure, without a plan, where nothing
/// but the postings under that value has to be known, and no group has such an attribute. None where it takes a plan. Valid until the lookup's
/// next one.
std::span<const Posting> sure_to_equal(const Lookup& lookup, const std::optional<Asked::Equality>& equality);

}  // namespace pmemcpy::index
