// Length: a file and what is counted of it change together; in two places nobody would see in which order.
#include "layout/payload_files.hpp"

#include "layout/inventory.hpp"
#include "layout/payload_name.hpp"
#include "layout/trouble.hpp"
#include "os/access.hpp"
#include "os/directory.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"
#include "os/space.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace pmemcpy::layout {

using heap::Bytes;
using heap::Extent;
using persist::Medium;

namespace {

constexpr std::size_t looked_at_per_mapping = 2;
constexpr std::uint64_t most_own_uncounted = 2;  // of one call, within another
constexpr int most_counts = 8;                   // each one: others have made or removed a file meanwhile

// Whether the process is there that has drawn this number for a passing name.
bool is_of_the_living(pool::Pool& pool, std::uint64_t number) {
    if (!is_of_session(number, pool.session_began_at())) return false;
    const std::uint64_t owner = owner_of_passing(number);
    const std::uint64_t slot = (owner & 0x1fff) - 1;
    const pool::Runtime& runtime = pool.runtime();
    if (slot >= Medium::load(&runtime.header().slots_used)) return false;
    const pool::Slot& its = runtime.slot(slot);
    return pool::Pool::owner_of(slot, Medium::load(&its.incarnation)) == owner &&
           Medium::load(&its.attached) != 0 && (slot == pool.slot_index() || !runtime.is_dead(slot));
}

bool is_less_than_nothing(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes) < 0; }

}  // namespace

PayloadFiles::PayloadFiles(heap::Heap& heap, const os::File& data, Seat seat)
    : heap_(heap), data_(data), seat_(std::move(seat)) {
    pool::PoolState& state = heap_.pool().state();
    word_ = seat_.is_below() ? &state.targets.at(seat_.target - 2).bytes : &state.payload_bytes.value;
    const os::FileSystem kind = data_.fs_kind();
    needs_sync_ = seat_.is_below() ? kind != os::FileSystem::tmpfs && kind != os::FileSystem::hugetlbfs
                                   : heap_.pool().probe().needs_sync;
}

// Only a number: the record names it before the file exists, so that whoever scavenges the record removes the file.
Extent PayloadFiles::allocate(std::uint64_t length) {
    return {seat_.target, 0, heap_.pool().draw_version(), length};
}

Bytes PayloadFiles::map(const Extent& extent, bool create) {
    if (!create) {
        if (MappingCache::Shared there = cache_.find(extent.offset, extent.length))
            return {there->base(), there};
    }
    std::optional<os::File> file;
    if (create) {
        file = make(extent);
    } else {
        file = open(extent);
    }
    if (!file) return {};
    forget_removed();
    const os::MapRequest request{
        .access = file->is_writable() ? os::Access::read_write : os::Access::read,
        .is_inherited = true,
        .map_sync = file->is_writable() && !seat_.is_below() && heap_.pool().probe().map_sync};
    auto mapping = std::make_shared<const os::Mapping>(*file, extent.length, request);
    cache_.add(extent.offset, mapping);
    if (!create) return {mapping->base(), mapping};
    // A new file is filled the faster way, for which it stays open.
    struct Made {
        std::shared_ptr<const os::Mapping> mapping;
        os::File file;
    };
    auto made = std::make_shared<Made>(mapping, std::move(*file));
    ways_.forget(extent.length);
    return {mapping->base(), made, &made->file, 0, &ways_};
}

// Exactly as long as the extent, so that other programs read just the bytes of the array.
os::File PayloadFiles::make(const Extent& extent) {
    const pool::Pool& pool = heap_.pool();
    const std::string name = name_of_payload(extent.offset);
    const pool::Pool::Uncounted uncounted(heap_.pool());  // until the file has its length
    reserve(extent.length);
    bool exists = false;
    try {
        make_headroom(extent.length);
        auto file = create(name);
        if (!file) throw Error(Code::io_error, data_.path() + " was removed while the pool was open");
        exists = true;
        // Whoever may use the pool may use the payload, whatever this process's umask is.
        os::share_like(*file, heap_.pool().file(), (heap_.pool().file().mode_bits() & 0666) | payload_mark);
        allocate(*file, extent.length);
        if (!seat_.is_below() &&
            (pool.durability() == Durability::line || pool.durability() == Durability::byte)) {
            // What is stored is durable when the store returns; so must be the name under which it is found.
            file->sync_all();
            make_durable();
        }
        return std::move(*file);
    } catch (...) {
        if (exists) os::remove_in(data_, name);
        release(extent.length);
        throw;
    }
}

