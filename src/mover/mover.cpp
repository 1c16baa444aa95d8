// Length: the turns of one thread, and what they tell each other; parted, most of it would be passed around.

#include "mover/mover.hpp"

#include "mover/reads.hpp"
#include "mover/requests.hpp"
#include "os/fork.hpp"
#include "os/process.hpp"
#include "os/thread.hpp"
#include "store/store.hpp"
#include "tier/bursts.hpp"
#include "tier/cores.hpp"
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
#include <unordered_map>
#include <utility>

namespace pmemcpy::mover {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Between two looks at whether the targets are full, and whether the leader is gone; of who leads also while somebody stores, and when
// somebody has stored of late.
constexpr auto nap = 100ms;
constexpr auto nap_in_burst = 2ms;
constexpr auto nap_between_bursts = 20ms;
// A leader whose program is done first leaves while the others store on, at half the speed as long as nobody makes room for them.
constexpr auto nap_of_others_in_burst = 4ms;
constexpr auto longest_between_bursts = 1s;
// In a pool with very many blocks a look at all of them takes long: so many times as long it then waits.
constexpr int pause_per_look = 20;
constexpr auto after_error = 1s;  // what is full or away now may not be then
// Whoever has changed something may have been killed before he told it.
constexpr auto look_anyway = 20s;
constexpr auto try_again = 60s;  // to reclaim what a killed job has left, where it did not go

std::vector<unsigned> checked(std::vector<unsigned> cores) {
    const std::vector<unsigned> all = os::cores();
    const bool are_there = std::any_of(cores.begin(), cores.end(), [&](unsigned core) {
        return all.empty() || std::binary_search(all.begin(), all.end(), core);
    });
    if (cores.empty() || are_there) return cores;
    throw Error(Code::invalid_argument, "none of the processors " + tier::cores_text(cores) +
                                            " is one that this process may run on: " + tier::cores_text(all));
}

}  // namespace

class Mover::Worker {
public:
    explicit Worker(store::Store& program)
        : path_(program.path()),
          which_{.again = program.itself()},
          fork_generation_(os::fork_generation()),
          program_(&program),
          thread_(os::start_thread([this] { work(); })) {}
    Worker(std::string path, std::vector<unsigned> cores)
        : path_(std::move(path)),
          fork_generation_(os::fork_generation()),
          own_cores_(std::move(cores)),
          store_(open()),
          organizes_(organize(*store_)),
          thread_(os::start_thread([this] { work(); })) {}

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
        wake();
    }
    void note_store() {
        if (!waits_for_store_.load(std::memory_order_relaxed)) return;
        {
            const std::lock_guard lock(mutex_);
            waits_for_store_ = false;
        }
        wake_.notify_all();
    }
    ReadCounters read_counters() const { return reads_.counters(); }
    std::string trouble() const {
        const std::lock_guard lock(trouble_mutex_);
        if (!trouble_.empty()) return trouble_;
        for (const Task* task : {&flushing_, &settling_, &handing_, &finishing_, &answering_, &draining_}) {
            if (!task->trouble.empty()) return task->trouble;
        }
        for (const Task& task : emptying_) {
            if (!task.trouble.empty()) return task.trouble;
        }
        return {};
    }
    void want(std::vector<store::Store::Read> blocks) {
        reads_.want(std::move(blocks));
        wake();
    }
    void set_prefetcher(std::shared_ptr<const Prefetcher> next) { reads_.set_prefetcher(std::move(next)); }

