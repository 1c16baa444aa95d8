#pragma once

#include "os/file.hpp"
#include "os/fork.hpp"
#include "os/map.hpp"
#include "shares/format.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pmemcpy::shares {

inline constexpr std::size_t no_slot = ~std::size_t{0};

/// A slot as it was at one moment.
struct Entry {
    std::size_t index = 0;
    Slot slot{};
    bool is_here = false;  // somebody else has the pool open for writing
};

/// The ledger of this node in one directory, open. Any thread may call anything. Memory that is gone, because somebody has cut the file off, reads as
/// if nobody were there.
class Ledger {
public:
    /// `read_only`: only to look. Nothing, where there is none and it cannot be made.
    static std::optional<Ledger> open(const std::string& directory, bool read_only);
    Ledger(Ledger&& other) noexcept;
    Ledger& operator=(Ledger&&) = delete;
    ~Ledger() = default;

    /// False when somebody has removed the file, so that others use another one.
    bool is_there() const { return file_.link_count() != 0; }

    /// The slot of a pool, which is held until this is closed. Nothing if all are taken.
    std::optional<std::size_t> take(std::uint64_t pool);
    /// Slots of pools that nobody has open, and of which nothing is left here, become free. `has_directory` says of a pool whether there can be
    /// something of it. Only while this holds no slot.
    void forget_gone(const std::function<bool(std::uint64_t pool)>& has_directory);

    /// Whether no slot but the first was ever taken: nobody is there but its pool.
    bool has_one() const { return load(&LedgerFile::slots_taken) <= 1; }
    /// All slots that are taken, one for each pool. Who is here is asked now and then, unless `anew`; of slot `mine` it is not asked.
    std::vector<Entry> entries(std::size_t mine, bool anew = false) const;
    /// Whether somebody else holds a slot. Asks the kernel.
    bool is_held(std::size_t index) const;

    std::uint64_t load(std::uint64_t LedgerFile::*word) const { return read(file().*word); }
    std::uint64_t load(std::size_t index, std::uint64_t Slot::*word) const {
        return read(file().slots[index].*word);
    }
    void store(std::size_t index, std::uint64_t Slot::*word, std::uint64_t value) const;
    std::uint64_t add(std::size_t index, std::uint64_t Slot::*word, std::uint64_t by) const;
    /// Never lowers it.
    void raise(std::uint64_t LedgerFile::*word, std::uint64_t to) const;
    void raise(std::size_t index, std::uint64_t Slot::*word, std::uint64_t to) const;

private:
    Ledger(os::File file, os::Mapping map);
    LedgerFile& file() const { return *reinterpret_cast<LedgerFile*>(map_.base()); }
    std::uint64_t read(const std::uint64_t& word) const;
    template <class F>
    bool guarded(const F& f) const;
    void raise(std::uint64_t& word, std::uint64_t to) const;
    bool hold(std::size_t index, std::uint64_t pool);
    void free_if_still(const Entry& entry);
    bool claim(std::size_t index, std::uint64_t pool) const;

    os::File file_;
    os::ClosedInChild closed_in_child_;
    os::Mapping map_;
    mutable std::mutex mutex_;
    mutable std::uint64_t asked_ns_ = 0;  // when, of all slots, it was asked who is here
    mutable std::array<std::uint64_t, slot_count> asked_of_{};  // of which pools that was
    mutable std::array<bool, slot_count> here_{};
};

}  // namespace pmemcpy::shares
