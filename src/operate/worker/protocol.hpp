#pragma once

#include <cstdint>

// What goes between a process and the worker that calls a function for it: a frame, and behind it the elements. Both are of one build
// of the library, so there is no other version of it. What the worker has written is not trusted: a function may have written it.

namespace pmemcpy::operate {

struct Frame {
    std::uint64_t magic;
    std::int32_t state;  // a FrameState
    std::int32_t kind;   // a Kind
    std::int32_t ndims;
    std::uint32_t text_bytes;
    std::uint64_t data_bytes;
    std::uint64_t dims[32];
    char text[1024];  // why it failed
};

enum FrameState : std::int32_t { frame_array = 1, frame_failed = 2, frame_checked = 3 };

inline constexpr std::uint64_t frame_magic = 0x50504d2d4f504552;
inline constexpr std::uint64_t data_offset = 4096;
static_assert(sizeof(Frame) <= data_offset);

}  // namespace pmemcpy::operate
