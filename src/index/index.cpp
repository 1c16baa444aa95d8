// Length: one thread and those that ask it work on the same words.
#include "index/index.hpp"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <pmemcpy/error.hpp>

#include "array/id.hpp"
#include "index/modes.hpp"
#include "index/posted.hpp"
#include "os/fork.hpp"
#include "os/lock.hpp"
#include "os/names.hpp"
#include "os/thread.hpp"

namespace pmemcpy {

namespace index {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t usual_bytes = 1ULL << 40;  // of address space; the file is as large as what is in it
constexpr std::uint64_t most_bytes_copied_at_close = 64ULL << 20;
constexpr auto nap = 10ms;  // between two looks at what has changed, so that one takes many
constexpr auto nap_for_others = 50ms;
constexpr int most_failures_counted = 8;  // then it is tried again every 13 seconds
constexpr auto longest_close = 1s;
constexpr int most_rounds_alone = 500;  // of flush(): so often others may remove what it has made
// In a nap: then a burst goes on, and who stores wants the processors for himself.
constexpr std::uint64_t changes_of_a_burst = 64;
// The pause behind a burst is waited for no longer, for the feed forgets what the index has not heard of in time.
constexpr std::uint64_t most_changes_behind = pool::feed_slots / 4;
// The same where who stores brings them in (`sync`): one transaction for all takes a fifth of what one for each of them does, and a query looks
// at so many itself in 0.3 ms.
constexpr std::uint64_t most_changes_behind_sync = 256;
// From half of it on one brings them in, while the others store on. When each waited for him, storing stood still meanwhile.
constexpr std::uint64_t changes_worth_bringing_in = most_changes_behind_sync / 2;

std::uint64_t bytes_to_map() {
    if (const char* wanted = std::getenv("PMEMCPY_INDEX_BYTES"))
        return std::max<std::uint64_t>(index_of(wanted).value_or(usual_bytes), 1 << 20);
    return usual_bytes;
}

/// Somebody besides the owner may read the pool, and perhaps not write it.
bool has_other_readers(unsigned permissions) { return (permissions & 0044) != 0; }

}  // namespace

// By a newer one, so that a copy of the old one that somebody is just making finds no place any more.
void begin_anew(const store::Store& store) {
    const Generations generations(store);
    const auto newest = generations.newest();
    if (!newest) return;
    generations.make(*newest + 1);
    generations.remove_all_before(*newest + 1);
}

Index& Index::of_side_of(const PMEM& pool, std::string_view id) {
    const PMEM* own = private_side_of(pool);
    return of(own != nullptr && own->exists(id) ? *own : pool);
}

Index& Index::of(const PMEM& pool) {
    pool.opened().check_usable();
    return *pool.index_;
}

Index::Index(std::shared_ptr<store::Store> store, std::string path, const Options& options, bool is_new)
    : store_(std::move(store)),
      path_(std::move(path)),
      options_(options),
      fork_generation_(os::fork_generation()) {
    options_.mode = Mode::read;
    if (!is_writer()) return;
    try {
        if (is_new) Generations(*store_).remove_all();
    } catch (const Error& error) {
        note(error.what());  // a caller that wants an index there is told
    }
    store_->feed().set_after_append([this](std::uint64_t place) { after_change(place); });
    if (mode() == IndexMode::none) return;
    try {
        start();
    } catch (const Error& error) {
        note(error.what());  // the pool can be used without it
    }
}

Index::~Index() { close(); }

void Index::close() {
    if (fork_generation_ != os::fork_generation()) {
        static_cast<void>(worker_.release());
        new std::shared_ptr(std::move(keeper_));  // never touched again
        return;
    }
    if (!store_) return;
    stop();
    if (is_writer()) store_->feed().set_after_append({});
    if (keeps() && store_->is_there() && try_follow()) {
        try {
            // Programs that run for a moment would never come to it.
            const auto begin = std::chrono::steady_clock::now();
            keeper()->complete([&] { return std::chrono::steady_clock::now() - begin > longest_close; });
            if (store_->durability() != Durability::none) keeper()->sync();
            const auto engine = keeper()->engine();
            if (has_other_readers(store_->permissions()) && engine->bytes() <= most_bytes_copied_at_close)
                keeper()->publish_copy();
        } catch (const Error&) {
            // What is missing is made by whoever needs it.
        }
    }
    forget_lookups();
    keeper_.reset();
    engine_.reset();
    reader_.munmap();
    store_.reset();
}

IndexMode Index::mode() const { return mode_of_pool(*store_); }

IndexMode Index::mode_of(std::string_view id) const {
    if (!store_->exists(id))
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + path_);
    return index::mode_of(*store_, id);
}