// Many a shared file system promises no space ahead. There a file has its length, and what finds no room when it is written is an error then.
void PayloadFiles::allocate(os::File& file, std::uint64_t bytes) const {
    try {
        file.allocate(0, bytes);
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported || !seat_.is_below()) throw;
        file.resize(bytes);
    }
}

// Where a power loss took the record of a file, and with it how far numbers were drawn, its number is drawn again: what
// lies there belongs to nobody. Recovery removes such files of the pool's own; below it, it has to leave those with
// numbers that others may have drawn meanwhile.
std::optional<os::File> PayloadFiles::create(const std::string& name) {
    const auto open = [&] { return os::File::open_in(data_, name, O_RDWR | O_CREAT | O_EXCL, 0600); };
    try {
        return open();
    } catch (const Error& error) {
        if (error.kind() != Code::already_exists) throw;
    }
    const auto left = os::look_in(data_, name);
    if (os::remove_in(data_, name) && left) subtract(left->size);
    return open();
}

// Asked before allocating, because on tmpfs an overrun of the memory cgroup kills.
void PayloadFiles::check_headroom(std::uint64_t bytes) const {
    const std::uint64_t room = os::recent_headroom_bytes(data_);
    if (bytes <= room) return;
    throw Error(Code::no_space, "the file system or memory cgroup of " + data_.path() + " has room for " +
                                    std::to_string(room) + " bytes and " + std::to_string(bytes) +
                                    " more are needed");
}

// What is kept for an inventory gives way to what is stored.
void PayloadFiles::make_headroom(std::uint64_t bytes) {
    try {
        check_headroom(bytes);
    } catch (const Error& error) {
        if (error.kind() != Code::no_space || !seat_.is_below() || !has_kept()) throw;
        drop_kept({});
        check_headroom(bytes);
    }
}

// A file that is shorter than its record says would be a SIGBUS later; it is as good as missing.
std::optional<os::File> PayloadFiles::open(const Extent& extent) const {
    const std::string name = name_of_payload(extent.offset);
    const auto named = os::look_in(data_, name);
    if (!named || named->what != os::Named::regular || named->size < extent.length) return std::nullopt;
    if (heap_.pool().read_only() || seat_.is_read_only) return os::File::open_in(data_, name, O_RDONLY);
    try {
        return os::File::open_in(data_, name, O_RDWR);
    } catch (const Error& error) {
        // Stored by another user, while the pool's permissions were different ones.
        if (error.kind() != Code::permission_denied) throw;
        return os::File::open_in(data_, name, O_RDONLY);
    }
}

// A file that another process has removed keeps its space as long as it is mapped here.
void PayloadFiles::forget_removed() {
    for (const std::uint64_t number : cache_.next(looked_at_per_mapping)) {
        if (!os::look_in(data_, name_of_payload(number))) cache_.drop(number);
    }
}

void PayloadFiles::shrink(Extent& extent, std::uint64_t length) {
    if (length >= extent.length) return;
    auto file = os::File::open_in(data_, name_of_payload(extent.offset), O_RDWR);
    if (!file) return;
    cache_.drop(extent.offset);  // the next mapping ends where the file does
    const pool::Pool::Uncounted uncounted(heap_.pool());
    file->resize(length);
    release(extent.length - length);
    extent.length = length;
}

void PayloadFiles::settle(const Extent& extent) {
    if (!needs_sync_) return;
    auto file = os::File::open_in(data_, name_of_payload(extent.offset), O_RDWR);
    // Whoever took an inventory just now may have seen a block that somebody has given up since.
    if (!file) file = os::File::open_in(data_, kept_name_of(extent.offset), O_RDWR);
    if (!file) throw Error(Code::io_error, data_.path() + " has lost a file that was being written");
    file->sync_data();
    if (auto data = os::File::open_in(data_, ".", O_RDONLY | O_DIRECTORY)) data->sync_all();
}

