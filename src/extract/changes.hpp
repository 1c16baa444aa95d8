#pragma once

#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "store/changes.hpp"

namespace pmemcpy::extract {

/// What has changed in a pool since the last look, on both of its sides. At the first look everything has.
class Changed {
public:
    explicit Changed(const PMEM& pool) : pool_(pool) {}

    /// Ids of variables and groups, each once.
    std::vector<std::string> take();

private:
    using Side = std::optional<store::Changed>;
    static void take(Side& side, const std::shared_ptr<store::Store>& store, std::vector<std::string>& ids);

    const PMEM& pool_;
    Side shared_;
    Side own_;
};

}  // namespace pmemcpy::extract
