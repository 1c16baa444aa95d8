#include "shares/ledger.hpp"

#include "os/access.hpp"
#include "os/directory.hpp"
#include "os/guard.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pmemcpy::shares {

namespace {

constexpr std::uint64_t ask_again_ns = 50'000'000;
constexpr std::array words = {&Slot::share,          &Slot::together_bytes,  &Slot::used_bytes,
                              &Slot::needs_until_ns, &Slot::writes_until_ns, &Slot::served_bytes,
                              &Slot::flags};

// Each node has its own: what processes of several nodes map of one file is not the same memory.
std::string name_of_ledger() { return "pmemcpy-ledger." + os::host_name(); }

// Opened before it is made, as the kernel may forbid to make what another user has made in a directory that all may write.
std::optional<os::File> open_file(const os::File& directory, bool read_only) {
    const std::string name = name_of_ledger();
    if (auto there = os::File::open_in(directory, name, read_only ? O_RDONLY : O_RDWR)) return there;
    if (read_only) return std::nullopt;
    try {
        return os::File::open_in(directory, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    } catch (const Error& error) {
        if (error.kind() != Code::already_exists) throw;
        return os::File::open_in(directory, name, O_RDWR);
    }
}

// Or the beginning of one, which its maker has not finished: empty, or zeros of the whole length. All else is somebody's own file.
bool is_ledger(const os::File& file) {
    if (!file.is_regular()) return false;
    const std::uint64_t bytes = file.size();
    if (bytes == 0) return true;
    std::uint64_t magic = 0;
    if (bytes < sizeof magic) return false;
    file.read_exactly(&magic, sizeof magic, offsetof(LedgerFile, magic));
    return magic == ledger_magic || (magic == 0 && bytes == sizeof(LedgerFile));
}

// All users that may put blocks there may count them. Each opener that may change the rights looks at them: the maker may have died before
// it set them, and the directory may let in others since.
void let_in_all(os::File& file, const os::File& directory) {
    const unsigned bits = (directory.mode_bits() & 0666) | 0600;
    if (!os::is_mine_to_change(file)) return;
    const bool is_same_group = file.owning_group() == directory.owning_group();
    if (is_same_group && (file.mode_bits() & 0777) == bits) return;
    try {
        os::share_like(file, directory, bits);
    } catch (const Error&) {
        // Root of a user namespace that does not know its owner. It is good enough for this process.
    }
}

}  // namespace

std::optional<Ledger> Ledger::open(const std::string& path, bool read_only) {
    try {
        const os::File directory = os::File::open(path, O_RDONLY | O_DIRECTORY);
        auto file = open_file(directory, read_only);
        if (!file || !is_ledger(*file)) return std::nullopt;
        if (read_only && file->size() < sizeof(LedgerFile)) return std::nullopt;
        if (!read_only) {
            let_in_all(*file, directory);
            // Zeros are a ledger in which nobody is. Two that make one at once do the same.
            file->allocate(0, sizeof(LedgerFile));
        }
        os::Mapping map(*file, sizeof(LedgerFile),
                        {.access = read_only ? os::Access::read : os::Access::read_write});
        Ledger ledger(std::move(*file), std::move(map));
        if (!read_only) {
            ledger.guarded([&] {
                std::uint64_t none = 0;
                std::atomic_ref(ledger.file().magic).compare_exchange_strong(none, ledger_magic);
            });
        }
        if (ledger.load(&LedgerFile::magic) != ledger_magic) return std::nullopt;
        return ledger;
    } catch (const Error&) {
        return std::nullopt;  // a full device, a file system without locks, or somebody else's file
    }
}

Ledger::Ledger(os::File file, os::Mapping map)
    : file_(std::move(file)), closed_in_child_(file_), map_(std::move(map)) {}

Ledger::Ledger(Ledger&& other) noexcept
    : file_(std::move(other.file_)),
      closed_in_child_(std::move(other.closed_in_child_)),
      map_(std::move(other.map_)) {}

template <class F>
bool Ledger::guarded(const F& f) const {
    return os::guarded(map_.base(), sizeof(LedgerFile), f);
}

std::uint64_t Ledger::read(const std::uint64_t& word) const {
    std::uint64_t value = 0;
    const bool is_there = guarded(
        [&] { value = std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire); });
    return is_there ? value : 0;
}

void Ledger::store(std::size_t index, std::uint64_t Slot::*word, std::uint64_t value) const {
    static_cast<void>(guarded([&] { std::atomic_ref(file().slots[index].*word).store(value); }));
}

