#pragma once

#include <cstdint>
#include <memory>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace pmemcpy::extract {

/// What has changed in a pool since the last look, on both of its sides. At the first look everything has.
class Changed {
public:
    explicit Changed(const PMEM& pool) : pool_(pool) {}

    /// Ids of variables and groups, each once.
    std::vector<std::string> take();

private:
    struct Side {
        std::shared_ptr<store::Store> store{};
        std::uint64_t position = 0;
        std::vector<std::uint64_t> pending{};  // changed in a step that was not committed then
        bool is_all_pending = false;           // and anything else may have been, before anybody listened
    };
    static void take_all(Side& side, const std::shared_ptr<store::Store>& store,
                         std::vector<std::string>& ids);
    static void take(Side& side, const std::shared_ptr<store::Store>& store, std::vector<std::string>& ids);

    const PMEM& pool_;
    Side shared_;
    Side own_;
};

}  // namespace pmemcpy::extract
