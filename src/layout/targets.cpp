#include "layout/targets.hpp"

#include "layout/claim.hpp"
#include "layout/place.hpp"
#include "os/directory.hpp"
#include "os/names.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace pmemcpy::layout {

using heap::Bytes;
using heap::Extent;
using persist::Medium;

namespace {

constexpr std::uint64_t look_again_ns = 100'000'000;

std::string text_of(Trouble why) {
    switch (why) {
        case Trouble::full:
            return "its device is full, of other things than this pool's";
        case Trouble::failed:
            return "its device failed (see the system's log)";
        case Trouble::corrupt:
            return "it gave back other bytes than were written";
        case Trouble::slow:
            return "it was a hundred times slower than the hierarchy says; `pmemcpy profile` measures it "
                   "anew";
        case Trouble::none:
            break;
    }
    return "it was in trouble";
}

std::string own_directory(const Mount& mount, const pool::Pool& pool) {
    return mount.path + "/" + claimed_name(pool);
}

// Nothing where something else than a directory is in the way.
std::optional<os::File> find_own(const Mount& mount, const pool::Pool& pool, int flags) try {
    return os::File::open_if_exists(own_directory(mount, pool), flags | O_DIRECTORY | O_NOFOLLOW);
} catch (const Error& error) {
    if (error.kind() != Code::not_found) throw;
    return std::nullopt;
}

os::File open_own(const Mount& mount, const pool::Pool& pool) {
    auto directory = find_own(mount, pool, O_RDONLY);
    if (!directory) {
        throw Error(Code::io_error, "target '" + mount.name + "' of " + pool.path() +
                                        " is not there: " + own_directory(mount, pool) +
                                        " is missing. Mount what was there, or restore it from a copy");
    }
    return std::move(*directory);
}

// Of a copy of a pool's file, that it is one, or that its user may not even say so: it reads what the pool has there, and changes nothing.
std::optional<Error> refusal_in(const os::File& directory, pool::Pool& pool) {
    if (pool.read_only()) return std::nullopt;
    try {
        claim(directory, pool);
        return std::nullopt;
    } catch (const Error& error) {
        if (error.kind() != Code::busy && error.kind() != Code::permission_denied) throw;
        return error;
    }
}

}  // namespace

Targets::Below::Below(heap::Heap& heap, const Mount& its)
    : mount(its),
      directory(open_own(its, heap.pool())),
      refusal(refusal_in(directory, heap.pool())),
      asked_ns(os::coarse_ns()),
      share(refusal ? nullptr : share_of(heap.pool(), its)),
      files(heap, directory,
            {its.number, its.capacity_bytes == 0 ? ~std::uint64_t{0} : its.capacity_bytes, its.name,
             share.get(), refusal.has_value()}),
      throttle(its.limits ? std::make_unique<Throttle>(its.path, *its.limits) : nullptr),
      looked_ns(os::coarse_ns()) {
    files.tell_used();
}

// Who only reads takes part in nothing.
std::shared_ptr<shares::Share> Targets::share_of(const pool::Pool& pool, const Mount& mount) {
    if (pool.read_only()) return nullptr;
    return shares::Share::open(mount.path, pool.super().uuid, mount.terms);
}

// Its descriptor leads to it also when it was unmounted, or another file system was mounted over it, where others would not find what is put there.
bool Targets::Below::is_there(const pool::Pool& pool) {
    const std::uint64_t now = os::coarse_ns();
    if (now - looked_ns < look_again_ns) return true;
    looked_ns = now;
    const auto found = find_own(mount, pool, O_PATH);
    if (!found || found->identity() != directory.identity() || (share && !share->is_there())) return false;
    files.tell_used();
    return true;
}

Targets::Targets(heap::Heap& heap, Mounts mounts) : heap_(heap), mounts_of_(std::move(mounts)) {
    heap_.set_outside(this);
    heap_.pool().set_before_sync([this] {
        if (home_ != nullptr) home_->make_durable();
        if (Medium::load(&heap_.pool().state().hierarchy.value) == 0) return;
        std::vector<Mount> all;
        {
            const std::lock_guard lock(mutex_);
            look_again();
            all = mounts_;
        }
        // All of them, for what others have stored there has to be durable too. One that is away was synced when it was unmounted.
        for (const Mount& mount : all) {
            if (!is_away(mount.number)) below(mount.number)->files.make_durable();
        }
    });
}

Targets::~Targets() {
    heap_.set_outside(nullptr);
    heap_.pool().set_before_sync({});
}

void Targets::set_home(PayloadFiles* home) {
    home_ = home;
    heap_.set_home(home == nullptr ? 0 : directory_target);
}