void PayloadFiles::free(const Extent& extent) {
    cache_.drop(extent.offset);
    if (is_copy(extent.offset)) return;  // its block may have another place now, and this copy still
    try {
        const std::string name = name_of_payload(extent.offset);
        const auto named = os::look_in(data_, name);
        if (!named || named->what != os::Named::regular) return;
        const auto held = hold(name);
        const pool::Pool::Uncounted uncounted(heap_.pool());
        if (!give_up(extent.offset, name)) return;
        release(named->size);
        if (seat_.is_below() || (held && held->link_count() == 0)) return;
        // Somebody died while he changed a name, or a name leads here that should not any more. Asked behind the end of the name by
        // which others give it more.
        names_are_stale_ = true;
        sweep_passing();
    } catch (const Error&) {
        // The caller is giving up space, often in a destructor, and can do nothing about it.
    }
}

// Without a right to read it. Nothing where this process may open no more files: then all names are looked at.
std::optional<os::File> PayloadFiles::hold(const std::string& name) const {
    if (seat_.is_below()) return std::nullopt;
    try {
        return os::File::open_in(data_, name, O_PATH);
    } catch (const Error&) {
        return std::nullopt;
    }
}

void PayloadFiles::sweep_passing() const {
    for (const std::string& name : os::names_in(data_)) {
        const auto number = number_of_passing(name);
        if (!number || is_of_the_living(heap_.pool(), *number)) continue;
        const auto there = os::look_in(data_, name);
        if (there && is_payload(*there)) os::remove_in(data_, name);
    }
}

void PayloadFiles::keep_only(const std::vector<Extent>& extents, std::uint64_t from) {
    // A pool that was replaced while this process waited for it: what lies there now belongs to its successor.
    if (heap_.pool().file().link_count() == 0) return;
    std::unordered_set<std::uint64_t> live;
    for (const Extent& extent : extents) live.insert(extent.offset);
    const std::vector<std::string> names = os::names_in(data_);
    if (seat_.is_below()) {
        // The word may not have come to the medium.
        for (const std::string& name : names)
            keep_below(std::max(inventoried(), number_of_inventory(name).value_or(0)));
    }
    for (const std::string& name : names) {
        const auto number = number_of_payload(name);
        if (number ? live.contains(*number) || *number >= from : !is_payload_name(name)) continue;
        if (const auto there = os::look_in(data_, name); !number && there && !is_payload(*there))
            continue;  // a user's
        give_up(number.value_or(~std::uint64_t{0}), name);
    }
    count_anew();
    names_are_stale_ = true;
}

// Added before a file exists and subtracted after it is gone, so that a death in between leaves too much, which
// counting anew corrects before anybody is told that the pool is full. Within an Uncounted, as release() is.
void PayloadFiles::reserve(std::uint64_t bytes) {
    const persist::Medium& m = heap_.pool().medium();
    m.fetch_add(word_, bytes);
    const auto begin_anew = [&] {
        subtract(bytes);
        count_anew(1);
        m.fetch_add(word_, bytes);
    };
    if (!has_room()) {
        begin_anew();
        if (!has_room()) {
            release(bytes);
            throw_full(bytes);
        }
    }
    if (!seat_.is_below()) return;
    tell_used();
    if (!part_has_room(bytes)) {
        begin_anew();
        tell_used();
        if (!part_has_room(bytes)) {
            release(bytes);
            throw_part_full(bytes);
        }
    }
    heap_.pool().use_reserved(seat_.target, bytes);
    tell_used();
}

