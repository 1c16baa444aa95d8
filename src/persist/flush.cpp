#include "persist/flush.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace pmemcpy::persist {

namespace {

using FlushLines = void (*)(std::uintptr_t first_line, std::uintptr_t end);

/// One way of writing lines back, as this processor has it.
struct Flusher {
    const char* name;
    FlushLines flush;
};

#if defined(__x86_64__)

// Written as assembly, so that each stands in one binary whatever processor it was compiled for.
void by_clwb(std::uintptr_t line, std::uintptr_t end) {
    for (; line < end; line += line_bytes) asm volatile("clwb (%0)" ::"r"(line) : "memory");
}
void by_clflushopt(std::uintptr_t line, std::uintptr_t end) {
    for (; line < end; line += line_bytes) asm volatile("clflushopt (%0)" ::"r"(line) : "memory");
}
void by_clflush(std::uintptr_t line, std::uintptr_t end) {
    for (; line < end; line += line_bytes) asm volatile("clflush (%0)" ::"r"(line) : "memory");
}

Flusher choose() noexcept {
    constexpr unsigned leaf = 7;
    constexpr unsigned has_clflushopt = 1u << 23;
    constexpr unsigned has_clwb = 1u << 24;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(leaf, 0, &a, &b, &c, &d) != 0) {
        if ((b & has_clwb) != 0) return {"clwb", by_clwb};
        if ((b & has_clflushopt) != 0) return {"clflushopt", by_clflushopt};
    }
    return {"clflush", by_clflush};
}

#elif defined(__aarch64__)

// dc cvap, to the point of persistence, by its encoding: older assemblers do not know the name.
void by_cvap(std::uintptr_t line, std::uintptr_t end) {
    for (; line < end; line += line_bytes) asm volatile("sys #3, c7, c12, #1, %0" ::"r"(line) : "memory");
}
void by_cvac(std::uintptr_t line, std::uintptr_t end) {
    for (; line < end; line += line_bytes) asm volatile("dc cvac, %0" ::"r"(line) : "memory");
}

Flusher choose() noexcept {
    if ((getauxval(AT_HWCAP) & HWCAP_DCPOP) != 0) return {"dc cvap", by_cvap};
    return {"dc cvac", by_cvac};
}

#endif

const Flusher& flusher() noexcept {
    static const Flusher chosen = choose();
    return chosen;
}

}  // namespace

void flush_lines(const void* bytes, std::size_t size) noexcept {
    if (size == 0) return;
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes);
    flusher().flush(begin & ~std::uintptr_t{line_bytes - 1}, begin + size);
}

const char* flush_instruction() noexcept { return flusher().name; }

}  // namespace pmemcpy::persist