void Index::set_mode_of(std::string_view id, std::optional<IndexMode> mode) {
    if (!is_writer())
        throw Error(Code::permission_denied,
                    path_ + " is open for reading; only who may write it chooses what its index has");
    if (!store_->exists(id))
        throw Error(Code::not_found, "there is no '" + std::string(id) + "' in " + path_);
    if (this->mode() == IndexMode::none) {
        throw Error(Code::invalid_argument, path_ + " has no index that '" + std::string(id) +
                                                "' could be in; choose a mode for the pool first");
    }
    if (mode) {
        store_->set_index_word(id, name_of(*mode));
    } else {
        store_->remove_index_word(id);
    }
    has_own_modes_ = true;
    store_->announce_all_in(id);
}

void Index::set_mode(IndexMode mode) {
    if (!is_writer())
        throw Error(Code::permission_denied,
                    path_ + " is open for reading; only who may write it chooses its index");
    // The index is made by what other processes see of the pool, and these do not see the mode before the commit.
    if (store_->in_step())
        throw Error(Code::unsupported,
                    "in a step the pool's index stays as it is; set its mode after commit");
    stop();
    mode_ = IndexMode::none;
    forget_lookups();
    store_->set_index_word("/", name_of(mode));
    if (mode != IndexMode::none) return start();
    const std::lock_guard lock(mutex_);
    keeper_.reset();
    Generations(*store_).remove_all();
}

// Nothing that is stored from here on goes unheard; what was before, the first look at all finds.
void Index::start() {
    store_->feed().start();
    const IndexMode mode = this->mode();
    has_heard_ = about_in(*keeper()->engine()->read()).position;
    has_own_modes_ = store_->has_own_index_words();
    mode_ = mode;
    worker_->stops = false;
    worker_->thread = os::start_thread([this] { work(); });
}

void Index::stop() {
    if (!worker_->thread.joinable()) return;
    {
        const std::lock_guard lock(worker_->mutex);
        worker_->stops = true;
    }
    worker_->wake.notify_all();
    worker_->thread.join();
    is_idle_ = false;
}

std::shared_ptr<Keeper> Index::keeper() {
    const std::lock_guard lock(mutex_);
    if (keeper_) return keeper_;
    if (!reader_.is_mapped()) reader_.open_alone(path_, options_, {.again = store_->itself()});
    const Generations generations(*store_);
    keeper_ = std::make_shared<Keeper>(reader_, reader_.opened(), *store_, generations, bytes_to_map());
    return keeper_;
}

void Index::note(const std::string& trouble) {
    const std::lock_guard lock(mutex_);
    trouble_ = trouble;
}

bool Index::follow(Keeper::MayMiss most) {
    const About about = keeper()->follow(most);
    has_heard_ = about.position;
    return about.is_complete != 0;
}

bool Index::try_follow(Keeper::MayMiss most) {
    try {
        if (!follow(most)) wake();
        note({});
        return true;
    } catch (const Error& error) {
        note(error.what());
        return false;
    }
}

void Index::after_change(std::uint64_t place) {
    IndexMode mode = mode_;
    if (mode == IndexMode::none) return;
    if (has_own_modes_) mode = mode_of_place(place);
    // What is left for the next ones is brought in by the thread, if none comes.
    wake();
    if (mode == IndexMode::sync && position() > has_heard_ + changes_worth_bringing_in && !is_held_up_)
        is_held_up_ = !try_follow({changes_worth_bringing_in, most_changes_behind_sync});
}

// Of a step that is committed nobody knows what is in it.
IndexMode Index::mode_of_place(std::uint64_t place) const {
    try {
        const auto id = place != 0 ? store_->id_at(place) : std::nullopt;
        return id ? index::mode_of(*store_, *id) : IndexMode::sync;
    } catch (const Error&) {
        return mode_;  // what was stored stays so, whatever has become of it
    }
}

void Index::wake() {
    if (!is_idle_.exchange(false)) return;
    const std::lock_guard lock(worker_->mutex);
    worker_->wake.notify_all();
}

void Index::work() {
    Worker& self = *worker_;
    const auto stops = [&self] {
        const std::lock_guard lock(self.mutex);
        return self.stops;
    };
    int failures = 0;
    while (wait_for_pause()) {
        bool is_complete = false;
        try {
            follow();
            is_held_up_ = false;
            is_complete = keeper()->complete(stops);
            failures = 0;
            note({});
        } catch (const Error& error) {
            failures = std::min(failures + 1, most_failures_counted);
            note(error.what());
        }
        std::unique_lock lock(self.mutex);
        if (!is_complete) {
            self.wake.wait_for(lock, nap_for_others * (1 << failures), [&self] { return self.stops; });
            continue;
        }
        is_idle_ = true;
        lock.unlock();
        const bool is_all = has_all();
        lock.lock();
        // What was changed after that look has found this thread idle, and says so.
        if (is_all) self.wake.wait(lock, [&] { return self.stops || !is_idle_; });
        is_idle_ = false;
    }
}

