#include "pmem/sides.hpp"

#include "array/id.hpp"
#include "operate/hints.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "store/side.hpp"

#include <pmemcpy/error.hpp>

#include <utility>

namespace pmemcpy::pmem {
namespace {

constexpr unsigned others_bits = 0077;

/// The scope that a note gives its group.
Scope scope_in(std::string_view note) { return note == name_of(Scope::shared) ? Scope::shared : Scope::own; }

Options options_of_own(const store::Store& shared, Options options) {
    options.layout = Layout::file;
    options.max_bytes = shared.super().max_bytes;
    options.chunk_bytes = shared.super().chunk_bytes;
    options.initial_bytes = 0;
    options.permissions = 0600;
    options.index = IndexMode::none;
    options.prepare = false;
    options.wipe = false;
    return options;
}

}  // namespace

Sides::Sides(std::shared_ptr<store::Store> shared, const Options& options)
    : shared_(std::move(shared)), options_(options_of_own(*shared_, options)) {
    look_again();
    if (shared_->read_only()) return;
    at_exit_ = std::make_unique<AtExit>([this] { end_background(); });
    shared_->set_on_hierarchy([this] { move_in_background(); });
    try {
        if (shared_->background()) {
            shared_->meet_targets();
            move_in_background();
        }
    } catch (const Error&) {
        // A hierarchy that cannot be read keeps nobody from what lies in the pool; who needs it is told.
    }
}

// Under the mutex.
void Sides::operate_in_background() {
    if (!operator_ && operate::has_hints(*shared_)) operator_ = std::make_unique<operate::Operator>(*shared_);
    if (opened_ && !own_operator_ && operate::has_hints(*opened_->store_))
        own_operator_ = std::make_unique<operate::Operator>(*opened_->store_);
}

operate::Operator& Sides::operator_of(std::string_view id) {
    const auto& side = of(id);
    const std::lock_guard lock(mutex_);
    const bool is_own = side != shared_;
    std::unique_ptr<operate::Operator>& its = is_own ? own_operator_ : operator_;
    if (!its) its = std::make_unique<operate::Operator>(*side);
    return *its;
}

std::vector<operate::Operator*> Sides::operators() {
    const std::lock_guard lock(mutex_);
    std::vector<operate::Operator*> all;
    for (const auto* its : {&operator_, &own_operator_}) {
        if (*its) all.push_back(its->get());
    }
    return all;
}

void Sides::start_wiping() {
    try {
        shared_->start_wiping();
    } catch (const Error& error) {
        const bool has_mover = [&] {
            const std::lock_guard lock(mover_mutex_);
            return mover_ != nullptr;
        }();
        if (error.kind() != Code::busy || (!has_mover && operators().empty())) throw;
        const std::string what = has_mover ? "that serves its hierarchy" : "that operates on its arrays";
        const std::string way_out =
            has_mover ? "take the hierarchy away (pmemcpy tiers --remove)" : "remove the hints";
        throw Error(Code::busy, shared_->path() + ": a thread of this process " + what +
                                    " has it open too, and the first private object of a pool needs the pool "
                                    "alone, unless it was made to wipe (Options::wipe, pmemcpy create "
                                    "--wipe); " +
                                    way_out +
                                    ", open the pool anew, make one object private, and give it back");
    }
}

void Sides::move_in_background() {
    const std::lock_guard lock(mover_mutex_);
    if (mover_) return;
    mover_ = std::make_unique<mover::Mover>(*shared_);
    shared_->set_on_read([its = mover_.get()](store::Store::Read read) { its->note(std::move(read)); });
    shared_->set_on_store([its = mover_.get()] { its->note_store(); });
}

std::uint64_t Sides::say(std::string_view id, const std::optional<Box>& box, tier::Need need) {
    std::vector<store::Store::Read> blocks = shared_->say(id, box, need);
    const std::uint64_t count = blocks.size();
    if (need == tier::Need::soon && count > 0) {
        move_in_background();
        const std::lock_guard lock(mover_mutex_);
        mover_->want(std::move(blocks));
    }
    return count;
}

void Sides::set_prefetcher(mover::Prefetcher next) {
    shared_->check_may_promote();
    move_in_background();
    const std::lock_guard lock(mover_mutex_);
    mover_->set_prefetcher(next ? std::make_shared<const mover::Prefetcher>(std::move(next)) : nullptr);
}

void Sides::request(Request what, std::string_view id, std::uint32_t urgency) {
    shared_->check_may_be_asked();
    if (of(id) != shared_)
        throw Error(Code::unsupported, "'" + std::string(id) +
                                           "' is private, and lies in no target of the pool; share it first");
    requests_.ask(*shared_, what, id, urgency);
    move_in_background();
}

// Whoever closes the pool, or ends without closing it, waits for what the hierarchy lets him wait for.
void Sides::end_background() {
    shared_->set_on_hierarchy({});
    shared_->set_on_read({});
    shared_->set_on_store({});
    const std::lock_guard lock(mover_mutex_);
    if (!mover_) return;
    if (!shared_->is_forked() && shared_->is_there()) shared_->announce_done();
    mover_.reset();
}

Sides::~Sides() {
    at_exit_.reset();
    if (!shared_->is_forked()) end_background();
}

// In a forked child. A mutex may have been locked by a thread that the child does not have; and the only thread that it has is here.
void Sides::let_go() {
    mover_.reset();
    operator_.reset();
    own_operator_.reset();
    own_ = nullptr;
    if (const auto own = std::exchange(opened_, nullptr)) own->munmap();
}

ReadCounters Sides::read_counters() {
    const std::lock_guard lock(mover_mutex_);
    return mover_ ? mover_->read_counters() : ReadCounters{};
}

void Sides::look_again() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t now = shared_->scopes();
    if (!opened_) {
        if (const auto path = find_own()) open_own(*path, shared_->read_only() ? Mode::read : Mode::update);
    }
    try {
        if (!shared_->read_only()) operate_in_background();
    } catch (const Error&) {
        // A hint that cannot be read keeps nobody from what lies in the pool; who asks for it is told.
    }
    seen_.store(now, std::memory_order_release);
}

