#include "mover/mover.hpp"

#include "mover/reads.hpp"
#include "os/fork.hpp"
#include "store/store.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace pmemcpy::mover {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto nap =
    100ms;  // between two looks at whether the targets are full, and whether the leader is gone
constexpr auto after_error = 1s;  // what is full or away now may not be then

}  // namespace

class Mover::Worker {
public:
    explicit Worker(std::string path)
        : path_(std::move(path)), fork_generation_(os::fork_generation()), thread_([this] { work(); }) {}

    bool is_of_another_process() const { return fork_generation_ != os::fork_generation(); }

    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stops_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }

    void note(store::Store::Read read) {
        if (!wants_reads_) return;
        reads_.note(std::move(read));
        has_read_ = true;
        wake_.notify_all();
    }
    ReadCounters read_counters() const { return reads_.counters(); }

private:
    void work() {
        auto pause = Clock::duration(0ms);
        while (!sleeps_through(pause)) {
            try {
                take_a_turn();
                pause = nap;
            } catch (const Error&) {
                // A target or the pool's space: named to those who store and ask. It is tried again.
                due_ = Clock::now();
                pause = after_error;
            }
        }
        try {
            finish();
        } catch (const Error&) {
            // What is left is found by the next who has the pool open, and shown by unflushed().
        }
        lead_.reset();
        if (store_) store_->close();
    }

    bool sleeps_through(Clock::duration time) {
        std::unique_lock lock(mutex_);
        const auto until = Clock::now() + time;
        // A read wakes it: whoever reads one block after the other wants the next one soon.
        while (!stops_ && !has_read_ && wake_.wait_until(lock, until) != std::cv_status::timeout) {
        }
        return stops_;
    }

    void attach() {
        if (store_) return;
        Options options;
        options.mode = Mode::update;
        store_ = store::Store::open(path_, options);
    }

    void take_a_turn() {
        attach();
        const auto duty = store_->background();
        if (!duty) return lead_.reset();
        bring_up();
        if (!leads()) return;
        store_->keep_watermarks();
        if (std::exchange(hierarchy_, store_->hierarchy_number()) != store_->hierarchy_number()) {
            looked_at_ = 0;  // it may want other things
            due_ = Clock::now();
        }
        if (Clock::now() < due_ || store_->newest_version() == looked_at_) return;
        const std::uint64_t before = store_->newest_version();
        Pace pace(*this, duty->bytes_per_second);
        store_->flush(
            "/", true, [&](const FlushProgress&) { return pace.allows(0); },
            [&](std::uint64_t bytes) { return pace.allows(bytes); });
        const bool are_left = store_->sweep_copies(false);
        if (!are_left && pace.allows(0)) looked_at_ = before;
        due_ = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(duty->period_s));
    }

    void bring_up() {
        wants_reads_ = store_->promotion() != Promotion::never;
        has_read_ = false;
        reads_.bring_up(*store_);
    }

    bool leads() {
        if (lead_) return true;
        auto asked = std::unique_ptr<pool::Pool::LeadLock>(new pool::Pool::LeadLock(store_->try_lead()));
        if (!*asked) return false;
        lead_ = std::move(asked);
        store_->sweep_copies(true);  // whoever led before may have been killed
        looked_at_ = 0;
        due_ = Clock::now();
        return true;
    }

    void finish() {
        attach();
        const auto duty = store_->background();
        if (duty && duty->on_close) store_->flush("/", true, {});
    }

    // Spreads what is written over the time that it may take. Meanwhile the targets do not fill, and who sets another hierarchy is heard.
    class Pace {
    public:
        Pace(Worker& worker, double bytes_per_second)
            : worker_(worker),
              bytes_per_second_(bytes_per_second),
              hierarchy_(worker.store_->hierarchy_number()) {}
        bool allows(std::uint64_t bytes) {
            if (bytes_per_second_ > 0) {
                next_ = std::max(next_, Clock::now() - nap) +
                        std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(static_cast<double>(bytes) / bytes_per_second_));
            }
            for (auto left = next_ - Clock::now(); left > 0ms; left = next_ - Clock::now()) {
                if (worker_.sleeps_through(std::min<Clock::duration>(left, nap)) || has_changed())
                    return false;
                worker_.store_->keep_watermarks();
                worker_.bring_up();
            }
            worker_.bring_up();
            return !worker_.stops_ && !has_changed();
        }

    private:
        bool has_changed() const { return worker_.store_->hierarchy_number() != hierarchy_; }

        Worker& worker_;
        double bytes_per_second_;
        std::uint64_t hierarchy_;
        Clock::time_point next_ = Clock::now();
    };

    const std::string path_;
    const std::uint64_t fork_generation_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> stops_ = false;
    std::atomic<bool> has_read_ = false;
    std::atomic<bool> wants_reads_ = true;
    Reads reads_;
    // Of the thread.
    std::shared_ptr<store::Store> store_;
    std::unique_ptr<pool::Pool::LeadLock> lead_;
    std::uint64_t looked_at_ = 0;  // newest version at the last look at everything
    std::uint64_t hierarchy_ = 0;
    Clock::time_point due_ = Clock::now();
    std::thread thread_;
};

void Mover::note(store::Store::Read read) { worker_->note(std::move(read)); }
ReadCounters Mover::read_counters() const { return worker_->read_counters(); }

Mover::Mover(const std::string& path) : worker_(std::make_unique<Worker>(path)) {}

// A forked child's copy of the thread does not run, and its attachment is the parent's: it is left alone.
Mover::~Mover() {
    if (worker_->is_of_another_process()) {
        static_cast<void>(worker_.release());
        return;
    }
    worker_->stop();
}

}  // namespace pmemcpy::mover
