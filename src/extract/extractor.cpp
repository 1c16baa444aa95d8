#include <pmemcpy/extract.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <pmemcpy/error.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "extract/changes.hpp"
#include "index/evaluation.hpp"
#include "os/fork.hpp"
#include "os/thread.hpp"
#include "pmem/sides.hpp"

namespace pmemcpy {

namespace {

using namespace std::chrono_literals;

constexpr auto nap = 20ms;  // between two looks at whether anything has changed
constexpr std::string_view note_prefix = "pmemcpy:extracted:";

void check(const std::string& name, const Query& which) {
    const bool is_word = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
    });
    if (name.empty() || name.size() > 64 || !is_word) {
        throw Error(Code::invalid_argument, "an extractor cannot be called '" + name +
                                                "'; 1 to 64 letters, digits, '_', '-' and '.' can");
    }
    if (which.is_count() || which.most() || !which.order().empty())
        throw Error(Code::invalid_argument,
                    "an extractor looks at all that its query finds: it has no order, limit or count");
}

}  // namespace

/// One thread, with an attachment of its own.
class Extractor::Worker {
public:
    /// `place`: a path, or a PMEM.
    template <class Place>
    Worker(const Place& place, const std::string& name, const Query& which, Extract extract)
        : extract_(std::move(extract)),
          note_(std::string(note_prefix) + name),
          which_(which),
          fork_generation_(os::fork_generation()) {
        check(name, which);
        Options options;
        options.mode = Mode::update;
        options.verify_loads = true;  // or attributes would tell of damage as of what was stored
        pool_.mmap(place, options);
        changes_.emplace(pool_);
        thread_ = os::start_thread([this] {
            work();
            if (is_left_) delete this;
        });
    }

    bool is_of_another_process() const { return fork_generation_ != os::fork_generation(); }

    bool is_this_thread() const { return thread_.get_id() == std::this_thread::get_id(); }

    void stop() {
        {
            const std::lock_guard lock(mutex_);
            stops_ = true;
        }
        wake_.notify_all();
        thread_.join();
    }

    /// Of its own thread, which cannot wait for itself: it ends when the function returns, and takes all this with it.
    void leave() {
        stops_ = is_left_ = true;
        thread_.detach();
    }

    void wait() {
        if (is_in_function_)
            throw Error(Code::unsupported,
                        "waiting for an extractor inside the function of one: it could wait for itself");
        std::unique_lock lock(mutex_);
        const std::uint64_t asked = ++asked_;
        wake_.notify_all();
        done_.wait(lock, [&] { return answered_ >= asked || stops_; });
    }

    ExtractorInfo info() const {
        const std::lock_guard lock(mutex_);
        return info_;
    }

private:
    void work() {
        const store::Store::Looking looking;
        is_in_function_ = true;  // this thread does nothing but call it
        std::unique_lock lock(mutex_);
        while (!stops_) {
            const std::uint64_t asked = asked_;
            lock.unlock();
            std::string trouble;
            try {
                pmem::Sides::of(pool_).shared()->check_there();
                for (const std::string& id : changes_->take()) {
                    if (stops_) break;
                    look_at(id);
                }
            } catch (const Error& error) {
                trouble = error.what();
            }
            lock.lock();
            if (!trouble.empty()) info_.trouble = trouble;
            answered_ = asked;
            done_.notify_all();
            wake_.wait_for(lock, nap, [&] { return stops_ || asked_ != asked; });
        }
    }

    void look_at(const std::string& id) {
        try {
            store::Store& store = *pmem::Sides::of(pool_).of(id);
            // First: what is stored meanwhile makes it look again.
            const std::string content = std::to_string(store.content_fingerprint(id));
            if (store.note(id, note_) == content || !is_meant(id)) return;
            extract_(pool_, id);
            store.set_note(id, note_, content);
            count({});
        } catch (const std::exception& error) {
            const auto* told = dynamic_cast<const Error*>(&error);
            // Erased meanwhile; or another process has moved it to the other side, and says so.
            if (told == nullptr || told->kind() != Code::not_found) count(id + ": " + error.what());
        }
    }

    bool is_meant(const std::string& id) const {
        index::Evaluation evaluation(which_.condition() ? which_.condition()->node() : nullptr);
        index::Surroundings around(pool_);
        index::Object object(pool_, id, around);
        // Of an array in which nothing is stored yet there is nothing to extract: what is stored in it makes this one look again.
        const Info& info = object.info();
        if (info.kind == VariableKind::array && info.blocks == 0 && info.bytes != 0 &&
            info.fill_value.empty())
            return false;
        std::vector<Box> boxes;
        return evaluation.meets(object, boxes);
    }

    void count(const std::string& trouble) {
        const std::lock_guard lock(mutex_);
        ++info_.looked_at;
        if (trouble.empty()) return;
        ++info_.failed;
        info_.trouble = trouble;
    }

    Extract extract_;  // the last that goes, so that what it holds can tell its owner that the pool is closed
    PMEM pool_;
    std::string note_;
    Query which_;
    std::uint64_t fork_generation_;
    std::optional<extract::Changed> changes_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::atomic<bool> stops_ = false;
    bool is_left_ = false;  // of the thread itself
    std::uint64_t asked_ = 0;
    std::uint64_t answered_ = 0;
    ExtractorInfo info_;
    std::thread thread_;
    inline static thread_local bool is_in_function_ = false;
};

Extractor::Extractor(const std::string& path, const std::string& name, const Query& which, Extract extract)
    : worker_(std::make_unique<Worker>(path, name, which, std::move(extract))) {}
Extractor::Extractor(const PMEM& pool, const std::string& name, const Query& which, Extract extract)
    : worker_(std::make_unique<Worker>(pool, name, which, std::move(extract))) {}

// A forked child's copy of the thread does not run, and its attachment is the parent's: it is left alone.
Extractor::~Extractor() {
    if (worker_->is_of_another_process()) {
        static_cast<void>(worker_.release());
    } else if (worker_->is_this_thread()) {
        worker_.release()->leave();
    } else {
        worker_->stop();
    }
}

void Extractor::wait() {
    if (worker_->is_of_another_process())
        throw Error(Code::busy, "a forked child has no extractor of its parent's; it makes its own");
    worker_->wait();
}

ExtractorInfo Extractor::info() const { return worker_->info(); }

}  // namespace pmemcpy