PMEM& Sides::make_own() {
    if (PMEM* there = own()) return *there;
    if (shared_->is_device()) {
        throw Error(Code::unsupported,
                    shared_->path() +
                        " is a device, and no file beside it would be the user's own; private "
                        "objects need a pool in a file");
    }
    if (shared_->read_only())
        throw Error(Code::not_found, "you have no private objects beside " + shared_->path() +
                                         ", and it is open for reading; open it for writing to begin");
    const std::lock_guard lock(mutex_);
    if (!opened_) {
        std::optional<std::string> path = find_own();
        if (!path) {
            path = shared_->path_beside(store::private_ending());
            if (os::exists(*path)) store::move_side_aside(*path, *shared_);
        }
        open_own(*path, Mode::create_or_update);
    }
    shared_->announce_scopes();
    return *opened_;
}

// What was made beside another pool of this name has another name in the end, and comes back with that pool. Beside a pool that was moved
// nothing is opened; that there is nothing to be opened lets its user go on.
std::optional<std::string> Sides::find_own() const {
    if (shared_->is_device()) return std::nullopt;
    const std::string ending = store::private_ending();
    const bool is_in_place = shared_->is_in_place();
    std::vector<std::string> places = {shared_->path_beside_name(ending)};
    if (const auto now = is_in_place ? std::nullopt : shared_->path_now()) places.push_back(*now + ending);
    for (const std::string& place : places) {
        for (const std::string& path : {place, store::place_aside(place, shared_->origin())}) {
            if (!os::exists(path) || !store::is_side_of(path, *shared_)) continue;
            shared_->check_in_place();
            return path;
        }
    }
    return std::nullopt;
}

void Sides::open_own(const std::string& path, Mode mode) {
    auto opened = std::make_unique<PMEM>();
    Options options = options_;
    options.mode = mode;
    step_note_ = std::string(step_note) + std::to_string(os::user_id()) + "-";
    // What a process has left that died in commit() when the shared side had the step is kept.
    opened->open_alone(path, options,
                       {.committed = shared_->committed_with(step_note_), .side_of = shared_->origin()});
    if (!shared_->is_in_place()) {
        opened->withdraw();
        shared_->check_in_place();
    }
    // Looked at as it is open, so that nobody can put another one there in between.
    const store::Store& store = *opened->store_;
    if (store.owner() != os::user_id() || (store.permissions() & others_bits) != 0) {
        throw Error(Code::permission_denied, path +
                                                 " holds your private objects, and others may open it; "
                                                 "if you did not make it, remove it");
    }
    settle_step(*opened);
    if (step_ != 0) begin_own(*opened, step_);
    opened_ = std::move(opened);
    own_.store(opened_.get(), std::memory_order_release);
}

std::shared_ptr<store::Store> Sides::own_store() {
    PMEM* there = own();
    return there == nullptr ? nullptr : there->store_;
}

