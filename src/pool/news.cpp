// Who waits for what others publish, and how they hear of it.
//
// Whoever waits holds a shared lock on one byte of the pool file, which a mere reader may too, and sleeps on the word `news`.
// Whoever publishes looks, once in ten milliseconds, whether anybody holds that lock, and only then changes the word and wakes
// all. So a publish that comes less than ten milliseconds (by a clock of coarse ticks) after somebody began to wait may wake
// nobody: who waits looks once more when that time is over, and from then on sleeps as long as nothing comes.

#include <algorithm>
#include <atomic>

#include "os/futex.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"
#include "pool/locks.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::pool {

using persist::Medium;

namespace {

constexpr std::uint64_t look_again_ns = 10'000'000;
constexpr std::uint64_t all_have_looked_ns = 40'000'000;  // with two ticks of the coarsest clock

// The half that changes; the machine is little-endian (decision 0010).
const std::uint32_t* futex_of(const std::uint64_t& word) {
    return reinterpret_cast<const std::uint32_t*>(&word);
}

}  // namespace

Pool::NewsWait::NewsWait(Pool& pool) : pool_(pool), began_ns_(os::monotonic_ns()) {
    const std::lock_guard one_thread(pool_.news_mutex_);
    if (pool_.waiting_here_ == 0 && !os::try_lock(pool_.file_, os::LockKind::shared, news_byte, 1))
        throw Error(Code::busy, pool_.path() +
                                    ": another process holds the lock for watching alone, and it must be "
                                    "shared; end that process");
    ++pool_.waiting_here_;
}

Pool::NewsWait::~NewsWait() {
    if (pool_.is_forked()) return;  // what follows is the parent's
    const std::lock_guard one_thread(pool_.news_mutex_);
    if (--pool_.waiting_here_ == 0) os::let_go(pool_.file_, news_byte, 1);
}

std::uint64_t Pool::NewsWait::news() const { return Medium::load(&pool_.state().news.value); }

os::Woken Pool::NewsWait::wait(std::uint64_t seen, std::uint64_t at_most_ns) const {
    const std::uint64_t waited = os::monotonic_ns() - began_ns_;
    const bool may_miss = waited < all_have_looked_ns;
    const std::uint64_t until_then = may_miss ? all_have_looked_ns - waited : at_most_ns;
    const os::Woken woken = os::wait_on(futex_of(pool_.state().news.value), static_cast<std::uint32_t>(seen),
                                        std::min(at_most_ns, until_then));
    return woken == os::Woken::by_time && until_then < at_most_ns ? os::Woken::by_somebody : woken;
}

void Pool::tell() {
    if (!somebody_waits()) return;
    std::atomic_ref(state().news.value).fetch_add(1);  // no part of what lasts: neither flushed nor traced
    os::wake_all(futex_of(state().news.value));
}

bool Pool::somebody_waits() {
    if (waiting_here_ != 0) return true;
    const std::uint64_t now = os::coarse_ns();
    if (now - looked_ns_.load(std::memory_order_relaxed) < look_again_ns)
        return others_wait_.load(std::memory_order_relaxed);
    bool waits = false;
    try {
        waits = os::conflicts(file_, os::LockKind::exclusive, news_byte, 1);
    } catch (const Error&) {
        // What was published stays so. Who waits hears of it with the next one.
    }
    others_wait_.store(waits, std::memory_order_relaxed);
    looked_ns_.store(now, std::memory_order_relaxed);
    return waits;
}

}  // namespace pmemcpy::pool
