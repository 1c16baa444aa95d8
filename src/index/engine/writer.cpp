#include "index/engine/writer.hpp"

#include <algorithm>
#include <cstring>

namespace pmemcpy::index {

namespace {

constexpr std::size_t pages_in_list = 250;
constexpr unsigned lists_bits = 16;  // of the order of a list: the commit stands above
constexpr std::size_t enough_to_write_lists = 8;

template <class T>
std::string_view bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

Item item_of(const Position& position, const Link& link) {
    return {position.key, position.order, bytes_of(link), false};
}

}  // namespace

Writer::Writer(Pages& pages) : pages_(pages), meta_(pages.newest_meta()) {}

bool Writer::has(std::size_t tree, const Position& position) const {
    Cursor cursor(pages_, meta_.roots[tree], &own_);
    if (!cursor.seek(position)) return false;
    const Cell cell = cursor.cell();
    return cell.order == position.order && cursor.is_under(cell, position.key);
}

// A page that this may write to, with what is in the one that a link leads to.
std::uint32_t Writer::own(const Link& link) {
    if (link.sum == 0) return link.page;
    const std::uint32_t page = take_page();
    pages_.copy(link, bytes(page));
    leave_page(link);
    // Without a checksum only pages are linked to that this has made itself.
    const PageView copy(bytes(page));
    for (std::size_t i = 0; copy.level() != 0 && i < copy.count(); ++i) {
        if (copy.link(i).sum == 0) throw_damaged("a page above the leaves");
    }
    return page;
}

void Writer::go_down(std::size_t tree, const Position& position) {
    way_.clear();
    Link& root = meta_.roots[tree].link;
    if (root.page == 0) {
        root = {0, take_page(), 1};
        lay_out(bytes(root.page), 0, {});
    }
    if (root.levels == 0 || root.levels > most_levels) throw_damaged("what it says of itself");
    root = {0, own(root), root.levels};
    std::uint32_t page = root.page;
    for (std::size_t level = root.levels; level-- > 0;) {
        const PageView view(bytes(page));
        if (view.level() != level) throw_damaged("a page");
        if (level == 0) return way_.push_back({page, view.lower_bound(position)});
        const std::size_t at = view.child_with(position);
        way_.push_back({page, at});
        const Link child = view.link(at);
        const std::uint32_t below = own(child);
        if (child.sum != 0) set_link(bytes(page), at, {0, below, 0});
        page = below;
    }
}

void Writer::put(std::size_t tree, const Position& position, std::string_view value) {
    has_changed_ = true;
    const bool is_far = sizeof(CellHead) + position.key.size() + value.size() > longest_cell;
    const FarValue far = is_far ? write_far(value) : FarValue{};
    const Item item{position.key, position.order, is_far ? bytes_of(far) : value, is_far};
    go_down(tree, position);
    const auto [page, at] = way_.back();
    const PageView view(bytes(page));
    if (view.is_at(at, position)) {
        const Cell old = view.cell(at);
        if (old.is_far) free_far(old.value);
        if (old.is_far == is_far && old.value.size() == item.value.size()) {
            item.value.copy(bytes(page) + (old.value.data() - view.bytes()), item.value.size());
            return;
        }
        take_out(bytes(page), at);
    } else {
        ++meta_.roots[tree].entries;
    }
    insert(tree, way_.size() - 1, item);
}

// Where the way leads, or what is put in above when a page below was cut.
void Writer::insert(std::size_t tree, std::size_t depth, const Item& item) {
    const auto [page, at] = way_[depth];
    if (put_into(bytes(page), at, item)) return;
    const PageHead head = PageView(bytes(page)).head();
    items_.clear();
    items_.add(PageView(bytes(page)));
    items_.insert(at, item);
    const std::span<const Item> all = items_.all();
    // One that would run over again at once is cut now.
    constexpr std::size_t room = page_bytes / 8;
    if (all.size() < 2 || index::bytes_of(all) + room <= page_bytes)
        return lay_out(bytes(page), head.level, all);
    const std::size_t cut = place_to_cut(all, at, head.last);
    const Position behind =
        head.level == 0 ? between(all[cut - 1], all[cut]) : Position{all[cut].key, all[cut].order};
    const std::string key(behind.key);
    const Link right{0, take_page(), 0};
    lay_out(bytes(page), head.level, all.first(cut));
    lay_out(bytes(right.page), head.level, all.subspan(cut));
    set_last(bytes(at < cut ? page : right.page), at < cut ? at : at - cut);
    const Position boundary{key, behind.order};
    if (depth != 0) {
        ++way_[depth - 1].at;
        return insert(tree, depth - 1, item_of(boundary, right));
    }
    Link& root = meta_.roots[tree].link;
    const Link left{0, page, 0};
    root = {0, take_page(), root.levels + 1};
    const std::array<Item, 2> both = {item_of({}, left), item_of(boundary, right)};
    lay_out(bytes(root.page), head.level + 1U, both);
}

void Writer::erase(std::size_t tree, const Position& position) {
    if (!has(tree, position)) return;
    has_changed_ = true;
    go_down(tree, position);
    const auto [page, at] = way_.back();
    const PageView view(bytes(page));
    if (!view.is_at(at, position)) throw_damaged("a page");
    const Cell cell = view.cell(at);
    if (cell.is_far) free_far(cell.value);
    take_out(bytes(page), at);
    --meta_.roots[tree].entries;
    settle(tree, way_.size() - 1);
}

// After something was taken out of a page.
void Writer::settle(std::size_t tree, std::size_t depth) {
    const std::uint32_t page = way_[depth].page;
    const PageHead head = PageView(bytes(page)).head();
    if (depth == 0) {
        if (head.count == 0) {
            leave_page({0, page, 0});
            meta_.roots[tree].link = {};
        } else {
            lower_root(tree);
        }
        return;
    }
    if (head.count == 0) {
        leave_page({0, page, 0});
        take_out(bytes(way_[depth - 1].page), way_[depth - 1].at);
    } else if (page_bytes - head.begin - head.garbage > page_bytes / 4 || !merge(depth)) {
        return;
    }
    settle(tree, depth - 1);
}

void Writer::lower_root(std::size_t tree) {
    Link& root = meta_.roots[tree].link;
    while (root.levels > 1) {
        std::array<char, page_bytes> committed;
        if (root.sum != 0) pages_.copy(root, committed.data());
        const PageView page(root.sum == 0 ? bytes(root.page) : committed.data());
        if (page.count() != 1) return;
        const Link child = page.link(0);
        leave_page(root);
        root = {child.sum, child.page, root.levels - 1};
    }
}

// A page with few entries and one beside it; false where they stay as they are.
bool Writer::merge(std::size_t depth) {
    const auto [parent, at] = way_[depth - 1];
    const PageView above(bytes(parent));
    if (above.count() < 2) return false;
    const std::size_t left = at == 0 ? 0 : at - 1;
    const std::uint32_t own = way_[depth].page;
    items_.clear();
    std::size_t of_left = 0;
    std::size_t level = 0;
    Link other;
    for (const std::size_t i : {left, left + 1}) {
        const Link link = above.link(i);
        std::array<char, page_bytes> committed;
        if (link.sum != 0) pages_.copy(link, committed.data());
        const PageView page(link.sum == 0 ? bytes(link.page) : committed.data());
        if (i == left) of_left = page.count();
        if (i != left && page.level() != level) throw_damaged("a page");
        if (link.page != own) other = link;
        level = page.level();
        items_.add(page);
    }
    // The first cell of a page above the leaves may say less than what is true of all below.
    const Cell boundary = above.cell(left + 1);
    const std::string key = std::string(above.prefix()).append(boundary.rest);
    if (level != 0) {
        items_[of_left].key = key;
        items_[of_left].order = boundary.order;
    }
    if (index::bytes_of(items_.all()) > page_bytes / 4 * 3) return false;
    lay_out(bytes(own), level, items_.all());
    leave_page(other);
    set_link(bytes(parent), left, {0, own, 0});
    take_out(bytes(parent), left + 1);
    return true;
}

FarValue Writer::write_far(std::string_view value) {
    const std::size_t count = (value.size() + far_bytes - 1) / far_bytes;
    Link next;
    for (std::size_t i = count; i-- > 0;) {
        const std::string_view part = value.substr(i * far_bytes, far_bytes);
        const std::uint32_t page = take_page();
        const FarHead head{next.sum, next.page, 0};
        std::memcpy(bytes(page), &head, sizeof head);
        part.copy(bytes(page) + sizeof head, part.size());
        std::memset(bytes(page) + sizeof head + part.size(), 0, far_bytes - part.size());
        next = {Pages::sum_of(bytes(page)), page, 0};
        pages_.write(page, bytes(page));  // which is read before it is published, too
        pages_.remember(next);
        own_.remove(page);
    }
    return {next.sum, next.page, static_cast<std::uint32_t>(value.size())};
}

void Writer::free_far(std::string_view cell_value) {
    FarValue far;
    std::memcpy(&far, cell_value.data(), sizeof far);
    Link link{far.sum, far.page, 0};
    for (std::size_t seen = 0; seen < far.bytes; seen += far_bytes) {
        FarHead head;
        std::memcpy(&head, pages_.trusted(link), sizeof head);
        left_.push_back(link.page);
        link = {head.next_sum, head.next, 0};
    }
}

std::uint32_t Writer::take_page() {
    if (free_.empty() && !is_writing_free_pages_) find_free_pages();
    if (free_.empty()) {
        pages_.make_room(meta_.pages + 1);
        free_.push_back(static_cast<std::uint32_t>(meta_.pages++));
    }
    const std::uint32_t page = free_.back();
    free_.pop_back();
    own_.add(page);
    return page;
}

// One that nobody else has seen can be used again at once.
void Writer::leave_page(const Link& link) {
    if (link.sum != 0) return left_.push_back(link.page);
    own_.remove(link.page);
    free_.push_back(link.page);
}

// Takes over the next list. The tree of lists stays as it is until all else is done, because writing to it takes pages, too.
bool Writer::find_free_pages() {
    Cursor cursor(pages_, meta_.roots[free_tree], nullptr);
    if (!cursor.seek({{}, used_up_.empty() ? 0 : used_up_.back() + 1})) return false;
    const Cell list = cursor.cell();
    // Else a list that has changed under our hands could be come to again and again.
    if (!used_up_.empty() && list.order <= used_up_.back()) throw_damaged("a list of free pages");
    if (list.order >> lists_bits > pages_.oldest_read()) return false;
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= list.value.size(); at += sizeof(std::uint32_t)) {
        std::uint32_t page = 0;
        std::memcpy(&page, list.value.data() + at, sizeof page);
        if (page < first_page || page >= meta_.pages) throw_damaged("a list of free pages");
        free_.push_back(page);
    }
    used_up_.push_back(list.order);
    return true;
}

