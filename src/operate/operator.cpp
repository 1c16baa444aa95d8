#include "operate/operator.hpp"

#include "operate/hints.hpp"
#include "os/fork.hpp"
#include "os/process.hpp"
#include "os/thread.hpp"
#include "store/changes.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

namespace pmemcpy::operate {

namespace {

using namespace std::chrono_literals;

constexpr auto nap = 20ms;          // between two looks at whether anything has changed
constexpr auto longest_pause = 1s;  // where somebody stores all the time, so that each look was in vain
constexpr auto after_error = 1s;    // what is full or away now may not be then

}  // namespace

/// One thread, with an attachment of its own: so its locks are not those of another thread, and it sees what others see.
class Operator::Worker {
public:
    Worker(std::string path, const store::Which& which, std::vector<unsigned> cores)
        : path_(std::move(path)),
          which_(which),
          fork_generation_(os::fork_generation()),
          cores_(std::move(cores)),
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

    void wait() {
        std::unique_lock lock(mutex_);
        const std::uint64_t asked = ++asked_;
        wake_.notify_all();
        done_.wait(lock, [&] { return answered_ >= asked || stops_; });
        if (answered_ < asked || trouble_)
            throw Error(trouble_.value_or(Error(Code::busy, "the pool is being closed")));
    }

    void set_function(const std::string& name, Operate function) {
        const std::lock_guard lock(mutex_);
        functions_[name] = std::move(function);
        has_new_functions_ = true;
        wake_.notify_all();
    }
    Operate function(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        const auto found = functions_.find(name);
        return found == functions_.end() ? Operate{} : found->second;
    }

private:
    void work() {
        if (!cores_.empty()) os::run_on(cores_);
        std::unique_lock lock(mutex_);
        while (!stops_) {
            const std::uint64_t asked = asked_;
            lock.unlock();
            std::optional<Error> trouble;
            try {
                take_a_turn();
            } catch (const Error& error) {
                trouble = error;
            }
            lock.lock();
            trouble_ = trouble;
            if (left_.empty() || trouble) {
                answered_ = asked;
                done_.notify_all();
            }
            wake_.wait_for(lock, trouble ? std::chrono::milliseconds(after_error) : pause_,
                           [&] { return stops_ || has_new_functions_ || asked_ != asked; });
        }
        done_.notify_all();
        lock.unlock();
        close();
    }

    void close() {
        changes_.reset();
        try {
            if (store_) store_->close();
        } catch (const Error&) {
            // A sync that failed is told to those who use the pool.
        }
    }

    void take_a_turn() {
        if (!store_) {
            Options options;
            options.mode = Mode::update;
            options.verify_loads = true;  // or damage would become a result with a good checksum
            store_ = store::Store::open(path_, options, nullptr, which_);
            store_->announce_done();  // what it stores comes of what others have, and nobody waits for it
            sweep_drafts(*store_);
        }
        store_->check_there();
        if (!changes_ && !has_hints(*store_)) {
            pause_ = longest_pause;
            return;
        }
        if (!changes_ || has_new_functions_.exchange(false))
            changes_.emplace(store_);  // then everything is looked at
        std::vector<std::string> changed;
        changes_->take(changed);
        left_.insert(std::make_move_iterator(changed.begin()), std::make_move_iterator(changed.end()));
        is_storing_ = false;
        std::optional<Error> trouble;  // with one of them keeps nobody from the others
        for (auto next = left_.begin(); next != left_.end() && !stops_;) {
            bool is_settled = true;
            try {
                is_settled = settle(*next);
            } catch (const Error& error) {
                trouble = error;
                is_settled = error.kind() != Code::busy;  // another process is at it, perhaps stopped
            }
            next = is_settled ? left_.erase(next) : std::next(next);
        }
        pause_ = is_storing_ ? std::min<std::chrono::milliseconds>(2 * pause_, longest_pause) : nap;
        if (trouble) throw Error(*trouble);
    }

    // False when it is to be looked at again, though nothing may have changed.
    bool settle(const std::string& id) {
        try {
            const Hint hint = hint_of(*store_, id);
            if (hint.mask == 0 || is_done(id, hint)) return true;
            const Functions functions = [this](const std::string& name) { return function(name); };
            if (!trouble_with(*store_, hint.mask, functions).empty()) return true;  // another process can
            const auto lock = store_->try_operate(lock_number(id));
            if (!lock) {
                awaited_.try_emplace(id, lock.patience(path_, "operating on '" + id + "'"))
                    .first->second.look();
                return false;
            }
            awaited_.erase(id);
            return is_done(id, hint) || operate(id, hint, functions);
        } catch (const Error& error) {
            if (error.kind() == Code::not_found) return true;  // erased meanwhile
            throw;
        }
    }

    bool is_done(const std::string& id, const Hint& hint) const {
        const auto outcome = outcome_of(*store_, id);
        return outcome && outcome->hint == hint && outcome->content == store_->content_fingerprint(id);
    }

    bool operate(const std::string& id, const Hint& hint, const Functions& functions) {
        // First: what fails later may have failed on something else.
        Outcome outcome{store_->content_fingerprint(id), hint};
        try {
            outcome.content = operate_on(*store_, id, hint, functions, [this] { return !stops_; }).content;
        } catch (const Stopped&) {
            return false;
        } catch (const Incomplete&) {
            return true;  // until more of it is stored
        } catch (const Error& error) {
            if (error.kind() == Code::busy) {
                is_storing_ = true;
                return false;
            }
            outcome.trouble = error.what();
        } catch (const std::exception& error) {
            outcome.trouble = error.what();
        }
        set_outcome(*store_, id, outcome);
        return true;
    }

    const std::string path_;
    const store::Which which_;
    const std::uint64_t fork_generation_;
    const std::vector<unsigned> cores_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::atomic<bool> stops_ = false;
    std::atomic<bool> has_new_functions_ = false;
    std::uint64_t asked_ = 0;
    std::uint64_t answered_ = 0;
    std::optional<Error> trouble_;
    std::map<std::string, Operate> functions_;
    // Of the thread.
    std::shared_ptr<store::Store> store_;
    std::optional<store::Changed> changes_;
    std::set<std::string> left_;
    std::map<std::string, pool::Patience> awaited_;  // of those that another process operates on
    bool is_storing_ = false;
    std::chrono::milliseconds pause_ = nap;
    std::thread thread_;
};

Operator::Operator(const std::string& path, std::vector<unsigned> cores)
    : worker_(std::make_unique<Worker>(path, store::Which{}, std::move(cores))) {}
Operator::Operator(const store::Store& program)
    : worker_(std::make_unique<Worker>(program.path(), store::Which{.again = program.itself()},
                                       std::vector<unsigned>{})) {}

// A forked child's copy of the thread does not run, and its attachment is the parent's: it is left alone.
Operator::~Operator() {
    if (worker_->is_of_another_process()) {
        static_cast<void>(worker_.release());
        return;
    }
    worker_->stop();
}

void Operator::set_function(const std::string& name, Operate function) {
    worker_->set_function(name, std::move(function));
}
Operate Operator::function(const std::string& name) const { return worker_->function(name); }
void Operator::wait() { worker_->wait(); }

}  // namespace pmemcpy::operate
