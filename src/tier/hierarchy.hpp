#pragma once

#include <pmemcpy/tiers.hpp>

namespace pmemcpy::tier {

inline constexpr std::size_t most_targets = 8;

/// Whether it makes sense by itself, whatever there is on this machine. Errors: invalid_argument.
void check(const Hierarchy& hierarchy);

/// The place of a target in the hierarchy. Errors: invalid_argument, with the names that there are.
std::size_t level_of(const Hierarchy& hierarchy, std::string_view target);

/// Errors: invalid_argument.
TargetKind parse_kind(std::string_view text);
Policy parse_policy(std::string_view text);
Buffering parse_mode(std::string_view text);
Promotion parse_promotion(std::string_view text);
Replacement parse_replacement(std::string_view text);

/// The place in the hierarchy of the target to which blocks are flushed; 0 where there is none below the pool.
std::size_t flush_level(const Hierarchy& hierarchy);

}  // namespace pmemcpy::tier
