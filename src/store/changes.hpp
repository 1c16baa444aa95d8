#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace pmemcpy::store {

/// What has changed in a store since the last look. At the first look everything has.
class Changed {
public:
    explicit Changed(std::shared_ptr<Store> store) : store_(std::move(store)) {}

    /// Appends the ids of variables and groups, in no order, each once. What is stored in a step has changed
    /// when that is committed.
    void take(std::vector<std::string>& ids);
    const std::shared_ptr<Store>& store() const { return store_; }

private:
    void take_all(std::vector<std::string>& ids);

    std::shared_ptr<Store> store_;
    bool has_begun_ = false;
    std::uint64_t position_ = 0;
    std::vector<std::uint64_t> pending_;  // changed in a step that was not committed then
    bool is_all_pending_ = false;         // and anything else may have been, before anybody listened
};

}  // namespace pmemcpy::store
