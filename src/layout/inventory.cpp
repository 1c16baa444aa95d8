#include "layout/inventory.hpp"

#include "base/crc32c.hpp"
#include "layout/payload_name.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <cstring>

namespace pmemcpy::layout {

namespace {

constexpr std::uint64_t inventory_magic = 0x544e56492d4d5050;  // "PPM-IVNT"
constexpr std::uint32_t inventory_format = 1;
constexpr std::string_view prefix = "inventory-";
// One process at a time writes, so it may have a fixed name; what a killed one has left is removed by the next.
constexpr const char* passing_inventory_name = "writing-inventory";

std::uint32_t checksum_of(const InventoryHead& head) {
    return base::crc32c(0, &head, offsetof(InventoryHead, checksum));
}

std::vector<std::uint64_t> numbers_in(const os::File& directory) {
    std::vector<std::uint64_t> found;
    for (const std::string& name : os::names_in(directory)) {
        if (const auto number = number_of_inventory(name)) found.push_back(*number);
    }
    std::sort(found.rbegin(), found.rend());
    return found;
}

std::string name_of(std::uint64_t number) { return std::string(prefix) + name_of_payload(number); }

void append(std::vector<std::byte>& out, const void* bytes, std::size_t length) {
    const auto* first = static_cast<const std::byte*>(bytes);
    out.insert(out.end(), first, first + length);
}

}  // namespace

std::optional<std::uint64_t> number_of_inventory(std::string_view name) {
    if (!name.starts_with(prefix)) return std::nullopt;
    return number_of_payload(name.substr(prefix.size()));
}

void Inventory::add(ItemHead item, std::string_view its_name, std::span<const std::byte> record) {
    item.name_bytes = static_cast<std::uint32_t>(its_name.size());
    item.record_bytes = static_cast<std::uint32_t>(record.size());
    append(items_, &item, sizeof item);
    append(items_, its_name.data(), its_name.size());
    append(items_, record.data(), record.size());
}

void Inventory::add_all(const Inventory& other) {
    items_.insert(items_.end(), other.items_.begin(), other.items_.end());
}

void Inventory::for_each(const std::function<void(const Item&)>& f) const {
    std::span<const std::byte> rest(items_);
    while (!rest.empty()) {
        Item item{};
        if (rest.size() >= sizeof item.head) std::memcpy(&item.head, rest.data(), sizeof item.head);
        const std::uint64_t length =
            sizeof item.head + std::uint64_t{item.head.name_bytes} + item.head.record_bytes;
        if (rest.size() < length) throw Error(Code::corrupt, name + " ends within an item");
        item.name = {reinterpret_cast<const char*>(rest.data()) + sizeof item.head, item.head.name_bytes};
        item.record = rest.subspan(sizeof item.head + item.head.name_bytes, item.head.record_bytes);
        f(item);
        rest = rest.subspan(length);
    }
}

std::unordered_set<std::uint64_t> Inventory::numbers() const {
    std::unordered_set<std::uint64_t> all;
    for_each([&](const Item& item) {
        if (item.head.number != 0 && item.head.kind != ItemKind::array) all.insert(item.head.number);
    });
    return all;
}

void Inventory::put_into(const os::File& directory, std::uint64_t end, unsigned mode_bits, bool needs_sync) {
    const std::vector<std::uint64_t> before = numbers_in(directory);
    // After a power loss versions may be drawn again that an older one has.
    const std::uint64_t number = std::max(end, before.empty() ? 0 : before.front() + 1);
    name = name_of(number);
    head.magic = inventory_magic;
    head.format = inventory_format;
    head.written_ns = os::wall_ns();
    head.item_bytes = items_.size();
    head.item_crc = base::crc32c(0, items_.data(), items_.size());
    head.checksum = checksum_of(head);
    os::remove_in(directory, passing_inventory_name);
    auto file = os::File::open_in(directory, passing_inventory_name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (!file) throw Error(Code::io_error, directory.path() + " was removed while the pool was open");
    try {
        file->set_mode_bits(mode_bits & 0666);
        file->write_exactly(&head, sizeof head, 0);
        file->write_exactly(items_.data(), items_.size(), sizeof head);
        if (needs_sync) file->sync_all();
        os::rename_in(directory, passing_inventory_name, directory, name);
    } catch (...) {
        os::remove_in(directory, passing_inventory_name);
        throw;
    }
    if (needs_sync) {
        if (auto self = os::File::open_in(directory, ".", O_RDONLY | O_DIRECTORY)) self->sync_all();
    }
    for (const std::uint64_t old : before) os::remove_in(directory, name_of(old));
}

std::uint64_t Inventory::number() const { return number_of_inventory(name).value_or(0); }

std::optional<Inventory> Inventory::newest_in(const os::File& directory, std::vector<std::string>* damaged) {
    for (const std::uint64_t number : numbers_in(directory)) {
        if (auto found = read(directory, name_of(number))) return found;
        if (damaged != nullptr) damaged->push_back(name_of(number));
    }
    return std::nullopt;
}

std::optional<Inventory> Inventory::read(const os::File& directory, const std::string& name) {
    const auto file = os::File::open_in(directory, name, O_RDONLY);
    if (!file || !file->is_regular() || file->size() < sizeof(InventoryHead)) return std::nullopt;
    Inventory found;
    found.name = name;
    InventoryHead& head = found.head;
    file->read_exactly(&head, sizeof head, 0);
    if (head.magic != inventory_magic || head.format != inventory_format ||
        head.checksum != checksum_of(head) || head.item_bytes != file->size() - sizeof head)
        return std::nullopt;
    found.items_.resize(head.item_bytes);
    file->read_exactly(found.items_.data(), found.items_.size(), sizeof head);
    if (base::crc32c(0, found.items_.data(), found.items_.size()) != head.item_crc) return std::nullopt;
    return found;
}

void Inventory::remove_all(const os::File& directory) {
    for (const std::uint64_t number : numbers_in(directory)) os::remove_in(directory, name_of(number));
    os::remove_in(directory, passing_inventory_name);
}

// Files are given up by any process, and the word tells each whether he may remove them.
std::uint64_t PayloadFiles::inventoried() const {
    if (!seat_.is_below()) return 0;
    return persist::Medium::load(&heap_.pool().state().targets.at(seat_.target - 2).inventoried);
}

std::optional<Inventory> PayloadFiles::inventory() const {
    for (;;) {
        const std::uint64_t said = inventoried();
        auto lying = Inventory::newest_in(data_);
        if (!lying || said == is_being_made || said == lying->number()) return lying;
        if (inventoried() == said) return std::nullopt;
    }
}

void PayloadFiles::keep_below(std::uint64_t number) {
    heap_.pool().medium().store(&heap_.pool().state().targets.at(seat_.target - 2).inventoried, number);
}

// Under its own name the file is gone afterwards. Where one is kept already, that is the one which the inventory names: this one was made
// after it, of a block that was compressed, or whose copy had rotted. False if there was none.
bool PayloadFiles::give_up(std::uint64_t number, const std::string& name) {
    if (number >= inventoried()) return os::remove_in(data_, name);
    const auto full = number_of_payload(name);
    if (full && os::rename_new_in(data_, name, data_, kept_name_of(*full))) return true;
    return os::remove_in(data_, name);
}

bool PayloadFiles::has_kept() const {
    const std::vector<std::string> names = os::names_in(data_);
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return number_of_kept(name).has_value(); });
}

void PayloadFiles::drop_kept(const std::unordered_set<std::uint64_t>& numbers) {
    for (const std::string& name : os::names_in(data_)) {
        const auto number = number_of_kept(name);
        if (number && !numbers.contains(*number)) os::remove_in(data_, name);
    }
}

void PayloadFiles::forget_inventories() {
    if (inventoried() == 0) return;
    Inventory::remove_all(data_);
    keep_below(0);
    drop_kept({});
}

}  // namespace pmemcpy::layout
