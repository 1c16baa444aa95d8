#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "os/file.hpp"
#include "os/fork.hpp"

namespace pmemcpy::os {

/// The size of a huge page: mappings start on a multiple of it, so that the kernel may use huge pages.
inline constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;

enum class Access { read, read_write };

struct MapRequest {
    Access access = Access::read_write;
    bool is_inherited = false;  ///< a forked child has it too, at the same place
    bool map_sync = false;      ///< MAP_SHARED_VALIDATE | MAP_SYNC: `unsupported` where refused
    std::uint64_t offset = 0;   ///< a multiple of the page size; of huge_page_bytes for huge pages
};

/// Faults in the pages that a range touches, for writing, ahead of use; false if the kernel cannot.
bool populate(std::byte* begin, std::uint64_t length);

/// A shared mapping of part of a file, which may reach beyond the file's end so that the file can grow under
/// it. Unless it is asked for, a forked child does not inherit it: what lies at these addresses there is the child's own, and the child's
/// copy of this object leaves it alone. Reading or writing beyond the file's end is SIGBUS.
class Mapping {
public:
    Mapping() = default;
    Mapping(const File& file, std::uint64_t size, MapRequest request = {});
    ~Mapping() { unmap(); }
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;

    std::byte* base() const noexcept { return base_; }
    std::uint64_t size() const noexcept { return size_; }
    bool is_mapped() const noexcept { return base_ != nullptr; }
    /// In the process that mapped it.
    bool is_of_this_process() const noexcept { return fork_generation_ == fork_generation(); }
    void unmap() noexcept;

    /// Faults the pages in for writing (reading, for a read-only mapping) ahead of use; false if the kernel
    /// cannot.
    bool populate(std::uint64_t offset, std::uint64_t length);
    /// Makes huge pages of allocated ones (MADV_COLLAPSE); false where the kernel or file system cannot.
    bool collapse(std::uint64_t offset, std::uint64_t length);
    /// msync(MS_SYNC) of the pages that the range touches. Never on devdax.
    void sync(std::uint64_t offset, std::uint64_t length);

private:
    std::byte* base_ = nullptr;
    std::uint64_t size_ = 0;
    std::string path_;
    bool writable_ = false;
    bool is_inherited_ = false;
    std::uint64_t fork_generation_ = 0;
};

}  // namespace pmemcpy::os
