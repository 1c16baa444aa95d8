#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <string>

#include "ledger.hpp"

namespace machine {

/// What is to be found of one process in a pool. Bytes that no call ever stored go to `wrong`.
States look(const pmemcpy::PMEM& pmem, std::uint64_t who, std::vector<std::string>& wrong);

/// A process that stores, erases and syncs until it is killed, and says in its ledger what and when.
class Member {
public:
    /// One that never syncs is the control.
    Member(const std::string& pool, const std::string& ledger, std::uint64_t who, std::uint64_t seed,
           bool syncs);
    /// Stores a little, and syncs it unless this is the control: from here on a kill has something to lose.
    void begin();
    [[noreturn]] void go_on();

private:
    void act();
    void store_value();
    void store_rows();
    void append();
    void make_step();
    void sync();
    template <class Call>
    void store(const Unit& unit, Call&& call);

    Ledger ledger_;
    std::uint64_t who_;
    bool syncs_;
    std::mt19937_64 random_;
    std::uint64_t state_ = 0;
    pmemcpy::PMEM pmem_;
    States there_;
};

}  // namespace machine
