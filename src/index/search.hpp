#pragma once

#include <cstddef>
#include <optional>
#include <pmemcpy/query.hpp>
#include <string>
#include <vector>

#include "index/evaluation.hpp"
#include "index/plan.hpp"

namespace pmemcpy::index {

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
    /// For a query that counts: the facts under the key that it counts by, and no Info.
    Search(const PMEM& pool, const Query& query);

    std::optional<Meant> next();
    /// In lines for people.
    std::string explain() const;

private:
    void gather(Index& index);
    std::optional<Meant> next_unranked();
    void finish();
    bool is_unchanged() const;
    void rank_all();

    const PMEM* pool_;
    Query query_;
    std::vector<Key> wanted_;
    Evaluation evaluation_;
    std::vector<Candidate> candidates_;
    bool by_index_ = false;
    std::uint64_t position_ = 0;  // of the feed, when the index was asked
    bool is_suspicious_ = false;
    std::vector<std::string> steps_;
    std::size_t at_ = 0;
    std::uint64_t given_ = 0;
    std::optional<std::vector<Meant>> ranked_;  // where an order was asked for
};

}  // namespace pmemcpy::index
