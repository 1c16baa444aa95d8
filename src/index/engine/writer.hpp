#pragma once

#include <cstdint>
#include <vector>

#include "index/engine/pages.hpp"
#include "index/engine/tree.hpp"

namespace pmemcpy::index {

/// Changes trees, of which nobody sees anything before it publishes them all at once.
///
/// A page that was committed is never written to: it is copied into a free one, and so is each page above it (copy on write). What is changed
/// lies in memory of the writer's own, and goes into the file when it is published. Free are those pages that no reader can come to any more. Which these are is a tree too, whose entries are lists of pages, by the commit that left them.
/// Errors of all: corrupt, no_space; after one nothing of it may be published.
class Writer {
public:
    /// With the pages locked for writing.
    explicit Writer(Pages& pages);

    const Root& root(std::size_t tree) const { return meta_.roots[tree]; }
    bool has_changed() const { return has_changed_; }
    const OwnPages& own_pages() const { return own_; }

    /// In the place of an entry that is there already.
    void put(std::size_t tree, const Position& position, std::string_view value);
    void erase(std::size_t tree, const Position& position);
    void publish();

private:
    /// A page on the way down, which may be written to, and which of its cells is meant.
    struct Step {
        std::uint32_t page;
        std::size_t at;
    };

    char* bytes(std::uint32_t page) const { return own_.at(page); }
    bool has(std::size_t tree, const Position& position) const;
    void go_down(std::size_t tree, const Position& position);
    std::uint32_t own(const Link& link);
    void insert(std::size_t tree, std::size_t depth, const Item& item);
    void settle(std::size_t tree, std::size_t depth);
    void lower_root(std::size_t tree);
    bool merge(std::size_t depth);

    FarValue write_far(std::string_view value);
    void free_far(std::string_view cell_value);

    std::uint32_t take_page();
    void leave_page(const Link& link);
    bool find_free_pages();
    void write_free_pages();
    void seal(Link& link, std::size_t level);

    Pages& pages_;
    Meta meta_;
    bool has_changed_ = false;
    OwnPages own_;
    std::vector<Step> way_;
    Items items_;
    std::vector<std::uint32_t> free_;     // nobody's, to be used now
    std::vector<std::uint32_t> left_;     // by what this has changed: readers may still be at them
    std::vector<std::uint64_t> used_up_;  // lists of free pages that were taken over
    bool is_writing_free_pages_ = false;
};

}  // namespace pmemcpy::index
