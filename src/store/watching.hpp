#pragma once

#include "store/store.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace pmemcpy::store {

/// One id that somebody waits for; what a Watch holds. Keeps the store, as a view does.
class Watching {
public:
    Watching(std::shared_ptr<Store> store, std::string id);
    bool wait(std::optional<std::chrono::nanoseconds> at_most);

private:
    std::shared_ptr<Store> store_;
    std::string id_;
    pool::Pool::NewsWait waiting_;
    Store::Seen seen_;
};

}  // namespace pmemcpy::store
