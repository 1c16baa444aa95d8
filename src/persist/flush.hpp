#pragma once

#include <cstddef>

namespace pmemcpy::persist {

/// What one flush instruction writes back.
inline constexpr std::size_t line_bytes = 64;

/// Starts the write-back of every cache line that [bytes, bytes + size) touches, with the gentlest
/// instruction that this processor has. In order only at the next store_fence().
void flush_lines(const void* bytes, std::size_t size) noexcept;

/// `"clwb"`, `"clflushopt"`, `"clflush"`, `"dc cvap"` or `"dc cvac"`.
const char* flush_instruction() noexcept;

/// Orders all stores before it, non-temporal ones and flushes among them, before all stores after it.
inline void store_fence() noexcept {
#if defined(__x86_64__)
    asm volatile("sfence" ::: "memory");
#elif defined(__aarch64__)
    asm volatile("dsb sy" ::: "memory");
#else
#error "pMEMCPY knows x86-64 and aarch64"
#endif
}

}  // namespace pmemcpy::persist
