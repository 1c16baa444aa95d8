#pragma once

#include "layout/payload_files.hpp"
#include "os/file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace pmemcpy::layout {

// A flush target's inventory: what the pool knew of the files there when it was written, so that a pool can be made again without the
// one that was lost. A file `inventory-<16 hex>`, a head and items, drawn in docs/format.md; the highest number that is whole counts.

enum class ItemKind : std::uint32_t {
    pool = 1,   ///< first; name: the pool's path; record: its hierarchy, as YAML
    group = 2,  ///< name: its id; of "/" too
    value =
        3,  ///< name: its id; record: as in the pool; number: of the file that has its bytes, if they are not in the record
    array =
        4,  ///< name: its id; record: as in the pool; number: at older steps than this, blocks are missing
    block =
        5,  ///< of the array before it; record: as in the pool, with the header empty; number: of its file
    attribute = 6,  ///< of the group, value or array before it; otherwise as a value
    origin = 7,  ///< of the group, value or array before it; record: who created it, as in an entry's fields
};

enum ItemFlag : std::uint32_t {
    item_is_unflushed = 1,  ///< what it holds lies in the pool alone, and always did
    item_is_damaged = 2,    ///< a block that was damaged before it could be copied: there is no file
};

struct ItemHead {
    ItemKind kind;
    std::uint32_t flags;
    std::uint32_t name_bytes;
    std::uint32_t record_bytes;
    std::uint64_t
        version;  // of a block that of its store; of a group, value or array the variable's incarnation
    std::uint64_t number;
};
static_assert(sizeof(ItemHead) == 32);

struct InventoryHead {
    std::uint64_t magic;
    std::uint32_t format;
    std::uint32_t is_complete;  // 1: nothing that was in the pool then waited to be flushed
    std::array<std::uint8_t, 16> uuid;
    std::uint64_t version;  // of whatever was stored before anybody looked, that is lower
    std::uint64_t committed_step;
    std::uint64_t written_ns;
    std::uint64_t max_bytes;  // of the pool, and
    std::uint64_t chunk_bytes;
    std::uint64_t
        recoveries;  // times that the pool was recovered before: versions may have been drawn again since
    std::uint64_t item_bytes;
    std::uint32_t item_crc;
    std::uint32_t checksum;  // of all before it
};
static_assert(sizeof(InventoryHead) == 96);

/// One item, as it lies in an inventory.
struct Item {
    ItemHead head;
    std::string_view name;
    std::span<const std::byte> record;
};

class Inventory {
public:
    InventoryHead head{};
    std::string name{};  // of its file

    void add(ItemHead head, std::string_view name, std::span<const std::byte> record = {});
    void add_all(const Inventory& other);
    /// Errors: corrupt, where a checksum holds and items make no sense.
    void for_each(const std::function<void(const Item&)>& f) const;
    /// The numbers of all files that it names.
    std::unordered_set<std::uint64_t> numbers() const;

    /// Writes it into a target's directory, and then removes older ones: one of them is there at any moment. All numbers of files in it are below `end`,
    /// and what its own name says. `mode_bits` as those of the pool. One process at a time. Errors: no_space, io_error.
    void put_into(const os::File& directory, std::uint64_t end, unsigned mode_bits, bool needs_sync);
    /// The number in its name.
    std::uint64_t number() const;
    /// The newest that is whole, or nothing. `damaged`, if given, gets the names of those that are not.
    static std::optional<Inventory> newest_in(const os::File& directory,
                                              std::vector<std::string>* damaged = nullptr);
    static void remove_all(const os::File& directory);

private:
    static std::optional<Inventory> read(const os::File& directory, const std::string& name);
    std::vector<std::byte> items_;
};

/// The number in an inventory's name, or nothing.
std::optional<std::uint64_t> number_of_inventory(std::string_view name);

}  // namespace pmemcpy::layout
