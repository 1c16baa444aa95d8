#pragma once

#include <cstdint>
#include <pmemcpy/type.hpp>
#include <string>

namespace pmemcpy::cli {

/// A datetime64 as NumPy prints it: "2026", "2026-05", "2026-05-01T13", "2026-05-01T13:45:10.250", "NaT".
/// Years that ISO 8601 has no digits for are printed as "123 days since 1970".
std::string datetime_text(std::int64_t ticks, TimeUnit unit);

/// "days", "nanoseconds".
const char* name_of(TimeUnit unit) noexcept;

}  // namespace pmemcpy::cli