// For bytes that are counted already. Said before the look, as everywhere: of two pools that take the last room at once one at least sees the
// other.
bool PayloadFiles::part_has_room(std::uint64_t bytes) const {
    if (seat_.share == nullptr) return true;
    const std::uint64_t claimed = claimed_bytes();
    const auto standing = seat_.share->standing(claimed - std::min(claimed, bytes));
    const std::uint64_t reserved = heap_.pool().reserved(seat_.target);
    return !standing || bytes - std::min(bytes, reserved) <= standing->room_bytes;
}

void PayloadFiles::throw_part_full(std::uint64_t bytes) const {
    seat_.share->want(claimed_bytes(), bytes);
    const shares::Standing standing = seat_.share->standing(claimed_bytes()).value_or(shares::Standing{});
    throw PartIsFull(
        Code::no_space,
        "target '" + seat_.name + "' of " + heap_.pool().path() + " has room for " +
            std::to_string(standing.room_bytes) + " bytes now, and " + std::to_string(bytes) +
            " are needed: other pools use its directory too, and of it this one's part is " +
            std::to_string(standing.part_bytes) +
            "; `pmemcpy tiers` shows who they are, and `share` in the hierarchy makes the part larger");
}

std::uint64_t PayloadFiles::claimed_bytes() const {
    const pool::Pool& pool = heap_.pool();
    return used_bytes() + pool.reserved(seat_.target) + pool.reserved_by_others(seat_.target);
}

void PayloadFiles::tell_used() const {
    if (seat_.share != nullptr) seat_.share->publish([&] { return claimed_bytes(); });
}

void PayloadFiles::keep_free(std::uint64_t bytes) {
    pool::Pool& pool = heap_.pool();
    // Said before the look: of two who reserve, or store, at once one sees the other.
    pool.set_reserved(seat_.target, bytes);
    const auto fits = [&] {
        const std::uint64_t used = used_bytes();
        const std::uint64_t left = *seat_.capacity_bytes - std::min(*seat_.capacity_bytes, used);
        const std::uint64_t others = pool.reserved_by_others(seat_.target);
        tell_used();
        if (seat_.share != nullptr) {
            const auto standing = seat_.share->standing(claimed_bytes() - bytes);
            if (standing && bytes > standing->room_bytes) return false;
        }
        return bytes <= left - std::min(left, others) && bytes <= os::free_bytes(data_);
    };
    if (fits()) return;
    count_anew();
    if (fits()) return;
    pool.set_reserved(seat_.target, 0);
    tell_used();
    if (seat_.share != nullptr) seat_.share->want(claimed_bytes(), bytes);
    throw_full(bytes);
}

void PayloadFiles::throw_full(std::uint64_t bytes) const {
    const pool::Pool& pool = heap_.pool();
    if (seat_.is_below()) {
        throw Error(Code::no_space, "target '" + seat_.name + "' of " + pool.path() +
                                        " is full: it may have " + std::to_string(*seat_.capacity_bytes) +
                                        " bytes, and " + std::to_string(bytes) + " more are needed" +
                                        reserved_text() + stopped_text());
    }
    throw Error(Code::no_space,
                pool.path() + " is full: with its payload files it may have " +
                    std::to_string(pool.super().max_bytes) + " bytes, and " + std::to_string(bytes) +
                    " more are needed; erase something, or create a larger pool" + stopped_text());
}

std::string PayloadFiles::reserved_text() const {
    const std::uint64_t others = heap_.pool().reserved_by_others(seat_.target);
    return others == 0 ? "" : "; others have reserved " + std::to_string(others);
}

// Behind a process that is stopped between a file and its count nobody can count anew, so bytes that dead processes have counted stay counted.
std::string PayloadFiles::stopped_text() const {
    pool::Pool& pool = heap_.pool();
    if (pool.all_is_counted(most_own_uncounted)) return "";
    pool::Runtime& runtime = pool.runtime();
    for (std::uint64_t i = 0; i < Medium::load(&runtime.header().slots_used); ++i) {
        const pool::Slot& slot = runtime.slot(i);
        if (i == pool.slot_index() || Medium::load(&slot.uncounted) == 0 || Medium::load(&slot.attached) == 0)
            continue;
        if (!os::is_stopped(Medium::load(&slot.pid))) continue;  // cheaper than to ask whose the lock is
        const std::uint64_t process = os::stopped_holder(runtime.file(), pool::Runtime::owner_byte(i));
        if (process == 0) continue;
        return "; that may be too much, for bytes that dead processes have counted cannot be counted anew "
               "while " +
               os::described(process) +
               " is stopped in making or removing a file: continue it (kill -CONT) or end it (kill -KILL), "
               "then try again";
    }
    return "";
}

