#pragma once

#include <cstdint>
#include <string>

#include "exchange/numpy/byte_source.hpp"

namespace pmemcpy::exchange {

/// A file that is read or written from its beginning to its end. Errors of all: what the kernel says, with the file's name.
class PlainFile : public ByteSource {
public:
    static PlainFile existing(const std::string& path);
    /// Nothing is there yet.
    static PlainFile made(const std::string& path);
    ~PlainFile() override;

    std::uint64_t bytes() const;
    std::size_t read(std::span<std::byte> into) override;
    void write(std::span<const std::byte> bytes);
    /// A file that was written is whole only when this has returned.
    void close();

private:
    PlainFile(std::string path, int flags, const char* what);

    std::string path_;
    int fd_;
};

}  // namespace pmemcpy::exchange
