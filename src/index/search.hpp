#pragma once

#include <cstddef>
#include <optional>
#include <pmemcpy/query.hpp>
#include <span>
#include <string>
#include <vector>

#include "index/candidates.hpp"
#include "index/evaluation.hpp"
#include "index/plan.hpp"
#include "index/surroundings.hpp"

namespace pmemcpy::index {

class Asked;
class Index;

/// What the ids of all objects that meet a condition begin with.
std::string prefix_of(const NodePointer& condition);

/// An object that a query means.
struct Meant {
    Found found;
    std::vector<Facts> facts;  // under each key that was wanted
};

/// Goes through the objects that a query may mean, and gives those that it does.
class Search {
public:
    /// For a query that counts: the facts under the key that it counts by, and no Info. `ids`, if not null, gets what is found without a look at
    /// any object, and the rest is what is left to find.
    Search(const PMEM& pool, const Query& query, std::span<const Literal> values = {},
           Steps steps = Steps::untold, std::vector<std::string>* ids = nullptr);

    std::optional<Meant> next();
    /// The same without facts.
    std::optional<Found> next_found();
    /// In lines for people.
    std::string explain() const;

private:
    void gather(Asked& asked, Steps steps);
    bool gather(Asked& asked, Steps steps, Index& index);
    std::optional<Meant> next_unranked();
    Evaluation& evaluation();
    void finish();
    void settle_doubts();
    void look(Evaluation& evaluation, std::string_view id);
    /// It is among the groups of no side.
    bool is_pool_meant(const std::string& prefix) {
        return pool_id.starts_with(prefix) && around_.pool() != nullptr;
    }
    CandidateList all_of(const std::string& prefix);
    bool is_unchanged() const;
    bool is_there(std::string_view id) const;
    void rank_all();

    const PMEM* pool_;
    Surroundings around_;
    Query query_;
    NodePointer condition_;  // with its values; null for everything, and where the index was sure of all
    std::vector<Key> wanted_;
    std::optional<Evaluation> evaluation_;  // of the first that has to be looked at
    CandidateList candidates_;
    bool by_index_ = false;
    std::uint64_t position_ = 0;  // of the feed, when the index was asked
    std::vector<Doubt> doubts_;   // what the index does not know of comparisons
    std::vector<std::string> steps_;
    std::size_t at_ = 0;
    std::uint64_t given_ = 0;
    std::optional<std::vector<Meant>> ranked_;  // where an order was asked for
};

}  // namespace pmemcpy::index
