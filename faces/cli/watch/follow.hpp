#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// What became of one variable between two looks.
struct News {
    Info info;  ///< as it is now; of an erased one only the id counts
    bool is_erased = false;
    std::uint64_t bytes = 0;  ///< of what is new in it
    double bytes_per_second =
        0;  ///< those, by the time between the last write that was seen before and this; 0: unknown
};

/// Compares a pool with what it was at the last look. Only reads, so nobody waits for it. What came and went between two
/// looks is not seen.
class Follower {
public:
    /// `id` empty: all variables; a group: those in it; else one variable, which need not be there yet.
    explicit Follower(std::string id) : id_(std::move(id)) {}

    /// What is new since the last look, the oldest first; at the first look nothing.
    /// Cost: reads the record of each variable and each block.
    std::vector<News> look(const PMEM& pmem);
    /// What the pool held last, by id.
    const std::map<std::string, Info>& variables() const noexcept { return variables_; }
    /// From now on another pool is looked at: all that is in it is new.
    void begin_anew();

private:
    using Versions = std::vector<std::uint64_t>;  // of an array's blocks, ascending
    std::vector<std::string> ids(const PMEM& pmem) const;
    std::optional<News> compare(const Info& info, const std::vector<BlockInfo>& blocks);

    std::string id_;
    bool has_looked_ = false;
    std::map<std::string, Info> variables_;
    std::map<std::string, Versions> versions_;
};

}  // namespace pmemcpy::cli
