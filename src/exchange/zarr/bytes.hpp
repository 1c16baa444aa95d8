#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pmemcpy::exchange {

/// Leaves new bytes as they are: a chunk that a file only claims to be large takes no memory before it is decompressed.
template <class T>
struct Untouched : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Untouched<U>;
    };
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        if constexpr (sizeof...(Arguments) == 0)
            ::new (static_cast<void*>(at)) U;
        else
            ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
};

using Bytes = std::vector<std::byte, Untouched<std::byte>>;

/// No chunk or inner chunk may have more, coded or not: Blosc's limit, and a bound of what a file can make us ask for.
inline constexpr std::uint64_t most_chunk_bytes = (1ULL << 31) - 4096;

/// Where a coded chunk is: a file, or a part of one.
class ZarrSource {
public:
    ZarrSource() = default;
    virtual ~ZarrSource() = default;
    ZarrSource(const ZarrSource&) = delete;
    ZarrSource& operator=(const ZarrSource&) = delete;

    virtual std::uint64_t size() const = 0;
    /// The range lies within the size. Errors: io_error, corrupt if it is shorter all the same.
    virtual void read(std::uint64_t offset, std::span<std::byte> to) const = 0;
};

class ZarrFile final : public ZarrSource {
public:
    /// Errors: not_found, permission_denied; corrupt for what is no file.
    explicit ZarrFile(std::string path);
    ~ZarrFile() override;
    std::uint64_t size() const override { return size_; }
    void read(std::uint64_t offset, std::span<std::byte> to) const override;

private:
    std::string path_;
    int fd_ = -1;
    std::uint64_t size_ = 0;
};

class ZarrMemory final : public ZarrSource {
public:
    explicit ZarrMemory(std::span<const std::byte> bytes) : bytes_(bytes) {}
    std::uint64_t size() const override { return bytes_.size(); }
    void read(std::uint64_t offset, std::span<std::byte> to) const override;

private:
    std::span<const std::byte> bytes_;
};

class ZarrRange final : public ZarrSource {
public:
    ZarrRange(const ZarrSource& whole, std::uint64_t offset, std::uint64_t size)
        : whole_(whole), offset_(offset), size_(size) {}
    std::uint64_t size() const override { return size_; }
    void read(std::uint64_t offset, std::span<std::byte> to) const override {
        whole_.read(offset_ + offset, to);
    }

private:
    const ZarrSource& whole_;
    std::uint64_t offset_;
    std::uint64_t size_;
};

}  // namespace pmemcpy::exchange
