#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/engine/engine.hpp"
#include "index/node.hpp"

namespace pmemcpy::index {

/// Objects by their places, sorted, none in both.
struct Places {
    std::vector<std::uint64_t> sure;   // they meet the condition
    std::vector<std::uint64_t> maybe;  // they may
};

/// What an index says about a condition.
struct Plan {
    bool is_answered = false;  // else nothing is known: every object may meet it
    Places places;
    /// The index has only things of another sort where a test looks: whether that is an error, a look at all objects tells.
    bool is_suspicious = false;
    std::vector<std::string> steps;  // for people
};

Plan plan_of(const Reading& reading, const NodePointer& condition);

/// Objects that a condition may mean, sorted by id.
struct Candidate {
    std::string id;
    bool is_sure;
};
/// Each object once.
void sort_by_id(std::vector<Candidate>& objects);

struct Candidates {
    std::vector<Candidate> objects;
    bool is_suspicious = false;  // as in Plan
    std::uint64_t position = 0;  // of the feed, when they were told
    std::vector<std::string> steps;
};

}  // namespace pmemcpy::index
