#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <pmemcpy/error.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/engine/format.hpp"

namespace pmemcpy::index {

[[noreturn]] void throw_damaged(const char* what);

/// What entries are sorted by.
struct Position {
    std::string_view key{};
    std::uint64_t order = 0;
};

/// An entry as it lies in a page.
struct Cell {
    std::string_view rest;  // of its key, behind the page's prefix
    std::uint64_t order;
    std::string_view value;
    bool is_far;  // the value is a FarValue
};

/// A page of a tree as it is read. Nothing in it leads out of it, whatever its bytes are: each length is looked at before it is followed.
class PageView {
public:
    /// Errors: corrupt.
    explicit PageView(const char* bytes) : bytes_(bytes) {
        std::memcpy(&head_, bytes, sizeof head_);
        const bool is_one = head_.count <= most_cells && head_.prefix <= longest_key &&
                            head_.begin <= page_bytes &&
                            head_.begin >= sizeof head_ + head_.count * sizeof(std::uint16_t);
        if (!is_one) throw_damaged("a page");
    }
    const char* bytes() const { return bytes_; }
    std::size_t level() const { return head_.level; }
    std::size_t count() const { return head_.count; }
    const PageHead& head() const { return head_; }
    std::string_view prefix() const { return {bytes_ + page_bytes - head_.prefix, head_.prefix}; }

    Cell cell(std::size_t i) const { return cell_in(bytes_, i); }
    /// The same, for who has looked at the head.
    static Cell cell_in(const char* bytes, std::size_t i) {
        const std::size_t at = offset_in(bytes, i);
        CellHead head;
        std::memcpy(&head, bytes + at, sizeof head);
        std::uint64_t order = 0;
        std::memcpy(&order, head.order.data(), sizeof order);
        const bool is_far = (head.value & far_value) != 0;
        const std::size_t value = is_far ? sizeof(FarValue) : head.value;
        const char* const rest = bytes + at + sizeof head;
        if (at + sizeof head + head.key + value > page_bytes) throw_damaged("an entry");
        return {{rest, head.key}, order, {rest + head.key, value}, is_far};
    }
    /// The first cell that is not before a position.
    std::size_t lower_bound(const Position& wanted) const { return bound(wanted, 0); }
    /// The first cell behind it.
    std::size_t upper_bound(const Position& wanted) const { return bound(wanted, 1); }
    bool is_at(std::size_t i, const Position& wanted) const {
        if (i >= count() || !wanted.key.starts_with(prefix())) return false;
        return compare(i, wanted.key.substr(head_.prefix), wanted.order) == 0;
    }
    /// Of a page above the leaves: the child that a position is in.
    std::size_t child_with(const Position& wanted) const {
        const std::size_t behind = upper_bound(wanted);
        return behind == 0 ? 0 : behind - 1;
    }
    /// Errors: corrupt.
    Link link(std::size_t i) const {
        const std::string_view value = cell(i).value;
        Link link;
        if (value.size() != sizeof link) throw_damaged("a page above the leaves");
        std::memcpy(&link, value.data(), sizeof link);
        return link;
    }
    std::size_t offset(std::size_t i) const { return offset_in(bytes_, i); }

private:
    static std::size_t offset_in(const char* bytes, std::size_t i) {
        std::uint16_t at = 0;
        std::memcpy(&at, bytes + sizeof head_ + i * sizeof at, sizeof at);
        if (at > page_bytes - sizeof(CellHead)) throw_damaged("an entry");
        return at;
    }
    /// How cell i lies to the rest of a key.
    int compare(std::size_t i, std::string_view rest, std::uint64_t order) const {
        const std::size_t at = offset(i);
        CellHead head;
        std::memcpy(&head, bytes_ + at, sizeof head);
        if (at + sizeof head + head.key > page_bytes) throw_damaged("an entry");
        const std::size_t shorter = head.key < rest.size() ? head.key : rest.size();
        const int differs = shorter == 0 ? 0 : std::memcmp(bytes_ + at + sizeof head, rest.data(), shorter);
        if (differs != 0) return differs;
        if (head.key != rest.size()) return head.key < rest.size() ? -1 : 1;
        std::uint64_t own = 0;
        std::memcpy(&own, head.order.data(), sizeof own);
        return own < order ? -1 : own > order ? 1 : 0;
    }
    /// The first cell that compares with it as `least` or more.
    std::size_t bound(const Position& wanted, int least) const {
        const std::string_view prefix = this->prefix();
        const std::size_t shorter = std::min(prefix.size(), wanted.key.size());
        const int differs = shorter == 0 ? 0 : std::memcmp(wanted.key.data(), prefix.data(), shorter);
        if (differs < 0 || (differs == 0 && wanted.key.size() < prefix.size())) return 0;
        std::size_t end = count();
        if (differs > 0) return end;
        const std::string_view rest = wanted.key.substr(prefix.size());
        std::size_t begin = 0;
        while (begin < end) {
            const std::size_t middle = (begin + end) / 2;
            if (compare(middle, rest, wanted.order) < least)
                begin = middle + 1;
            else
                end = middle;
        }
        return begin;
    }

    const char* bytes_;
    PageHead head_;
};

/// An entry with its whole key, while pages are laid out anew.
struct Item {
    std::string_view key;
    std::uint64_t order;
    std::string_view value;
    bool is_far;
    std::size_t bytes() const { return sizeof(std::uint16_t) + sizeof(CellHead) + key.size() + value.size(); }
};

/// The entries of pages that are laid out anew; what they speak of stays here.
class Items {
public:
    void clear() {
        text_.clear();
        items_.clear();
    }
    /// Those of a page, in order. The page may be written to afterwards.
    void add(const PageView& page);
    void insert(std::size_t i, const Item& item) {
        items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(i), item);
    }
    std::span<const Item> all() const { return items_; }
    Item& operator[](std::size_t i) { return items_[i]; }
    std::size_t size() const { return items_.size(); }

private:
    std::deque<std::string> text_;  // which stay where they are
    std::vector<Item> items_;
};

/// What a page of these takes.
std::size_t bytes_of(std::span<const Item> items);
/// Lays out a page. Errors: corrupt where they do not fit, which no entries of whole pages do.
void lay_out(char* page, std::size_t level, std::span<const Item> items);
/// Puts one into a page at i; false where there is no room as it lies, or its key does not begin as the others do.
bool put_into(char* page, std::size_t i, const Item& item);
void take_out(char* page, std::size_t i);
void set_link(char* page, std::size_t i, const Link& link);
/// Which cell was put in last, for place_to_cut().
void set_last(char* page, std::size_t i);
/// Where to cut the entries of a page that runs over, when the i-th has just come and the one that came before was `last`: between 1 and all but one.
std::size_t place_to_cut(std::span<const Item> items, std::size_t i, std::size_t last);
/// The shortest position that lies behind the first item, and not behind the second.
Position between(const Item& left, const Item& right);

}  // namespace pmemcpy::index
