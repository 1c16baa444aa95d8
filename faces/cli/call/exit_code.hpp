#pragma once

#include <pmemcpy/error.hpp>
#include <string>

namespace pmemcpy::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_damage = 1;     ///< what verify found; also not_found
inline constexpr int exit_different = 1;  ///< what diff found
inline constexpr int exit_missed = 1;     ///< the time was over before what was waited for came
inline constexpr int exit_usage = 2;

/// The exit status that stands for an error. Scripts rely on these numbers.
int exit_code(Code code) noexcept;

/// The table of all exit statuses, as --help prints it.
std::string exit_code_table();

}  // namespace pmemcpy::cli
