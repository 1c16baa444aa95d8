#pragma once

namespace pmemcpy {

/// The promise of a medium about a store that has returned, weakest first.
enum class Durability {
    none,  ///< nothing survives a power loss (tmpfs, hugetlbfs, volatile CXL memory)
    page,  ///< everything before the last successful `sync()` survives (page cache, virtio-pmem)
    line,  ///< a flushed cache line survives (fsdax with MAP_SYNC, persistent devdax)
    byte,  ///< a visible store survives (the platform writes its caches back at power loss)
};

/// Whether to map with MAP_SYNC, which makes flushed lines durable without a system call.
enum class MapSync {
    off,        ///< never: page durability through `sync()`
    on,         ///< required: `unsupported` where the file system refuses
    automatic,  ///< where it works
};

/// `"none"`, `"page"`, `"line"` or `"byte"`.
constexpr const char* name_of(Durability durability) noexcept {
    switch (durability) {
        case Durability::none:
            return "none";
        case Durability::page:
            return "page";
        case Durability::line:
            return "line";
        case Durability::byte:
            return "byte";
    }
    return "none";
}

}  // namespace pmemcpy
