#pragma once

#include "os/file.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pmemcpy::spaces {

/// A pool that is about to be made. If it goes into a namespace, however its path was written, that has a word in it; else nothing
/// here does anything.
class Newcomer {
public:
    /// `path`: of the pool's file or directory.
    explicit Newcomer(const std::string& path);

    /// How large it may grow by the namespace's quota, when `asked` (0: as large as possible) was asked for.
    /// Errors: no_space, when that is more than is left of the quota.
    std::uint64_t admit(std::uint64_t asked) const;

    /// When it has its name: gives it the list of a grant that came while it was made. The grant's side has changed the pattern before
    /// it looks for pools; this side has its name before it looks at the pattern. So one of the two sees the other.
    void settle() const;

private:
    std::optional<os::File> space_;
    std::string file_;
};

}  // namespace pmemcpy::spaces