const std::shared_ptr<store::Store>& Sides::of(std::string_view id) {
    PMEM* there = own();
    if (there == nullptr || id == "/") return shared_;  // a whole pool cannot be private
    const auto is_group = there->store_->is_group(id);
    if (is_group == false) return there->store_;
    const auto is_shared_group = shared_->is_group(id);
    // Members that a group which is being made private still has on the shared side, and members by others.
    if (is_shared_group == false || (is_shared_group && !is_group)) return shared_;
    if (is_group && !is_shared_group) return there->store_;
    // A group is on the other side also when it only leads to something there.
    const auto note = is_group ? there->store_->note(id, scope_note) : std::nullopt;
    return (note ? scope_in(*note) : scope_around(id)) == Scope::own ? there->store_ : shared_;
}

// A group that only private objects have made is as private as they are. Where a variable lies around an id, its side refuses the member.
Scope Sides::scope_around(std::string_view id) const {
    const PMEM* there = own_.load(std::memory_order_acquire);
    if (there == nullptr) return Scope::shared;
    const std::vector<std::string_view> groups = array::parents(id);
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        const auto is_group = there->store_->is_group(*group);
        const auto is_shared_group = shared_->is_group(*group);
        if (is_group == false) return Scope::own;
        if (is_shared_group == false) return Scope::shared;
        if (const auto note = there->store_->note(*group, scope_note)) return scope_in(*note);
        if (is_group && !is_shared_group) return Scope::own;
    }
    return Scope::shared;
}

void Sides::enter_step(std::uint64_t step) {
    PMEM* const there = own();
    const std::lock_guard lock(mutex_);
    if (there != nullptr) begin_own(*there, step);
    step_ = step;
}

// Under the mutex. Of a step that is begun anew nothing of the dead may be left on this side when the shared one has dropped it: so they
// are known before this process is in it, and the note, which the shared side would drop with the step, comes last.
void Sides::begin_own(PMEM& there, std::uint64_t step) {
    if (const std::uint64_t newest = there.store_->committed_step();
        newest >= step && newest > shared_->committed_step()) {
        throw Error(
            Code::invalid_argument,
            there.store_->path() + " holds your private objects, with steps up to " + std::to_string(newest) +
                ", which the pool does not know: the pool is of an earlier time, as after a backup was put "
                "back, or that step was committed alone; begin a later step, or remove that file");
    }
    there.store_->tell_of_deaths();
    const std::uint64_t before = there.store_->step();
    there.store_->begin(step);
    try {
        shared_->note_step(step_note_, step);
    } catch (...) {
        there.store_->go_back_to(before);
        throw;
    }
}

void Sides::leave_step() {
    const std::lock_guard lock(mutex_);
    step_ = 0;
}

void Sides::check_there(const PMEM& own) { own.store_->check_there(); }

// Between the two words that a commit writes, one on each side, its process may have died, or be held.
void Sides::settle_step(PMEM& there) { there.store_->settle_with(*shared_, step_note_); }

void Sides::close() {
    at_exit_.reset();
    if (shared_->is_forked()) return let_go();
    end_background();
    const std::lock_guard lock(mutex_);
    operator_.reset();
    own_operator_.reset();
    own_ = nullptr;
    if (const auto own = std::exchange(opened_, nullptr)) own->munmap();
}

void Sides::open(PMEM& pool, const std::string& place, const Options& options, const store::Which& which) {
    pool.open_alone(place, options, which);
    try {
        pool.sides_ = std::make_shared<Sides>(pool.store_, options);
        if (pool.sides_->known_own() != nullptr) finish_moves(*pool.sides_);
    } catch (...) {
        pool.munmap();
        throw;
    }
}

Sides& Sides::of(const PMEM& pool) {
    pool.opened().check_usable();
    if (!pool.sides_) throw Error(Code::invalid_argument, "one side of a pool has no sides of its own");
    return *pool.sides_;
}

std::vector<std::shared_ptr<store::Store>> Sides::seen_by(const PMEM& pool) {
    pool.opened().check_usable();
    std::vector<std::shared_ptr<store::Store>> seen = {pool.store_};
    if (auto own = pool.sides_ ? pool.sides_->own_store() : nullptr) seen.push_back(std::move(own));
    return seen;
}

PMEM Sides::alone(const store::Store& side, Mode mode) const {
    PMEM pool;
    Options options = options_;
    options.layout = Layout::automatic;
    options.mode = mode;
    if (mode != Mode::read) options.verify_loads = true;  // what is moved is erased where it was
    pool.open_alone(side.path(), options, {.again = side.itself()});
    return pool;
}

}  // namespace pmemcpy::pmem
