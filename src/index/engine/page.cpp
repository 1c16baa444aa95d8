#include "index/engine/page.hpp"

#include <algorithm>
#include <array>

namespace pmemcpy::index {

namespace {

std::size_t common(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::size_t prefix_of(std::span<const Item> items) {
    return items.size() < 2 ? 0 : common(items.front().key, items.back().key);
}

void write_cell(char* page, std::size_t at, const Item& item, std::size_t prefix) {
    CellHead head;
    head.key = static_cast<std::uint16_t>(item.key.size() - prefix);
    head.value = item.is_far ? far_value : static_cast<std::uint16_t>(item.value.size());
    std::memcpy(head.order.data(), &item.order, sizeof item.order);
    std::memcpy(page + at, &head, sizeof head);
    item.key.copy(page + at + sizeof head, head.key, prefix);
    item.value.copy(page + at + sizeof head + head.key, item.value.size());
}

void write_offset(char* page, std::size_t i, std::size_t at) {
    const auto offset = static_cast<std::uint16_t>(at);
    std::memcpy(page + sizeof(PageHead) + i * sizeof offset, &offset, sizeof offset);
}

std::size_t offsets_end(std::size_t count) { return sizeof(PageHead) + count * sizeof(std::uint16_t); }

}  // namespace

void throw_damaged(const char* what) {
    throw Error(Code::corrupt, std::string("the index is damaged: ") + what + " is not what it was");
}

void Items::add(const PageView& page) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < page.count(); ++i) {
        const Cell cell = page.cell(i);
        bytes += page.prefix().size() + cell.rest.size() + cell.value.size();
    }
    std::string& text = text_.emplace_back();
    text.reserve(bytes);  // views of it are kept
    for (std::size_t i = 0; i < page.count(); ++i) {
        const Cell cell = page.cell(i);
        const std::size_t key = text.size();
        text.append(page.prefix()).append(cell.rest);
        const std::size_t value = text.size();
        text.append(cell.value);
        const std::string_view all = text;
        items_.push_back({all.substr(key, value - key), cell.order, all.substr(value), cell.is_far});
    }
}

std::size_t bytes_of(std::span<const Item> items) {
    const std::size_t prefix = prefix_of(items);
    std::size_t bytes = sizeof(PageHead) + prefix;
    for (const Item& item : items) bytes += item.bytes() - prefix;
    return bytes;
}

void lay_out(char* page, std::size_t level, std::span<const Item> items) {
    if (bytes_of(items) > page_bytes) throw_damaged("a page");
    const std::size_t prefix = prefix_of(items);
    std::size_t at = page_bytes - prefix;
    if (prefix != 0) items.front().key.copy(page + at, prefix);
    for (std::size_t i = items.size(); i-- > 0;) {
        at -= items[i].bytes() - sizeof(std::uint16_t) - prefix;
        write_cell(page, at, items[i], prefix);
        write_offset(page, i, at);
    }
    const PageHead head{static_cast<std::uint16_t>(level),
                        static_cast<std::uint16_t>(items.size()),
                        static_cast<std::uint16_t>(at),
                        0,
                        static_cast<std::uint16_t>(prefix),
                        static_cast<std::uint16_t>(most_cells),
                        0};
    std::memcpy(page, &head, sizeof head);
    // What lies between is none's: zeros, so that it says nothing of what was here before.
    std::memset(page + offsets_end(items.size()), 0, at - offsets_end(items.size()));
}

bool put_into(char* page, std::size_t i, const Item& item) {
    const PageView view(page);
    PageHead head = view.head();
    if (!item.key.starts_with(view.prefix())) return false;
    const std::size_t bytes = item.bytes() - sizeof(std::uint16_t) - head.prefix;
    if (offsets_end(head.count + 1U) + bytes > head.begin) return false;
    const std::size_t at = head.begin - bytes;
    write_cell(page, at, item, head.prefix);
    std::memmove(page + offsets_end(i + 1), page + offsets_end(i), (head.count - i) * sizeof(std::uint16_t));
    write_offset(page, i, at);
    ++head.count;
    head.begin = static_cast<std::uint16_t>(at);
    head.last = static_cast<std::uint16_t>(i);
    std::memcpy(page, &head, sizeof head);
    return true;
}

void take_out(char* page, std::size_t i) {
    const PageView view(page);
    PageHead head = view.head();
    const Cell cell = view.cell(i);
    const std::size_t bytes = sizeof(CellHead) + cell.rest.size() + cell.value.size();
    if (view.offset(i) == head.begin)
        head.begin = static_cast<std::uint16_t>(head.begin + bytes);
    else
        head.garbage = static_cast<std::uint16_t>(head.garbage + bytes);
    std::memmove(page + offsets_end(i), page + offsets_end(i + 1),
                 (head.count - i - 1) * sizeof(std::uint16_t));
    --head.count;
    head.last = static_cast<std::uint16_t>(most_cells);
    std::memcpy(page, &head, sizeof head);
}

void set_link(char* page, std::size_t i, const Link& link) {
    const std::string_view there = PageView(page).cell(i).value;
    if (there.size() != sizeof link) throw_damaged("a page above the leaves");
    std::memcpy(page + (there.data() - page), &link, sizeof link);
}

void set_last(char* page, std::size_t i) {
    PageHead head = PageView(page).head();
    head.last = static_cast<std::uint16_t>(i);
    std::memcpy(page, &head, sizeof head);
}

std::size_t place_to_cut(std::span<const Item> items, std::size_t i, std::size_t last) {
    const auto fits = [&](std::size_t cut) {
        return cut > 0 && cut < items.size() && bytes_of(items.first(cut)) <= page_bytes &&
               bytes_of(items.subspan(cut)) <= page_bytes;
    };
    // Where one comes behind the other more are to be expected, which shall find room without leaving half pages behind.
    if (i == last + 1 || i + 1 == items.size()) {
        if (fits(i + 1)) return i + 1;
        if (fits(i)) return i;
    }
    std::size_t all = 0;
    for (const Item& item : items) all += item.bytes();
    std::size_t before = 0;
    std::size_t middle = 0;
    while (middle + 1 < items.size() && before + items[middle].bytes() / 2 < all / 2)
        before += items[middle++].bytes();
    for (std::size_t away = 0; away < items.size(); ++away) {
        if (fits(middle + away)) return middle + away;
        if (middle >= away && fits(middle - away)) return middle - away;
    }
    throw_damaged("a page");
}

Position between(const Item& left, const Item& right) {
    if (left.key == right.key) return {right.key, right.order};
    return {right.key.substr(0, common(left.key, right.key) + 1), 0};
}

}  // namespace pmemcpy::index
