#pragma once

namespace pmemcpy::base {

/// Prints where which assertion failed and why, and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* text, const char* file,
                                   unsigned line) noexcept;

}  // namespace pmemcpy::base

/// A programmer's mistake, checked in release builds too: never for bytes that come from media or from users.
#define PMEMCPY_ASSERT(condition, text)                                                        \
    do {                                                                                       \
        if (!(condition)) [[unlikely]]                                                         \
            ::pmemcpy::base::assertion_failed(#condition, text, __FILE__, unsigned{__LINE__}); \
    } while (false)