// False when the thread is to end.
bool Index::wait_for_pause() {
    Worker& self = *worker_;
    for (auto before = position_of_whole();;) {
        std::unique_lock lock(self.mutex);
        if (self.wake.wait_for(lock, nap, [&self] { return self.stops; })) return false;
        lock.unlock();
        const auto now = position_of_whole();
        const bool is_burst = before && now && *now - *before > changes_of_a_burst;
        if (!is_burst || *now - has_heard_ > most_changes_behind) return true;
        before = now;
    }
}

// Nothing of a pool whose file somebody has cut off (law 12): a thread of its own is told by no verb.
std::optional<std::uint64_t> Index::position_of_whole() const {
    try {
        store_->check_there();
        return position();
    } catch (const Error&) {
        return std::nullopt;
    }
}

bool Index::has_all() {
    try {
        return about_in(*keeper()->engine()->read()).position == store_->feed().position();
    } catch (const Error&) {
        return false;  // the next look tells why
    }
}

void Index::flush() {
    if (mode() == IndexMode::none) return;
    if (!is_writer())
        throw Error(Code::permission_denied,
                    path_ + " is open for reading; only who may write it keeps its index");
    std::optional<os::File> lock_file;
    std::optional<pool::Patience> patience;
    for (int rounds_alone = 0;;) {
        follow();
        const bool is_complete = keeper()->complete([] { return false; });
        if (is_complete && (!has_other_readers(store_->permissions()) || keeper()->publish_copy())) return;
        auto lock_now = os::File::open_if_exists(keeper()->lock_path(), O_RDONLY | O_NOFOLLOW);
        const bool is_alone = !lock_now || !os::conflicts(*lock_now, os::LockKind::exclusive, 0, 1);
        if (is_alone && ++rounds_alone == most_rounds_alone)
            throw Error(Code::busy, path_ + ": others keep removing its index while it is made");
        if (!lock_file) lock_file = std::move(lock_now);
        if (lock_file && !patience) patience.emplace(path_, "making the index", *lock_file, 0, nullptr);
        if (patience) patience->look();
        std::this_thread::sleep_for(nap);
    }
}

// Of who may only read: the index itself if he may say in its files that he reads it, else the last copy.
std::shared_ptr<Engine> Index::engine_to_read() {
    const std::lock_guard lock(mutex_);
    if (engine_ && engine_->is_there()) return engine_;
    engine_.reset();
    const Generations generations(*store_);
    const auto newest = generations.newest();
    if (!newest) return nullptr;
    try {
        engine_ = open_engine_if_there(generations.path(*newest), bytes_to_map());
    } catch (const Error& error) {
        if (error.kind() != Code::permission_denied) throw;
        engine_ = open_copy(generations.copy_path(*newest));
    }
    return engine_;
}

std::shared_ptr<Engine> Index::engine() { return keeps() ? keeper()->engine() : engine_to_read(); }

std::string Index::why_not() {
    const std::lock_guard lock(mutex_);
    return why_not_;
}

IndexInfo Index::info() {
    IndexInfo info;
    info.mode = mode();
    if (info.mode == IndexMode::none) return info;
    try {
        const auto engine = this->engine();
        if (engine) {
            const auto reading = engine->read();
            const About about = about_in(*reading);
            const pool::Changes changes = store_->feed().since(about.position, 0);
            info.is_complete = about.is_complete != 0 && !changes.lost;
            info.objects = reading->size(Table::objects);
            info.changes_behind = changes.lost ? 0 : changes.left;
            info.bytes = engine->bytes();
        }
    } catch (const Error& error) {
        note(error.what());
    }
    const std::lock_guard lock(mutex_);
    if (keeper_) info.objects_to_do = keeper_->to_do();
    info.trouble = trouble_;
    return info;
}

}  // namespace index

const char* name_of(IndexMode mode) noexcept {
    switch (mode) {
        case IndexMode::none:
            return "none";
        case IndexMode::async:
            return "async";
        case IndexMode::sync:
            break;
    }
    return "sync";
}

IndexMode index_mode(const PMEM& pool) { return index::Index::of(pool).mode(); }
void set_index_mode(PMEM& pool, IndexMode mode) { index::Index::of(pool).set_mode(mode); }
IndexMode index_mode(const PMEM& pool, std::string_view id) {
    if (id == "/") return index_mode(pool);
    return index::Index::of_side_of(pool, id).mode_of(id);
}
void set_index_mode(PMEM& pool, std::string_view id, std::optional<IndexMode> mode) {
    if (id == "/" && mode) return set_index_mode(pool, *mode);
    if (id == "/")
        throw Error(Code::invalid_argument, "there is no group above '/' whose mode it could have; give one");
    index::Index::of_side_of(pool, id).set_mode_of(id, mode);
}
void flush_index(PMEM& pool) { index::Index::of(pool).flush(); }
IndexInfo index_info(const PMEM& pool) { return index::Index::of(pool).info(); }

}  // namespace pmemcpy
