#pragma once

#include <cstddef>
#include <span>

namespace pmemcpy::exchange {

/// Bytes that come one after the other: of a file, of a member of an archive, of an array on its way out.
class ByteSource {
public:
    ByteSource() = default;
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    virtual ~ByteSource() = default;

    /// How many of these have been read: all of them unless the end came before.
    virtual std::size_t read(std::span<std::byte> into) = 0;
};

}  // namespace pmemcpy::exchange
