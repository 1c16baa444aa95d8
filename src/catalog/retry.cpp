#include "catalog/retry.hpp"

#include "heap/record.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <atomic>
#include <string>
#include <utility>

namespace pmemcpy::catalog {

namespace {

constexpr unsigned tries_before_yield = 64;
constexpr unsigned tries_before_sleep = 192;
constexpr std::uint64_t nap_ns = 100'000;

}  // namespace

void Retry::doubt(const pool::Pool& pool, Link record) {
    Sight sight{record.word, pool.recovery_count()};
    if (pool.read_only() && sight.recoveries % 2 == 1) throw_being_recovered(pool);
    if (heap::is_plausible(pool, record)) {
        pool.guarded(
            [&] { heap::racy_copy(sight.bytes.data(), pool.at(record.offset()), sizeof sight.bytes); });
    }
    now_ = sight;
}

bool Retry::once_more() {
    if (now_ && now_ == before_) return false;
    before_ = std::exchange(now_, std::nullopt);
    if (++tries_ > tries_before_sleep) {
        os::sleep_ns(nap_ns);
        tries_ = tries_before_sleep;
    } else if (tries_ >= tries_before_yield) {
        os::yield();
    }
    // The next try's look at the word comes after this one's look at the record: else the word could be older than what
    // makes no sense.
    std::atomic_thread_fence(std::memory_order_acquire);
    return true;
}

void Retry::again() {
    if (once_more()) return;
    throw Error(Code::corrupt, "the records of '" + std::string(id_) + "' make no sense; run pmemcpy verify");
}

WholeLook::WholeLook(const pool::Pool& pool) : pool_(pool), recoveries_(pool.recovery_count()) {
    if (pool_.read_only() && recoveries_ % 2 != 0) throw_being_recovered(pool_);
}

void WholeLook::check() const {
    std::atomic_thread_fence(std::memory_order_acquire);
    if (pool_.read_only() && pool_.recovery_count() != recoveries_) throw_being_recovered(pool_);
}

void throw_being_recovered(const pool::Pool& pool) {
    throw Error(
        Code::busy,
        pool.path() + " is being recovered after a crash by a process that may write; try again soon");
}

}  // namespace pmemcpy::catalog
