// Targets that pools of other jobs use too: what this one may have of them, who the others are, and what their dead have left.

#include "layout/claim.hpp"
#include "layout/handed.hpp"
#include "os/space.hpp"
#include "store/store.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>

namespace pmemcpy::store {

double Store::piece_takes_s(std::uint32_t target) const {
    constexpr double piece_bytes = 4 << 20;
    const auto t = target < layout::first_target_below ? nullptr : tiering();
    if (!t) return 0;
    const auto level = t->level_of(target);
    if (!level) return 0;
    const Speed& speed = t->hierarchy.targets[*level].write;
    return speed.latency_s + piece_bytes / speed.bytes_per_second;
}

// Where others use the directory too, the capacity is what this pool could have of it now: its part, or more as long as nobody needs that.
void Store::share_out(std::uint32_t target, tier::Level& level) const {
    const auto standing = targets_.standing_in(target);
    if (!standing) return;
    const std::uint64_t room = standing->room_bytes + pool_.reserved(target);
    level.remaining = std::min(level.remaining, room);
    const bool gives_back = standing->excess_bytes > 0;
    const std::uint64_t most = gives_back ? 0 : level.movable + level.remaining;
    level.capacity = std::min(level.capacity, std::max(standing->part_bytes, most));
}

// Who has nobody that does it in the background gives back himself what others need, before he stores more.
bool Store::give_way(Tiering& t, const std::array<tier::Level, tier::most_targets>& ledger) {
    if (t.has_background()) return false;
    bool has_given = false;
    for (std::size_t level = 1; level + 1 < t.numbers.size(); ++level) {
        if (ledger[level].movable <= ledger[level].capacity) continue;
        make_room(t, level, 0, false);
        has_given = true;
    }
    return has_given;
}

// A pool's path is told by what it has claimed there; who may not look at that sees only what it takes.
void Store::tell_others(std::uint32_t target, TargetInfo& info) const {
    const shares::View view = targets_.others_in(target);
    info.together_bytes = view.total_bytes;
    info.part_bytes = view.part_bytes;
    for (const shares::Other& other : view.others) {
        const std::string pool = other.directory.empty()
                                     ? std::string()
                                     : layout::claimant_of(info.target.path + "/" + other.directory);
        info.others.push_back({.pool = pool,
                               .used_bytes = other.used_bytes,
                               .share = other.weight,
                               .is_open = other.is_open,
                               .needs_room = other.needs,
                               .is_writing = other.writes});
    }
}

std::vector<TargetInfo> Store::targets() const {
    check_readable();
    const auto t = tiering();
    std::vector<TargetInfo> infos;
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    TargetInfo top;
    if (t) top.target = t->hierarchy.targets[0];
    if (!t) top.target.name = "pool";
    const std::uint64_t all = pool_.super().chunk_count * chunk_bytes;
    top.capacity_bytes = top.target.capacity_bytes == 0 ? all : std::min(all, top.target.capacity_bytes);
    top.used_bytes = heap_.count_taken_chunks() * chunk_bytes;
    infos.push_back(std::move(top));
    for (std::size_t i = 1; t && i < t->numbers.size(); ++i) {
        TargetInfo info;
        info.target = t->hierarchy.targets[i];
        info.trouble = targets_.trouble_of(t->numbers[i]);
        info.used_bytes = targets_.used_bytes(t->numbers[i]);
        info.capacity_bytes = info.target.capacity_bytes;
        if (i == t->flush_level && !t->hierarchy.flush.command.empty() && !targets_.is_away(t->numbers[i]))
            info.command_trouble = layout::Handed::trouble_in(targets_.files_of(t->numbers[i])->directory());
        if (i == t->flush_level && !t->hierarchy.flush.as.empty() && info.command_trouble.empty())
            info.command_trouble = finishing_trouble(*t);
        if (info.capacity_bytes == 0 && info.trouble.empty())
            info.capacity_bytes =
                info.used_bytes + os::free_bytes(os::File::open(info.target.path, O_RDONLY | O_DIRECTORY));
        if (info.trouble.empty()) tell_others(t->numbers[i], info);
        infos.push_back(std::move(info));
    }
    return infos;
}

std::vector<std::string> Store::left_by_dead_jobs() {
    std::vector<std::string> pools;
    const auto t = tiering();
    for (std::size_t level = 1; t && level < t->numbers.size(); ++level) {
        if (!targets_.trouble_of(t->numbers[level]).empty()) continue;
        for (const shares::Other& other : targets_.others_in(t->numbers[level]).others) {
            if (other.is_open || !other.may_have_scratch || other.directory.empty()) continue;
            // Nobody opens for writing what another user has written the name of.
            const std::string& directory = t->hierarchy.targets[level].path;
            const std::string pool = layout::own_claimant_of(directory + "/" + other.directory);
            if (!pool.empty()) pools.push_back(pool);
        }
    }
    return pools;
}

}  // namespace pmemcpy::store
