#pragma once

#include "mover/mover.hpp"
#include "mover/requests.hpp"
#include "operate/operator.hpp"
#include "pmem/at_exit.hpp"
#include "store/store.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/scope.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::pmem {

/// What one user sees of a pool: the pool, which is shared, and a pool beside it that is his own, if he has one. Both have the same
/// names, and of what is on both the private one counts.
class Sides {
public:
    Sides(std::shared_ptr<store::Store> shared, const Options& options);
    ~Sides();
    Sides(const Sides&) = delete;
    Sides& operator=(const Sides&) = delete;

    /// Null where this user has none, as far as this process knows: what is not found on the shared side may be on the other.
    PMEM* known_own() const { return own_.load(std::memory_order_acquire); }
    /// Null where this user has none.
    PMEM* own() {
        if (const PMEM* known = known_own()) check_there(*known);
        if (shared_->scopes() != seen_.load(std::memory_order_acquire)) look_again();
        PMEM* const there = own_.load(std::memory_order_acquire);
        if (there != nullptr) settle_step(*there);
        return there;
    }
    /// Made, if there is none. Errors: those of private_side().
    PMEM& make_own();
    /// Null where there is none.
    std::shared_ptr<store::Store> own_store();
    const std::shared_ptr<store::Store>& shared() const { return shared_; }

    /// The side on which an id is, or would be made.
    const std::shared_ptr<store::Store>& of(std::string_view id);
    /// The scope of an object that is made now under an id: that of the nearest group around it that set_scope() gave one, or that is on
    /// the private side alone; shared where there is none.
    Scope scope_around(std::string_view id) const;

    /// This PMEM has begun a step on the shared side.
    void enter_step(std::uint64_t step);
    void leave_step();
    bool in_step() const { return step_ != 0; }
    void close();
    ReadCounters read_counters();
    /// Says what is needed, and has it brought up if it is.
    std::uint64_t say(std::string_view id, const std::optional<Box>& box, tier::Need need);
    void set_prefetcher(mover::Prefetcher next);
    /// Asks whoever works in the background; that is this process, if there is no other.
    void request(Request what, std::string_view id, std::uint32_t urgency);
    std::uint64_t requests() { return requests_.size(*shared_); }
    /// The shared side wipes from here on what is freed. Errors: busy; the message says if a thread of this process is in the way.
    void start_wiping();
    /// Whoever operates on hinted variables of the side that has an id; made, if there is none.
    operate::Operator& operator_of(std::string_view id);
    /// Those of both sides, as far as there are any.
    std::vector<operate::Operator*> operators();

    /// Opens a pool with both of its sides.
    static void open(PMEM& pool, const std::string& place, const Options& options, const store::Which& which);
    static Sides& of(const PMEM& pool);
    /// What this PMEM sees: one side or two.
    static std::vector<std::shared_ptr<store::Store>> seen_by(const PMEM& pool);
    /// One side alone, for a reader or a move that may not see the other: through an attachment of its own. A move checks what it loads.
    PMEM alone(const store::Store& side, Mode mode) const;
    static bool is_alone(const PMEM& pool) { return pool.sides_ == nullptr; }
    static store::Store& store_of(const PMEM& alone) { return alone.opened(); }
    /// One at a time moves what is on one side to the other.
    std::mutex& moving() { return moving_mutex_; }

private:
    void move_in_background();
    void end_background();
    void let_go();
    void look_again();
    std::optional<std::string> find_own() const;
    void operate_in_background();
    void open_own(const std::string& path, Mode mode);
    static void check_there(const PMEM& own);
    void settle_step(PMEM& there);
    void begin_own(PMEM& there, std::uint64_t step);

    std::shared_ptr<store::Store> shared_;
    Options options_;
    std::string step_note_;  // what its notes of steps begin with; set where it is opened, which few do
    std::atomic<std::uint64_t> seen_ = 0;
    std::atomic<PMEM*> own_ = nullptr;
    std::mutex mutex_;
    std::unique_ptr<PMEM> opened_;
    std::atomic<std::uint64_t> step_ = 0;
    std::mutex moving_mutex_;
    std::mutex mover_mutex_;
    std::unique_ptr<mover::Mover>
        mover_;  // null as long as no hierarchy wants it, and nobody wants something of it
    mover::Requests requests_;
    // Null as long as nothing on that side has a hint.
    std::unique_ptr<operate::Operator> operator_;
    std::unique_ptr<operate::Operator> own_operator_;
    std::unique_ptr<AtExit> at_exit_;
};

/// Notes: on a group of the private side, the scope that set_scope() gave it, by name; on the private pool, that something is being moved,
/// and under which name in the shared one.
inline constexpr std::string_view scope_note = "pmemcpy:scope";
inline constexpr std::string_view moving_note = "pmemcpy:moving";
/// And on the shared one, with the user and the step behind it, that what this user has stored in that step belongs to it.
inline constexpr std::string_view step_note = "pmemcpy:step-";

/// What a process that died while it moved something has left: what is private is not shared any more. Of who may write.
void finish_moves(Sides& sides);

}  // namespace pmemcpy::pmem
