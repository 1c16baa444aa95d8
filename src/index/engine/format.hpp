#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "index/engine/engine.hpp"

// The bytes of an index's file. Everything is little-endian; docs/format.md draws it.

namespace pmemcpy::index {

inline constexpr std::size_t page_bytes = 4096;

/// Where a page is, and the checksum of its 4,096 bytes. Zero is the sum of no page that was committed: it marks one that the writer is
/// still changing.
struct Link {
    std::uint64_t sum = 0;
    std::uint32_t page = 0;    // 0: none
    std::uint32_t levels = 0;  // of the tree below; of a link within a tree 0
};
static_assert(sizeof(Link) == 16);

/// A tree, one for each table and one for the pages that are free.
struct Root {
    Link link;
    std::uint64_t entries = 0;
};
static_assert(sizeof(Root) == 24);
inline constexpr std::size_t tree_count = table_count + 1;
inline constexpr std::size_t free_tree = table_count;

/// All that was committed hangs from one of these.
struct Meta {
    std::uint64_t magic = 0;
    std::uint64_t commit = 0;
    std::uint64_t pages = 0;  // of the file that are, or have been, in use
    std::array<Root, tree_count> roots{};
    std::uint64_t sum = 0;  // of all before
};
static_assert(sizeof(Meta) == 248 && offsetof(Meta, sum) == 240);
inline constexpr std::uint64_t meta_magic = 0x3165'6572'7478'6469;  // "idxtree1"

// Page 0: the word that publishes, then how many readers' slots were ever taken, then two metas, used in turn. Then the slots.
inline constexpr std::size_t published_at = 0;
inline constexpr std::size_t slots_taken_at = 64;
inline constexpr std::size_t metas_at = 1024;
inline constexpr std::size_t meta_stride = 1024;
inline constexpr std::size_t slots_at = page_bytes;
inline constexpr std::size_t slot_bytes = 64;
inline constexpr std::size_t most_readers = 1024;
inline constexpr std::uint32_t first_page = 1 + most_readers * slot_bytes / page_bytes;
static_assert(metas_at + 2 * meta_stride <= page_bytes && sizeof(Meta) <= meta_stride);

/// A page of a tree. Behind the head the offsets of its cells in their order, 2 bytes each; the cells lie at its end, and behind them all what
/// their keys begin with.
struct PageHead {
    std::uint16_t level = 0;  // above the leaves
    std::uint16_t count = 0;
    std::uint16_t begin = 0;    // of the cells
    std::uint16_t garbage = 0;  // bytes among the cells that are none's
    std::uint16_t prefix = 0;   // bytes that all keys begin with
    std::uint16_t last = 0;     // which cell was put in last
    std::uint32_t unused = 0;
};
static_assert(sizeof(PageHead) == 16);

/// As many levels as a tree may have: with three entries to a page 3^20 pages.
inline constexpr std::size_t most_levels = 20;

/// Before the rest of its key and its value. Cells are sorted by key, then by order.
struct CellHead {
    std::uint16_t key = 0;    // bytes, without the page's prefix
    std::uint16_t value = 0;  // bytes; with far_value the cell has a FarValue instead
    std::array<std::uint16_t, 4> order{};
};
static_assert(sizeof(CellHead) == 12 && alignof(CellHead) == 2);
inline constexpr std::uint16_t far_value = 0x8000;

/// A value that is longer than a cell may be lies in a chain of pages.
struct FarValue {
    std::uint64_t sum = 0;
    std::uint32_t page = 0;
    std::uint32_t bytes = 0;
};
static_assert(sizeof(FarValue) == 16);
struct FarHead {
    std::uint64_t next_sum = 0;
    std::uint32_t next = 0;
    std::uint32_t unused = 0;
};
static_assert(sizeof(FarHead) == 16);
inline constexpr std::size_t far_bytes = page_bytes - sizeof(FarHead);

inline constexpr std::size_t most_cells = (page_bytes - sizeof(PageHead)) / (sizeof(CellHead) + 2);
// Three fit into a page, so that one that runs over can be cut in two.
inline constexpr std::size_t longest_cell = (page_bytes - sizeof(PageHead)) / 3 - sizeof(std::uint16_t);

}  // namespace pmemcpy::index
