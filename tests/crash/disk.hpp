#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "os/calls.hpp"

namespace pmemcpy::crash {

inline constexpr int died = 77;  // exit status of a process whose power was cut

/// The bytes of a file; of none, none.
std::string bytes_of(const std::filesystem::path& path);

/// What of the things that were not synced is there when the power is back.
struct Luck {
    std::string name;
    std::function<bool()> has_names;  // of a directory, those that it has now
    std::function<bool()> has_bytes;  // of a file, those that it has now
};

/// A directory as a disk would keep it: its files lie in memory, and what was synced beside them. Also the file of the pool that has a target there.
class Disk {
public:
    /// Whether the pool's file is behind a page cache too, or in memory that loses nothing; and whether pools in the directory are.
    Disk(const std::filesystem::path& folder, bool pool_is_paged, bool below_is_paged = true);
    ~Disk();
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    std::string root() const { return folder_ / "below"; }
    std::string pool() const { return folder_ / "pool"; }
    void clear();
    /// All that lies there now is durable.
    void keep_everything() const { keep_all(root()); }

    /// From here on this process works on it, until the power goes before this call of those that change something.
    void run(std::uint64_t cut_at) {
        is_running_ = true;
        cut_at_ = cut_at;
    }
    std::uint64_t calls() const { return state_->calls; }
    void acknowledge() { ++state_->acknowledged; }
    std::size_t acknowledged() const { return state_->acknowledged; }
    /// How many verbs were acknowledged when the pool was synced last.
    std::size_t synced() const { return state_->synced; }
    bool is_pool_synced() const { return std::filesystem::exists(folder_ / "kept" / "pool"); }

    /// What lies below becomes what is left of it.
    void lose_below(const Luck& luck);
    void restore_below();
    /// In its own inode, by which a target knows whose it is.
    void lose_pool();
    void restore_pool(const std::string& bytes);

    /// The kernel's, but for what is synced and where the power goes. Of the one Disk that there is.
    static os::Calls calls_of_it();

private:
    struct Entry {
        ino_t inode = 0;
        bool is_directory = false;
        mode_t mode = 0;
    };
    using Names = std::map<std::string, Entry>;
    // All processes see it.
    struct State {
        std::uint64_t calls = 0;
        std::size_t acknowledged = 0;
        std::size_t synced = 0;
    };
    friend struct DiskCalls;

    std::filesystem::path kept(ino_t inode, const char* what) const;
    void keep(int fd, const std::string& path);
    void keep_names(const std::filesystem::path& directory) const;
    void keep_all(const std::filesystem::path& directory) const;
    static Names names_now(const std::filesystem::path& directory);
    Names names_kept(ino_t directory) const;
    void put(const std::optional<std::filesystem::path>& now, ino_t inode, const std::filesystem::path& to,
             const Luck& luck);

    std::filesystem::path folder_;
    bool pool_is_paged_;
    bool below_is_paged_;
    State* state_;
    bool is_running_ = false;
    std::uint64_t cut_at_ = ~std::uint64_t{0};
};

}  // namespace pmemcpy::crash
