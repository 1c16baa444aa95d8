#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "unit.hpp"

namespace machine {

/// What a process says of a unit: that it will store it, that the call returned, that everything so far was
/// synced; and what was found after a reboot.
enum class Word { will, did, synced, found };

struct Entry {
    Word word;
    Unit unit;
};

using Key = std::pair<Kind, std::uint64_t>;
using States = std::map<Key, std::uint64_t>;  ///< absent: 0

/// What one process has said, on the host: each entry is there before the call returns, and stays there whatever
/// becomes of the machine. One process at a time writes into it.
class Ledger {
public:
    explicit Ledger(const std::string& path);
    ~Ledger();
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    const std::vector<Entry>& entries() const { return entries_; }
    void add(Word word, const Unit& unit = {});

private:
    int fd_;
    std::int64_t end_ = 0;
    std::vector<Entry> entries_;
};

/// When a unit counts as acknowledged.
enum class Acknowledged { by_return, by_sync };

struct Judgement {
    std::uint64_t acknowledged = 0;  ///< units
    std::vector<std::string> lost;   ///< and what else is there that must not be
};

/// Compares what was found with what was said.
Judgement judge(const std::vector<Entry>& entries, const States& found, Acknowledged when);

}  // namespace machine
