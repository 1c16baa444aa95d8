#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "index/engine/page.hpp"

namespace pmemcpy::index {

/// The pages that a writer makes, in memory of its own: whatever happens to the file, they are what it has made of them until they are published.
class OwnPages {
public:
    /// Of zeros. Errors: corrupt, where it is there already: what was to be free is not.
    char* add(std::uint32_t page) {
        auto [there, is_new] = pages_.try_emplace(page);
        if (!is_new) throw_damaged("a list of free pages");
        there->second = std::make_unique<Page>();
        return there->second->data();
    }
    void remove(std::uint32_t page) { pages_.erase(page); }
    /// Errors: corrupt, where it is not there.
    char* at(std::uint32_t page) const {
        const auto there = pages_.find(page);
        if (there == pages_.end()) throw_damaged("a link");
        return there->second->data();
    }

private:
    using Page = std::array<char, page_bytes>;
    std::unordered_map<std::uint32_t, std::unique_ptr<Page>> pages_;
};

}  // namespace pmemcpy::index