// Writing a list may take pages or leave some, so that it is another list; but no page is copied twice, so that comes to an end.
void Writer::write_free_pages() {
    while (free_.size() < enough_to_write_lists && find_free_pages()) {
    }
    is_writing_free_pages_ = true;
    for (const std::uint64_t order : used_up_) erase(free_tree, {{}, order});
    const std::uint64_t first = (meta_.commit + 1) << lists_bits;
    std::vector<std::uint32_t> written;
    std::size_t lists = 0;
    for (;;) {
        std::vector<std::uint32_t> all = left_;
        all.insert(all.end(), free_.begin(), free_.end());
        if (all == written) return;
        written = std::move(all);
        const std::size_t wanted = (written.size() + pages_in_list - 1) / pages_in_list;
        for (std::size_t i = 0; i < wanted; ++i) {
            const std::size_t begin = i * pages_in_list;
            const std::size_t count = std::min(pages_in_list, written.size() - begin);
            put(free_tree, {{}, first | i},
                {reinterpret_cast<const char*>(written.data() + begin), count * sizeof(std::uint32_t)});
        }
        for (std::size_t i = wanted; i < lists; ++i) erase(free_tree, {{}, first | i});
        lists = wanted;
    }
}

// From the leaves up: a link has the checksum of the whole page behind it.
void Writer::seal(Link& link, std::size_t level) {
    const PageView page(bytes(link.page));
    for (std::size_t i = 0; level != 0 && i < page.count(); ++i) {
        Link child = page.link(i);
        if (child.sum != 0) continue;
        seal(child, level - 1);
        set_link(bytes(link.page), i, child);
    }
    link.sum = Pages::sum_of(bytes(link.page));
    pages_.write(link.page, bytes(link.page));
    pages_.remember(link);
}

void Writer::publish() {
    if (!has_changed_) return;
    write_free_pages();
    for (Root& root : meta_.roots) {
        if (root.link.page != 0 && root.link.sum == 0) seal(root.link, root.link.levels - 1U);
    }
    ++meta_.commit;
    pages_.publish(meta_);
}

}  // namespace pmemcpy::index