private:
    /// Spreads what is written over the time that it may take, for all who write it together.
    class Pace {
    public:
        Pace(Worker& worker, double bytes_per_second, std::uint64_t hierarchy)
            : worker_(worker), bytes_per_second_(bytes_per_second), hierarchy_(hierarchy) {}
        /// False when it is to be given up: this process closes the pool, somebody has set another hierarchy, or there is an organizer.
        bool allows(std::uint64_t bytes) {
            auto until = Clock::now();
            if (bytes_per_second_ > 0) {
                const std::lock_guard lock(mutex_);
                next_ = std::max(next_, until - nap) +
                        std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(static_cast<double>(bytes) / bytes_per_second_));
                until = next_;
            }
            while (!worker_.stops_ && !worker_.yields_ && worker_.store_->hierarchy_number() == hierarchy_) {
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

    struct Task {
        std::future<void> done{};            // of the thread that is at it
        std::atomic<bool> is_ending{false};  // so the next may begin at once, and not at the next look
        std::atomic<Clock::time_point> not_before{Clock::time_point{}};
        std::string trouble{};  // under trouble_mutex_
    };

    void wake() {
        is_woken_ = true;
        wake_.notify_all();
    }

    void work() {
        // The program's own stores come first. An organizer has as much as whoever started it gives it.
        if (!organizes_) os::give_way();
        auto pause = Clock::duration(0ms);
        while (!sleeps_through(pause)) {
            try {
                take_a_turn();
                note(trouble_, {});
                pause = pause_until_next_look();
            } catch (const std::exception& error) {
                // A target or the pool's space: named to those who store and ask. It is tried again.
                note(trouble_, error.what());
                pause = after_error;
            }
        }
        // The next leader begins while the last blocks are still on their way: any process may move some at any time.
        wait_for_what_one_does();
        lead_.reset();
        wait_for_moves();
        try {
            finish();
        } catch (const std::exception&) {
            // What is left is found by the next who has the pool open, and shown by unflushed().
        }
        organizes_.reset();
        try {
            if (store_) store_->close();
        } catch (const std::exception&) {
            // What keeps a pool from being closed is told to those who use it.
        }
    }

    Clock::duration pause_until_next_look() const {
        if (!bursts_.is_quiet()) return lead_ ? nap_in_burst : nap_of_others_in_burst;
        if (!lead_) return nap;
        return Clock::now() < stored_at_ + longest_between_bursts ? nap_between_bursts : nap;
    }

    bool sleeps_through(Clock::duration time) {
        std::unique_lock lock(mutex_);
        const auto until = Clock::now() + time;
        // A read wakes it: whoever reads one block after the other wants the next one soon. So does a task that is to go on, and the
        // first store of a burst, for slow targets take what they can from there on.
        const bool until_store = lead_ && bursts_.is_quiet() && time <= nap;
        waits_for_store_ = until_store;
        while (!stops_ && !is_woken_ && waits_for_store_ == until_store &&
               wake_.wait_until(lock, until) != std::cv_status::timeout) {
        }
        waits_for_store_ = false;
        return stops_;
    }

    std::shared_ptr<store::Store> open() const {
        Options options;
        options.mode = Mode::update;
        auto store = store::Store::open(path_, options, nullptr, which_);
        store->announce_done();
        return store;
    }
    void attach() {
        if (!store_) store_ = open();
    }

    static std::unique_ptr<pool::Pool::OrganizerLock> organize(store::Store& store) {
        auto asked =
            std::unique_ptr<pool::Pool::OrganizerLock>(new pool::Pool::OrganizerLock(store.try_organize()));
        if (*asked) return asked;
        throw Error(
            Code::busy,
            store.path() + " has an organizer already, in another process; one does all there is to do");
    }

    // Of this thread, and of those that it makes.
    void choose_cores(const std::vector<unsigned>& wanted) {
        const std::vector<unsigned>& cores = own_cores_.empty() ? wanted : own_cores_;
        if (cores == cores_) return;
        cores_ = cores;
        // A hierarchy may come from a machine with more of them.
        if (!os::run_on(cores.empty() ? all_cores_ : cores)) os::run_on(all_cores_);
    }

    void take_a_turn() {
        attach();
        store_->check_there();
        bring_up();
        // What the program could not free when it stored, because somebody was reading it, it would not before it stores again; and as
        // long as a block is there, so are its copies.
        if (program_ != nullptr && bursts_.is_quiet()) program_->reclaim();
        // Before what it says: so whoever works by it sees, by its number, when it is not what counts any more.
        const std::uint64_t hierarchy = store_->hierarchy_number();
        const auto duty = store_->background();
        if (!duty) {
            wait_for_tasks();
            return lead_.reset();
        }
        choose_cores(duty->cores);
        yields_ = !organizes_ && store_->has_organizer();
        if (yields_) return step_back();
        bursts_.look(os::monotonic_ns(), store_->stored_bytes());
        if (!bursts_.is_quiet()) stored_at_ = Clock::now();
        if (!leads()) return;
        if (std::exchange(hierarchy_, hierarchy) != hierarchy || !pace_) {
            is_news_ = true;  // it may want other things
            pace_ = std::make_shared<Pace>(*this, duty->bytes_per_second, hierarchy);
        }
        for (const store::Store::Emptying& each : store_->to_empty(bursts_))
            begin(emptying_.at(each.level),
                  [this, each, goes_on = as_it_is()] { store_->empty(each, goes_on); });
        const auto stays = store_->to_drain(bursts_);
        if (stays) {
            begin(draining_, [this, most = *stays, goes_on = as_it_is()] {
                if (!store_->drain(most, goes_on)) draining_.not_before = Clock::now() + nap;
            });
        }
        if (store_->moves_by_heat() &&
            Clock::now() >= settled_at_ + std::chrono::duration<double>(duty->period_s)) {
            settled_at_ = Clock::now();
            begin(settling_, [this] { store_->settle_by_heat(); });
        }
        if (Clock::now() >= reclaimed_at_ + std::chrono::duration<double>(duty->period_s)) {
            reclaimed_at_ = Clock::now();
            auto left = store_->left_by_dead_jobs();
            if (!left.empty()) begin(reclaiming_, [this, pools = std::move(left)] { reclaim(pools); });
        }
        const std::uint64_t newest = store_->newest_version();
        const bool on_store = store_->flushes_on(Trigger::store) && newest != flushed_at_;
        const auto late = Clock::now() - due_.load();
        // What fills the pool goes down anyhow, so the flush target begins with it and not when a period is over.
        const bool fills = stays && newest != flushed_at_ && Clock::now() >= found_nothing_at_.load() + nap;
        if (is_news_ || on_store || fills || (late >= 0s && newest != looked_at_) || late >= look_anyway)
            begin(flushing_, [this, its = *duty, pace = pace_, what_fills = stays.has_value()] {
                if (!flush(its, *pace, what_fills)) return;
                flushing_.is_ending = true;
                wake();
            });
        if (!duty->command.empty() && is_to_hand_over_) begin(handing_, [this] { hand_over(); });
        if (!duty->as.empty() &&
            Clock::now() >= finished_at_ + std::chrono::duration<double>(duty->period_s)) {
            finished_at_ = Clock::now();
            begin(finishing_, [this] { finish_files(); });
        }
        if (has_requests())
            begin(answering_, [this, pace = pace_] {
                requests_.answer(*store_, [&](std::uint64_t bytes) { return pace->allows(bytes); });
            });
    }

    // Whatever lies where the requests should keeps nobody from all else that there is to do.
    bool has_requests() {
        try {
            return requests_.waiting(*store_) > 0 || std::exchange(is_new_leader_, false);
        } catch (const Error& error) {
            note(answering_.trouble, error.what());
            return false;
        }
    }

    // Of a task that runs a program, until when it may.
    std::function<bool()> as_it_is() const {
        return [this, hierarchy = store_->hierarchy_number()] {
            return !stops_ && !yields_ && store_->hierarchy_number() == hierarchy;
        };
    }

    void finish_files() {
        const std::array now = {store_->newest_version(), store_->committed_step(),
                                store_->hierarchy_number()};
        const bool is_quiet = std::exchange(looked_when_, now) == now;
        if (is_quiet && is_finished_) return;
        is_finished_ = false;
        // What had changed since the look before waits for the next one.
        is_finished_ = store_->finish_files("/", &looked_, as_it_is()) && is_quiet;
    }

    // By itself, for a command may take its time.
    void hand_over() {
        is_to_hand_over_ = false;
        try {
            store_->hand_over(as_it_is());
        } catch (const std::exception&) {
            is_to_hand_over_ = true;
            throw;
        }
    }

    /// Each kind of work goes on by itself: a slow target keeps nobody from making room in a fast one.
    template <class F>
    void begin(Task& task, F&& f) {
        if (task.done.valid()) {
            if (!task.is_ending && task.done.wait_for(0ms) != std::future_status::ready) return;
            task.done.get();
        }
        if (Clock::now() < task.not_before.load()) return;
        task.is_ending = false;
        task.done = std::async(std::launch::async, [this, &task, its = std::forward<F>(f)] {
            try {
                store_->check_there();
                its();
                note(task.trouble, {});
            } catch (const std::exception& error) {
                note(task.trouble, error.what());
                task.not_before = Clock::now() + after_error;  // what is full or away now may not be then
            }
        });
    }

    void step_back() {
        if (!lead_) return;
        wait_for_tasks();  // which give up soon
        lead_.reset();
    }

    static void wait_for(Task& task) {
        if (task.done.valid()) task.done.get();
    }
    void wait_for_what_one_does() {
        for (Task* task : {&reclaiming_, &handing_, &finishing_, &answering_}) wait_for(*task);
    }
    void wait_for_moves() {
        for (Task* task : {&flushing_, &settling_, &draining_}) wait_for(*task);
        for (Task& task : emptying_) wait_for(task);
    }
    void wait_for_tasks() {
        wait_for_what_one_does();
        wait_for_moves();
    }

    // What fills the pool is flushed first, and what has gone down from there when nothing fills it any more. True when more was stored
    // meanwhile: the flush target has nothing to do from here on.
    bool flush(const Flush& duty, Pace& pace, bool what_fills) {
        const auto begun = Clock::now();
        const bool is_due = is_news_.exchange(false) || begun >= due_.load();
        const std::uint64_t before = store_->newest_version();
        const bool waits =
            !organizes_ && !store_->flushes_on(Trigger::store) && !store_->flushes_on(Trigger::period);
        // Of what is copied when the pool is closed, that is due which others had not copied when they were gone.
        const std::uint64_t stored_before = waits ? store_->session_began_at() : ~std::uint64_t{0};
        Clock::duration looking_takes{};
        bool goes_on = false;
        try {
            // Whoever led before may have been killed. What somebody waits for goes down meanwhile.
            if (is_to_sweep_.exchange(false)) store_->sweep_copies(true);
            const std::uint64_t copied = store_->flush(
                "/",
                {.for_modes = true,
                 .what_fills = what_fills,
                 .before = stored_before,
                 .takes_inventory = is_due},
                [&](const FlushProgress&) { return pace.allows(0); },
                [&](std::uint64_t bytes) { return pace.allows(bytes); });
            if (what_fills && copied == 0) found_nothing_at_ = begun;
            goes_on = copied != 0 && store_->newest_version() != before;
            const bool is_all = !what_fills && pace.allows(0);
            if (is_all) flushed_at_ = before;
            if (!is_due) return goes_on;
            const auto began = Clock::now();
            const bool are_left = store_->sweep_copies(false);
            looking_takes = Clock::now() - began + std::chrono::nanoseconds(store_->inventory_took_ns());
            is_to_hand_over_ = true;
            if (!are_left && is_all) looked_at_ = before;
        } catch (const std::exception&) {
            is_news_ = true;
            throw;
        }
        const auto period =
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(duty.period_s));
        // From where it began: what was stored while it went on has waited as long already.
        due_ = begun + std::max(period, pause_per_look * looking_takes);
        return goes_on;
    }

    // Whoever opens a pool after a killed job, and closes it, has erased what was to go with the job. What cannot be opened is left alone.
    void reclaim(const std::vector<std::string>& pools) {
        for (const std::string& pool : pools) {
            if (stops_ || Clock::now() < tried_[pool] + try_again) continue;
            tried_[pool] = Clock::now();
            try {
                store::Store::open(pool, Options{.mode = Mode::update})->close();
            } catch (const Error&) {
                // Not ours to open, damaged, or busy: nothing of this pool depends on it.
            }
        }
    }

    void bring_up() {
        wants_reads_ = store_->promotion() != Promotion::never;
        is_woken_ = false;
        reads_.bring_up(*store_);
    }

    bool leads() {
        if (lead_) return true;
        auto asked = std::unique_ptr<pool::Pool::LeadLock>(new pool::Pool::LeadLock(store_->try_lead()));
        if (!*asked) return false;
        lead_ = std::move(asked);
        is_news_ = true;
        is_new_leader_ = true;
        is_to_sweep_ = true;
        return true;
    }

    void note(std::string& trouble, const std::string& what) {
        const std::lock_guard lock(trouble_mutex_);
        trouble = what;
    }

    void finish() {
        attach();
        store_->check_there();
        const auto duty = store_->background();
        if (!duty || (!organizes_ && store_->has_organizer())) return;
        const bool is_last = store_->flushes_on(Trigger::exit) && !store_->others_may_store();
        if (!is_last && !store_->flushes_on(Trigger::close)) return;
        store_->flush("/", {.for_modes = true}, {});
        store_->hand_over([] { return true; });
        store_->finish_files("/", nullptr, [] { return true; });
    }

    const std::string path_;
    const store::Which which_;
    const std::uint64_t fork_generation_;
    store::Store* const program_ = nullptr;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> stops_ = false;
    std::atomic<bool> is_woken_ = false;
    std::atomic<bool> waits_for_store_ = false;
    std::atomic<bool> wants_reads_ = true;
    std::atomic<bool> yields_ = false;  // to an organizer
    mutable std::mutex trouble_mutex_;
    std::string trouble_;
    Reads reads_;
    std::shared_ptr<Pace> pace_;  // of all that is copied to the flush target
    const std::vector<unsigned> own_cores_{};
    const std::vector<unsigned> all_cores_ = os::cores();
    std::shared_ptr<store::Store> store_;        // set before any task begins
    std::atomic<std::uint64_t> looked_at_ = 0;   // newest version at the last look at everything
    std::atomic<std::uint64_t> flushed_at_ = 0;  // the same, where each store triggers one
    std::atomic<Clock::time_point> found_nothing_at_{Clock::time_point{}};  // last, to copy
    std::atomic<bool> is_to_hand_over_ = false;  // something may have come since the last time
    std::atomic<bool> is_to_sweep_ = false;      // thoroughly, before anything is flushed
    std::atomic<bool> is_news_ = true;           // everything is to be looked at, whatever the versions say
    std::atomic<Clock::time_point> due_{Clock::time_point{}};
    // Of the thread that begins the tasks.
    std::unique_ptr<pool::Pool::OrganizerLock> organizes_;  // null in a process that does other things
    std::unique_ptr<pool::Pool::LeadLock> lead_;
    std::vector<unsigned> cores_;
    std::uint64_t hierarchy_ = 0;
    tier::Bursts bursts_;
    Clock::time_point stored_at_{};   // when a burst was last seen
    Clock::time_point settled_at_{};  // by heat, which is as often done as somebody looks for what is new
    Task flushing_;
    Task settling_;
    Task reclaiming_;
    Clock::time_point reclaimed_at_{};  // what killed jobs have left in targets that are shared
    std::unordered_map<std::string, Clock::time_point> tried_;  // of that task
    Task handing_;
    Task answering_;
    Requests requests_;
    bool is_new_leader_ = false;  // what the one before was at when he died may be to be done again
    Task finishing_;
    Clock::time_point finished_at_{};
    // Of that task: what there was at its last look, when that was, and whether all of it is finished.
    store::Store::Tops looked_;
    std::array<std::uint64_t, 3> looked_when_{};
    bool is_finished_ = false;
    std::array<Task, tier::most_targets> emptying_;
    Task draining_;
    std::thread thread_;
};

void Mover::note(store::Store::Read read) { worker_->note(std::move(read)); }
void Mover::note_store() { worker_->note_store(); }
ReadCounters Mover::read_counters() const { return worker_->read_counters(); }
std::string Mover::trouble() const { return worker_->trouble(); }
void Mover::want(std::vector<store::Store::Read> blocks) { worker_->want(std::move(blocks)); }
void Mover::set_prefetcher(std::shared_ptr<const Prefetcher> next) {
    worker_->set_prefetcher(std::move(next));
}

Mover::Mover(store::Store& program) : worker_(std::make_unique<Worker>(program)) {}
Mover::Mover(const std::string& path, std::vector<unsigned> cores)
    : worker_(std::make_unique<Worker>(path, checked(std::move(cores)))) {}

// A forked child's copy of the thread does not run, and its attachment is the parent's: it is left alone.
Mover::~Mover() {
    if (worker_->is_of_another_process()) {
        static_cast<void>(worker_.release());
        return;
    }
    worker_->stop();
}

}  // namespace pmemcpy::mover
