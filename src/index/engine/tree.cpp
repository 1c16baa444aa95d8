#include "index/engine/tree.hpp"

namespace pmemcpy::index {

PageView Cursor::open(const Link& link, std::size_t level) {
    const bool is_own = link.sum == 0 && own_ != nullptr;
    const PageView page(is_own ? own_->at(link.page) : pages_.trusted(link));
    if (page.level() != level || page.count() == 0) throw_damaged("a page");
    return page;
}

void Cursor::enter_leaf(const PageView& leaf) {
    prefix_ = leaf.prefix().size();
    leaf.prefix().copy(key_.data(), prefix_);
}

bool Cursor::seek(const Position& wanted) {
    levels_ = 0;
    if (root_.page == 0) return false;
    if (root_.levels == 0 || root_.levels > most_levels) throw_damaged("what it says of itself");
    Link link = root_;
    for (std::size_t depth = 0; depth + 1 < root_.levels; ++depth) {
        const PageView page = open(link, root_.levels - depth - 1);
        const std::size_t at = page.child_with(wanted);
        steps_[depth] = {page.bytes(), at, page.count()};
        link = page.link(at);
    }
    levels_ = root_.levels;
    const PageView leaf = open(link, 0);
    const std::size_t at = leaf.lower_bound(wanted);
    steps_[levels_ - 1] = {leaf.bytes(), at, leaf.count()};
    enter_leaf(leaf);
    return at < leaf.count() || next_leaf();
}

void Cursor::descend(Link link, std::size_t depth, bool to_last) {
    for (;; ++depth) {
        const PageView page = open(link, levels_ - depth - 1);
        const std::size_t at = to_last ? page.count() - 1 : 0;
        steps_[depth] = {page.bytes(), at, page.count()};
        if (depth + 1 == levels_) return enter_leaf(page);
        link = page.link(at);
    }
}

bool Cursor::last() {
    levels_ = 0;
    if (root_.page == 0) return false;
    if (root_.levels == 0 || root_.levels > most_levels) throw_damaged("what it says of itself");
    levels_ = root_.levels;
    descend(root_, 0, true);
    return true;
}

// From the end of a leaf; at the end of all it stays behind the last entry.
bool Cursor::next_leaf() {
    for (std::size_t depth = levels_ - 1; depth-- > 0;) {
        Step& step = steps_[depth];
        if (step.at + 1 >= step.count) continue;
        ++step.at;
        descend(PageView(step.page).link(step.at), depth + 1, false);
        return true;
    }
    return false;
}

bool Cursor::previous() {
    if (levels_ == 0) return false;
    Step& leaf = steps_[levels_ - 1];
    if (leaf.at > 0) {
        --leaf.at;
        return true;
    }
    for (std::size_t depth = levels_ - 1; depth-- > 0;) {
        Step& step = steps_[depth];
        if (step.at == 0) continue;
        --step.at;
        descend(PageView(step.page).link(step.at), depth + 1, true);
        return true;
    }
    levels_ = 0;
    return false;
}

std::string read_far(const Pages& pages, std::string_view cell_value) {
    FarValue far;
    std::memcpy(&far, cell_value.data(), sizeof far);
    std::string value;
    Link link{far.sum, far.page, 0};
    while (value.size() < far.bytes) {
        const char* const page = pages.trusted(link);
        FarHead head;
        std::memcpy(&head, page, sizeof head);
        value.append(page + sizeof head, std::min<std::size_t>(far_bytes, far.bytes - value.size()));
        link = {head.next_sum, head.next, 0};
    }
    return value;
}

}  // namespace pmemcpy::index
