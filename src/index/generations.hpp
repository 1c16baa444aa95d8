#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/file.hpp"
#include "store/store.hpp"

namespace pmemcpy::index {

/// Which files an index is in: `<pool>.idx/<generation>`, of which only the newest counts. A new one is begun when the old one is
/// full, damaged or removed; whoever has the old one open notices that it is gone.
class Generations {
public:
    explicit Generations(const store::Store& store) : store_(&store) {}
    /// Errors: busy where the pool's name leads to another pool by now, whose index lies there.
    std::string directory() const { return store_->path_beside(".idx"); }
    /// Errors: permission_denied, when the directory is somebody's who may not write the pool.
    std::optional<std::uint64_t> newest() const;
    std::string path(std::uint64_t generation) const;
    std::string copy_path(std::uint64_t generation) const { return path(generation) + "/copy"; }
    /// Whoever may write the pool, by its mode, may write it, and whoever may read the pool may read it.
    void make(std::uint64_t generation) const;
    void remove_all_before(std::uint64_t generation) const;
    void remove_all() const;

private:
    std::optional<os::File> root() const;
    void make_one(const std::string& path) const;
    const store::Store* store_;
};

}  // namespace pmemcpy::index
