#pragma once

#include <pmemcpy/tiers.hpp>

namespace pmemcpy::tier {

inline constexpr std::uint32_t most_share = 1000;
inline constexpr std::size_t most_targets = 8;

/// Whether it makes sense by itself, whatever there is on this machine. Errors: invalid_argument.
void check(const Hierarchy& hierarchy);

/// The place of a target in the hierarchy. Errors: invalid_argument, with the names that there are.
std::size_t level_of(const Hierarchy& hierarchy, std::string_view target);

/// Errors: invalid_argument.
TargetKind parse_kind(std::string_view text);
Policy parse_policy(std::string_view text);
Trigger parse_trigger(std::string_view text);
Promotion parse_promotion(std::string_view text);
Replacement parse_replacement(std::string_view text);

/// Another mode for all ids that a glob matches, "/" for the whole hierarchy: see pmemcpy::set_mode().
void set_mode(Hierarchy& hierarchy, std::string_view match, Buffering mode);

/// Whether somebody copies to the flush target, or stores there, what has this mode.
bool is_flushed_by_itself(Buffering mode);

/// Of a capacity.
inline std::uint64_t part_of(std::uint64_t capacity, double part) {
    return static_cast<std::uint64_t>(part * static_cast<double>(capacity));
}

/// The place in the hierarchy of the target to which blocks are flushed; 0 where there is none below the pool.
std::size_t flush_level(const Hierarchy& hierarchy);

}  // namespace pmemcpy::tier