std::uint64_t Ledger::add(std::size_t index, std::uint64_t Slot::*word, std::uint64_t by) const {
    std::uint64_t sum = 0;
    static_cast<void>(guarded([&] { sum = std::atomic_ref(file().slots[index].*word).fetch_add(by) + by; }));
    return sum;
}

void Ledger::raise(std::uint64_t& word, std::uint64_t to) const {
    static_cast<void>(guarded([&] {
        const std::atomic_ref its(word);
        std::uint64_t found = its.load();
        while (found < to && !its.compare_exchange_weak(found, to)) {
        }
    }));
}
void Ledger::raise(std::uint64_t LedgerFile::*word, std::uint64_t to) const { raise(file().*word, to); }
void Ledger::raise(std::size_t index, std::uint64_t Slot::*word, std::uint64_t to) const {
    raise(file().slots[index].*word, to);
}

bool Ledger::is_held(std::size_t index) const {
    return os::conflicts(file_, os::LockKind::exclusive, first_slot_byte + index, 1);
}

// Looked at again when it is locked: whoever frees a slot has it locked for himself.
bool Ledger::hold(std::size_t index, std::uint64_t pool) {
    if (!os::try_lock(file_, os::LockKind::shared, first_slot_byte + index, 1)) return false;
    if (load(index, &Slot::pool) == pool) return true;
    os::unlock(file_, first_slot_byte + index, 1);
    return false;
}

bool Ledger::claim(std::size_t index, std::uint64_t pool) const {
    bool is_mine = false;
    static_cast<void>(guarded([&] {
        std::uint64_t nobody = 0;
        is_mine = std::atomic_ref(file().slots[index].pool).compare_exchange_strong(nobody, pool);
    }));
    return is_mine;
}

// Two processes of a pool that take the first slot free at once may get two, when a third frees one meanwhile. Then entries() believes one.
std::optional<std::size_t> Ledger::take(std::uint64_t pool) {
    const std::size_t taken = std::min<std::size_t>(load(&LedgerFile::slots_taken), slot_count);
    for (std::size_t i = 0; i < taken; ++i) {
        if (load(i, &Slot::pool) == pool && hold(i, pool)) return i;
    }
    for (std::size_t i = 0; i < slot_count; ++i) {
        if (!claim(i, pool) && load(i, &Slot::pool) != pool) continue;
        raise(&LedgerFile::slots_taken, i + 1);
        if (hold(i, pool)) return i;
    }
    return std::nullopt;
}

void Ledger::forget_gone(const std::function<bool(std::uint64_t pool)>& has_directory) {
    for (const Entry& entry : entries(no_slot, true)) {
        if (!entry.is_here && (entry.slot.used_bytes == 0 || !has_directory(entry.slot.pool)))
            free_if_still(entry);
    }
}

// Whoever has the pool open, or is just opening it, keeps the lock from being had. Killed in between, it leaves a slot of nobody who uses nothing.
void Ledger::free_if_still(const Entry& entry) {
    const std::uint64_t at = first_slot_byte + entry.index;
    if (!os::try_lock(file_, os::LockKind::exclusive, at, 1)) return;
    if (load(entry.index, &Slot::pool) == entry.slot.pool &&
        load(entry.index, &Slot::used_bytes) == entry.slot.used_bytes) {
        for (const auto word : words) store(entry.index, word, 0);
        store(entry.index, &Slot::pool, 0);
    }
    os::unlock(file_, at, 1);
}

std::vector<Entry> Ledger::entries(std::size_t mine, bool anew) const {
    std::vector<Entry> all;
    const std::size_t taken = std::min<std::size_t>(load(&LedgerFile::slots_taken), slot_count);
    const std::lock_guard lock(mutex_);
    const std::uint64_t now = os::coarse_ns();
    if (anew || asked_ns_ == 0 || now - asked_ns_ > ask_again_ns) {
        asked_ns_ = now;
        asked_of_.fill(0);
    }
    for (std::size_t i = 0; i < taken; ++i) {
        Entry entry{.index = i};
        const Slot& there = file().slots[i];
        entry.slot.pool = read(there.pool);
        if (entry.slot.pool == 0) continue;
        for (const auto word : words) entry.slot.*word = read(there.*word);
        if (i != mine && asked_of_[i] != entry.slot.pool) {
            here_[i] = is_held(i);
            asked_of_[i] = entry.slot.pool;
        }
        entry.is_here = i == mine || here_[i];
        const auto same = std::find_if(
            all.begin(), all.end(), [&](const Entry& other) { return other.slot.pool == entry.slot.pool; });
        if (same == all.end()) {
            all.push_back(entry);
        } else if (i == mine || (entry.is_here && same->index != mine && !same->is_here)) {
            *same = entry;
        }
    }
    return all;
}

}  // namespace pmemcpy::shares
