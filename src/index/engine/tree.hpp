#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "index/engine/own_pages.hpp"
#include "index/engine/pages.hpp"

namespace pmemcpy::index {

/// A place among the entries of a tree that nobody changes meanwhile.
class Cursor {
public:
    /// `own`: the writer's pages; null for a reader.
    Cursor(const Pages& pages, const Root& root, const OwnPages* own)
        : pages_(pages), root_(root.link), own_(own) {}

    /// At the first entry that is not before a position. False at the end. Errors of all: corrupt.
    bool seek(const Position& wanted);
    bool first() { return seek({}); }
    bool last();
    /// From an entry, or the end, to the one before; false where there is none, and then it is nowhere.
    bool previous();
    bool next() {
        Step& leaf = steps_[levels_ - 1];
        if (++leaf.at < leaf.count) return true;
        return next_leaf();
    }
    bool is_at_end() const { return levels_ == 0 || steps_[levels_ - 1].at >= steps_[levels_ - 1].count; }

    Cell cell() const { return PageView::cell_in(steps_[levels_ - 1].page, steps_[levels_ - 1].at); }
    bool is_under(const Cell& cell, std::string_view key) const {
        return key.size() == prefix_ + cell.rest.size() && key.substr(prefix_) == cell.rest &&
               key.substr(0, prefix_) == std::string_view(key_.data(), prefix_);
    }
    /// The whole key of a cell of this page, until the cursor goes on.
    std::string_view key_of(const Cell& cell) {
        if (prefix_ + cell.rest.size() > key_.size()) throw_damaged("an entry");
        cell.rest.copy(key_.data() + prefix_, cell.rest.size());
        return {key_.data(), prefix_ + cell.rest.size()};
    }

private:
    struct Step {
        const char* page;
        std::size_t at;
        std::size_t count;
    };
    PageView open(const Link& link, std::size_t level);
    void enter_leaf(const PageView& leaf);
    /// Down from a link to the first or the last entry below.
    void descend(Link link, std::size_t depth, bool to_last);
    bool next_leaf();

    const Pages& pages_;
    Link root_;
    const OwnPages* own_;
    std::size_t levels_ = 0;  // 0: the tree is empty
    std::array<Step, most_levels> steps_;
    std::size_t prefix_ = 0;
    std::array<char, longest_key + 1>
        key_;  // of the cell that was looked at; what the keys of its page begin with stays
};

/// A value that lies in pages of its own. Errors: corrupt.
std::string read_far(const Pages& pages, std::string_view cell_value);

}  // namespace pmemcpy::index
