#pragma once

#include <cstddef>
#include <optional>
#include <pmemcpy/query.hpp>
#include <string>
#include <vector>

#include "index/evaluation.hpp"

namespace pmemcpy::index {

/// What the ids of all objects that meet a condition begin with.
std::string prefix_of(const NodePointer& condition);

/// Goes through the objects that a query may mean, and gives those that it does.
class Search {
public:
    Search(const PMEM& pool, const Query& query);

    std::optional<Found> next();

private:
    struct Ranked {
        Found found;
        std::vector<std::optional<Fact>> keys;  // for each of the query's orders
    };
    std::optional<Object> next_meant(Found& found);
    void rank_all();

    const PMEM* pool_;
    Query query_;
    Evaluation evaluation_;
    std::vector<std::string> ids_;
    std::size_t at_ = 0;
    std::uint64_t given_ = 0;
    std::optional<std::vector<Ranked>> ranked_;  // where an order was asked for
};

}  // namespace pmemcpy::index