// Holding the mutex. What is mapped or being written by somebody lives on with him.
void Targets::look_again() {
    const std::uint64_t now = Medium::load(&heap_.pool().state().hierarchy.value);
    if (now == hierarchy_ && now % 2 == 0) return;  // odd: somebody changes it, or died when he did
    mounts_ = mounts_of_();
    hierarchy_ = now;
    below_ = {};
}

// The pool that a copy was made of may have gone since, so the copy asks again, at most each tenth of a second.
std::shared_ptr<Targets::Below> Targets::below(std::uint32_t target) {
    auto there = below_to_read(target);
    if (!there->refusal) return there;
    if (os::coarse_ns() - there->asked_ns < look_again_ns) throw Error(*there->refusal);
    {
        const std::lock_guard lock(mutex_);
        if (below_.at(target) == there) below_.at(target).reset();
    }
    return below(target);
}

std::shared_ptr<Targets::Below> Targets::below_to_read(std::uint32_t target) {
    const std::lock_guard lock(mutex_);
    look_again();
    std::shared_ptr<Below>& there = below_.at(target);
    if (there && there->is_there(heap_.pool())) return there;
    there.reset();
    const auto mount =
        std::find_if(mounts_.begin(), mounts_.end(), [&](const Mount& m) { return m.number == target; });
    if (mount == mounts_.end()) {
        throw Error(Code::corrupt, heap_.pool().path() + " has blocks in a target of number " +
                                       std::to_string(target) + ", which its hierarchy does not have");
    }
    there = std::make_shared<Below>(heap_, *mount);
    return there;
}

Extent Targets::allocate(std::uint32_t target, std::uint64_t length) {
    if (target == directory_target) return home_->allocate(length);
    return below(target)->files.allocate(length);
}

bool Targets::may_be(std::uint32_t target) const {
    return target == directory_target ? home_ != nullptr : target < targets_end;
}

Bytes Targets::map(const Extent& extent, bool create) {
    if (extent.target == directory_target) return home_->map(extent, create);
    return (create ? below(extent.target) : below_to_read(extent.target))->files.map(extent, create);
}

void Targets::shrink(Extent& extent, std::uint64_t length) {
    if (extent.target == directory_target) return home_->shrink(extent, length);
    below(extent.target)->files.shrink(extent, length);
}

void Targets::settle(const Extent& extent) {
    if (extent.target == directory_target) return home_->settle(extent);
    below(extent.target)->files.settle(extent);
}

void Targets::free(const Extent& extent) {
    if (!may_be(extent.target)) return;
    if (extent.target == directory_target) return home_->free(extent);
    try {
        below(extent.target)->files.free(extent);
    } catch (const Error&) {
        // A target that is not there keeps its files until a recovery that finds it.
    }
}

void Targets::keep_only(const std::vector<Extent>& extents) {
    std::vector<Extent> at_home;
    kept_.clear();
    for (const Extent& extent : extents)
        (extent.target == directory_target ? at_home : kept_).push_back(extent);
    if (home_ != nullptr) home_->keep_only(at_home);
    recovered_ = true;
    recovered_before_ = Medium::load(&heap_.pool().state().next_version.value);
}

void Targets::finish_recovery() {
    if (!std::exchange(recovered_, false)) return;
    const auto kept = std::exchange(kept_, {});
    std::vector<Mount> mounts;
    try {
        const std::lock_guard lock(mutex_);
        look_again();
        mounts = mounts_;
        std::uint64_t* const word = &heap_.pool().state().hierarchy.value;
        // Whoever set it may have died before the word came to the medium.
        const std::uint64_t now = Medium::load(word);
        if (now % 2 != 0) heap_.pool().medium().fetch_add(word, 1);
        if (now == 0 && !mounts.empty()) heap_.pool().medium().fetch_add(word, 2);
    } catch (const Error&) {
        return;  // damaged: who meets a block below is told
    }
    for (const Mount& mount : mounts) {
        std::vector<Extent> its;
        std::copy_if(kept.begin(), kept.end(), std::back_inserter(its),
                     [&](const Extent& extent) { return extent.target == mount.number; });
        try {
            below(mount.number)->files.keep_only(its, recovered_before_);
        } catch (const Error&) {
            // Not there now: a later recovery, which finds it, removes what nobody names.
        }
    }
}

std::shared_ptr<PayloadFiles> Targets::files_of(std::uint32_t target) {
    const auto there = below(target);
    return {there, &there->files};
}

std::uint64_t Targets::used_bytes(std::uint32_t target) const {
    return PayloadFiles::used_bytes(&heap_.pool().state().targets.at(target - first_target_below).bytes);
}

