#include "mover/mover.hpp"

#include "mover/reads.hpp"
#include "os/fork.hpp"
#include "store/store.hpp"
#include "tier/hierarchy.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <future>
#include <mutex>
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
    struct Task {
        std::future<void> done{};  // of the thread that is at it
        std::atomic<Clock::time_point> not_before{Clock::time_point{}};
    };

    void work() {
        auto pause = Clock::duration(0ms);
        while (!sleeps_through(pause)) {
            try {
                take_a_turn();
                pause = nap;
            } catch (const std::exception&) {
                // A target or the pool's space: named to those who store and ask. It is tried again.
                pause = after_error;
            }
        }
        wait_for_tasks();
        try {
            finish();
        } catch (const std::exception&) {
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
        if (!duty) {
            wait_for_tasks();
            return lead_.reset();
        }
        bring_up();
        if (!leads()) return;
        if (std::exchange(hierarchy_, store_->hierarchy_number()) != store_->hierarchy_number())
            is_news_ = true;  // it may want other things
        for (const std::size_t level : store_->full_levels())
            begin(emptying_.at(level), [this, level] { store_->keep_watermarks(level); });
        if (is_news_ || (Clock::now() >= due_.load() && store_->newest_version() != looked_at_))
            begin(flushing_, [this, its = *duty] { flush(its); });
    }

    /// Each kind of work goes on by itself: a slow target keeps nobody from making room in a fast one.
    template <class F>
    void begin(Task& task, F&& f) {
        if (task.done.valid()) {
            if (task.done.wait_for(0ms) != std::future_status::ready) return;
            task.done.get();
        }
        if (Clock::now() < task.not_before.load()) return;
        task.done = std::async(std::launch::async, [&task, its = std::forward<F>(f)] {
            try {
                its();
            } catch (const std::exception&) {
                task.not_before = Clock::now() + after_error;  // what is full or away now may not be then
            }
        });
    }

    void wait_for_tasks() {
        if (flushing_.done.valid()) flushing_.done.get();
        for (Task& task : emptying_) {
            if (task.done.valid()) task.done.get();
        }
    }

    void flush(const Flush& duty) {
        is_news_ = false;
        const std::uint64_t before = store_->newest_version();
        Pace pace(*this, duty.bytes_per_second);
        try {
            store_->flush(
                "/", true, [&](const FlushProgress&) { return pace.allows(0); },
                [&](std::uint64_t bytes) { return pace.allows(bytes); });
            const bool are_left = store_->sweep_copies(false);
            if (!are_left && pace.allows(0)) looked_at_ = before;
        } catch (const std::exception&) {
            is_news_ = true;
            throw;
        }
        due_ = Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(duty.period_s));
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
        is_news_ = true;
        return true;
    }

    void finish() {
        attach();
        const auto duty = store_->background();
        if (duty && duty->on_close) store_->flush("/", true, {});
    }

    /// Spreads what is written over the time that it may take, for all who write it together.
    class Pace {
    public:
        Pace(Worker& worker, double bytes_per_second)
            : worker_(worker),
              bytes_per_second_(bytes_per_second),
              hierarchy_(worker.store_->hierarchy_number()) {}
        /// False when it is to be given up: this process closes the pool, or somebody has set another hierarchy.
        bool allows(std::uint64_t bytes) {
            auto until = Clock::now();
            if (bytes_per_second_ > 0) {
                const std::lock_guard lock(mutex_);
                next_ = std::max(next_, until - nap) +
                        std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(static_cast<double>(bytes) / bytes_per_second_));
                until = next_;
            }
            while (!worker_.stops_ && worker_.store_->hierarchy_number() == hierarchy_) {
                const auto left = until - Clock::now();
                if (left <= 0ms) return true;
                std::this_thread::sleep_for(std::min<Clock::duration>(left, nap));
            }
            return false;
        }

    private:
        Worker& worker_;
        double bytes_per_second_;
        std::uint64_t hierarchy_;
        std::mutex mutex_;
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
    std::shared_ptr<store::Store> store_;       // set before any task begins
    std::atomic<std::uint64_t> looked_at_ = 0;  // newest version at the last look at everything
    std::atomic<bool> is_news_ = true;          // everything is to be looked at, whatever the versions say
    std::atomic<Clock::time_point> due_{Clock::time_point{}};
    // Of the thread that begins the tasks.
    std::unique_ptr<pool::Pool::LeadLock> lead_;
    std::uint64_t hierarchy_ = 0;
    Task flushing_;
    std::array<Task, tier::most_targets> emptying_;
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
