#include "persist/kernels.hpp"

#if defined(__aarch64__)

#include <arm_neon.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/crc32c.hpp"
#include "base/crc32c_instruction.hpp"
#include "base/crc32c_shift.hpp"

#define PMEMCPY_TARGET __attribute__((target("+crc")))

namespace pmemcpy::persist {

namespace {

/// 64 bytes on their way.
struct Line {
    PMEMCPY_TARGET static Line load(const std::byte* from) {
        const auto* at = reinterpret_cast<const std::uint8_t*>(from);
        return {vld1q_u8(at), vld1q_u8(at + 16), vld1q_u8(at + 32), vld1q_u8(at + 48)};
    }
    PMEMCPY_TARGET static Line broadcast(int byte) {
        const uint8x16_t quarter = vdupq_n_u8(static_cast<std::uint8_t>(byte));
        return {quarter, quarter, quarter, quarter};
    }
    // stnp has no intrinsic.
    PMEMCPY_TARGET void stream(std::byte* to) const {
        asm volatile("stnp %q0, %q1, [%2]\n\tstnp %q3, %q4, [%2, #32]" ::"w"(a), "w"(b), "r"(to), "w"(c),
                     "w"(d)
                     : "memory");
    }
    PMEMCPY_TARGET void keep(std::byte* to) const {
        auto* at = reinterpret_cast<std::uint8_t*>(to);
        vst1q_u8(at, a);
        vst1q_u8(at + 16, b);
        vst1q_u8(at + 32, c);
        vst1q_u8(at + 48, d);
    }

    uint8x16_t a, b, c, d;
};

constexpr std::size_t lane_bytes = 16;

#include "persist/range_loop.inc"
#include "persist/stream_loop.inc"

}  // namespace

const Kernels kernels_neon{"neon",      true,        stream,   keep, stream_crc, stream_characterised,
                           stream_fill, stream_rows, widen_any};

}  // namespace pmemcpy::persist

#endif