std::optional<shares::Standing> Targets::standing_in(std::uint32_t target) try {
    const auto there = below(target);
    if (!there->share) return std::nullopt;
    return there->share->standing(there->files.claimed_bytes());
} catch (const Error&) {
    return std::nullopt;  // one that is not there is set aside as a whole
}

void Targets::want(std::uint32_t target, std::uint64_t bytes) {
    if (target < first_target_below) return;
    try {
        const auto there = below(target);
        if (there->share) there->share->want(there->files.claimed_bytes(), bytes);
    } catch (const Error&) {
        // One that is not there has no room for anybody.
    }
}

Targets::Turn::Turn(Targets& targets, std::uint32_t target, double takes_s) {
    if (target < first_target_below) return;
    const auto there = targets.below(target);
    if (!there->share) return;
    share_ = there->share;
    turn_.emplace(share_.get(), takes_s);
}

void Targets::end_scratch(std::uint32_t target) {
    const auto there = below(target);
    if (there->share) there->share->end_scratch();
}

shares::View Targets::others_in(std::uint32_t target) try {
    Mount mount;
    {
        const std::lock_guard lock(mutex_);
        look_again();
        const auto found =
            std::find_if(mounts_.begin(), mounts_.end(), [&](const Mount& m) { return m.number == target; });
        if (found == mounts_.end()) return {};
        mount = *found;
    }
    return shares::Share::look(mount.path, heap_.pool().super().uuid, mount.terms);
} catch (const Error&) {
    return {};  // who may not look into the directory is not told who else is there
}

void Targets::wait_for(std::uint32_t target, Throttle::Way way, std::uint64_t bytes) {
    std::shared_ptr<Below> there;
    try {
        there = below_to_read(target);
    } catch (const Error&) {
        return;  // gone since: who reads or writes there is told by that, and not that it were the fault of another
    }
    if (there->throttle) there->throttle->take(way, bytes);
}

bool Targets::is_away(std::uint32_t target) {
    try {
        below(target);
        return false;
    } catch (const Error&) {
        return true;
    }
}

void Targets::check_reached(std::uint32_t target, const os::File& written) {
    const std::string& path = written.path();
    if (os::identity_at(path) == written.identity()) return;
    throw Error(Code::io_error, "target '" + name_of(target) + "' of " + heap_.pool().path() +
                                    " has gone: what was just written as " + path +
                                    " is not there any more. Mount what was there, or move it back");
}

bool Targets::is_reached(std::uint32_t target) {
    try {
        check_reached(target, below(target)->directory);
        return true;
    } catch (const Error&) {
        return false;
    }
}

void Targets::set_aside(std::uint32_t target, Trouble why) {
    pool::TargetState& state = heap_.pool().state().targets.at(target - first_target_below);
    heap_.pool().medium().store(&state.aside_why, static_cast<std::uint64_t>(why));
    heap_.pool().medium().store(&state.aside_until_ns, os::wall_ns() + aside_ns);
}

std::string Targets::trouble_of(std::uint32_t target) {
    try {
        const auto there = below(target);
        const pool::TargetState& state = heap_.pool().state().targets.at(target - first_target_below);
        const std::uint64_t until = Medium::load(&state.aside_until_ns);
        const std::uint64_t now = os::wall_ns();
        // Farther off than anybody sets: by a clock that was put back since.
        if (until <= now || until - now > aside_ns) return {};
        return "target '" + there->mount.name + "' of " + heap_.pool().path() + " is set aside for " +
               std::to_string(1 + (until - now) / 1'000'000'000) +
               " s: " + text_of(static_cast<Trouble>(Medium::load(&state.aside_why)));
    } catch (const Error& error) {
        return error.what();
    }
}

void Targets::prepare(const Mount& mount) {
    pool::Pool& pool = heap_.pool();
    if (!os::is_directory(mount.path)) {
        throw Error(Code::not_found, "target '" + mount.name + "': there is no directory " + mount.path +
                                         "; make it, or mount it");
    }
    const std::string path = own_directory(mount, pool);
    os::make_directory(path, directory_mode(pool.file().mode_bits()));
    claim(os::File::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), pool);
    // What will be made durable in it is found as long as it has its own name.
    os::File::open(mount.path, O_RDONLY | O_DIRECTORY).sync_all();
}

std::string Targets::name_of(std::uint32_t target) {
    const std::lock_guard lock(mutex_);
    look_again();
    for (const Mount& mount : mounts_) {
        if (mount.number == target) return mount.name;
    }
    return "target " + std::to_string(target);
}

}  // namespace pmemcpy::layout
