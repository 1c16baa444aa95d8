#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <utility>

namespace pmemcpy::cli {

/// A pool that is looked at for long, during which it may be removed, or another one may take its place.
class Followed {
public:
    /// Errors: what opening a pool for reading can meet.
    explicit Followed(const std::string& path);

    enum class Fate { same, gone, replaced };
    /// What has become of it since the last call. What is gone is let go of, so that its space is free.
    Fate look();
    bool is_there() const noexcept { return pmem_.is_mapped(); }
    /// Only while it is there.
    const PMEM& pmem() const noexcept { return pmem_; }

private:
    using File = std::pair<std::uint64_t, std::uint64_t>;  // device and inode
    static File file_at(const std::string& path);
    void open();

    std::string path_;
    File file_;
    PMEM pmem_;
};

}  // namespace pmemcpy::cli