void PayloadFiles::check_room(std::uint64_t bytes) const {
    const pool::Pool& pool = heap_.pool();
    if (bytes > pool.super().max_bytes) {
        throw Error(Code::no_space, pool.path() + " and its payload files may have " +
                                        std::to_string(pool.super().max_bytes) + " bytes, not " +
                                        std::to_string(bytes) + "; create a larger pool");
    }
    const std::uint64_t there = used_bytes() + pool.usable_chunks() * pool.super().chunk_bytes;
    if (bytes > there) check_headroom(bytes - there);
}

bool PayloadFiles::has_room() const {
    if (seat_.is_below()) {
        const std::uint64_t used = used_bytes();
        return used <= *seat_.capacity_bytes &&
               heap_.pool().reserved_by_others(seat_.target) <= *seat_.capacity_bytes - used;
    }
    return has_room_beside(heap_.pool().usable_chunks()) || has_room_beside(heap_.count_taken_chunks());
}

bool PayloadFiles::has_room_beside(std::uint64_t chunks) const {
    const pool::Pool& pool = heap_.pool();
    const std::uint64_t limit = (pool.super().chunk_count - chunks) * pool.super().chunk_bytes;
    return used_bytes() <= limit;
}

// Too little was counted where a power loss took the word and left the files.
void PayloadFiles::release(std::uint64_t bytes) {
    if (is_less_than_nothing(subtract(bytes))) return count_anew(1);
    tell_used();
}

std::uint64_t PayloadFiles::subtract(std::uint64_t bytes) const {
    return heap_.pool().medium().fetch_add(word_, ~bytes + 1) - bytes;
}

std::uint64_t PayloadFiles::count() const {
    std::uint64_t bytes = 0;
    for (const std::string& name : os::names_in(data_)) {
        if (!number_of_payload(name) && !is_torn_copy(name)) continue;
        if (const auto named = os::look_in(data_, name)) bytes += named->size;
    }
    return bytes;
}

// Only while nobody is between a file and what is counted of it: else what he has counted already would be lost, or counted twice.
// Where somebody always is, the word stays, which may be too high.
void PayloadFiles::count_anew(std::uint64_t own_uncounted) {
    const pool::Pool& pool = heap_.pool();
    for (int tries = 0; tries < most_counts; ++tries) {
        const auto seen = pool.all_is_counted(own_uncounted);
        std::uint64_t before = Medium::load(word_);
        if (seen) {
            const std::uint64_t bytes = count();
            if (pool.all_is_counted(own_uncounted) == seen &&
                pool.medium().compare_exchange(word_, before, bytes))
                break;
        }
        os::yield();
    }
    tell_used();
}

std::uint64_t PayloadFiles::used_bytes(const std::uint64_t* word) {
    const std::uint64_t bytes = Medium::load(word);
    return is_less_than_nothing(bytes) ? 0 : bytes;
}

// On page media, syncfs: what is to be durable was stored by any process, so nobody has a list of the files it takes,
// and fdatasync of each file in `.data` would open a million files to find the ten that changed. syncfs also carries
// the names, and tells of write errors since the directory was opened; an error of somebody else's file on the same
// file system then counts as ours, which is the safe side. On line media the bytes are durable already; what is
// missing are the names of the files, new and freed.
void PayloadFiles::make_durable() {
    const pool::Pool& pool = heap_.pool();
    if (pool.probe().needs_sync && needs_sync_) return os::sync_file_system(data_);
    if (pool.durability() == Durability::none || seat_.is_below()) return;
    if (auto data = os::File::open_in(data_, ".", O_RDONLY | O_DIRECTORY)) data->sync_all();
}

}  // namespace pmemcpy::layout
