#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <pmemcpy/durability.hpp>
#include <pmemcpy/tiers.hpp>
#include <string>
#include <vector>

// The profiler: finds where this node has room for a pool and the targets below it, and measures how fast each of these places is.
//
//     pmemcpy profile -o hierarchy.yaml          # or with directories: pmemcpy profile /local/scratch /lustre/run7 -o hierarchy.yaml
//     pmemcpy tiers run.pmem hierarchy.yaml
//
// docs/profile.md says what is measured, and how. Every function here forks children, because a device that hangs holds whoever
// asks it: call them where forking is allowed.

namespace pmemcpy {

/// Where a target could be.
struct Place {
    std::string path{};  ///< the mount point, or the directory that was asked for; of devdax the device
    std::string file_system{};  ///< as the kernel calls it: "ext4", "fuse.sshfs"
    std::string device{};       ///< "/dev/nvme0n1p2", "server:/export"
    std::string
        medium{};  ///< "memory", "persistent memory", "nvme", "ssd", "disk", "network"; empty: unknown
    TargetKind kind = TargetKind::file;
    std::uint64_t size_bytes = 0;
    std::uint64_t free_bytes = 0;  ///< for this user
    std::string hindrance{};       ///< why it can be no target, in a sentence; empty if it can
};

/// How to profile. The defaults suit a node whose places hold gigabytes.
struct ProfileOptions {
    double seconds =
        20;  ///< all that measuring may take, however many places there are and however slow they are
    std::uint64_t bytes =
        256 << 20;  ///< at most so much of a place is taken, and never more than an eighth of what is free
    unsigned processes = 0;  ///< measured besides one; 0: one for each core, at most 8
    double reserve = 0.1;    ///< of what is free, this part is left to others
    std::uint64_t least_free_bytes =
        1 << 30;         ///< a mount with less is no place, unless its directory is asked for
    std::string pool{};  ///< the directory where the pool is to be; empty: the fastest place
    double factor = 2;   ///< figures that differ by less count as the same
};

/// A place that is not in the profile.
struct SetAside {
    std::string path{};
    std::string why{};
};

/// What was measured.
struct Profile {
    Hierarchy hierarchy;  ///< the fastest first; the first one's `measured->at` is where the pool should be
    std::vector<SetAside> set_aside{};
};

/// How measuring goes.
struct ProfileProgress {
    std::string path{};  ///< what is being measured
    double seconds = 0, of_seconds = 0;
};

/// Whether a target is still what it was measured to be.
struct Fit {
    enum class State {
        fits,
        differs,     ///< another file system than then, or another speed
        gone,        ///< there is no such directory, or nothing can be written to it
        unmeasured,  ///< nobody has measured it: its figures are a person's word
    };
    std::string target{};
    State state = State::fits;
    std::string why{};  ///< a sentence; of one that fits only if there was no room to measure it
};

const char* name_of(Fit::State state) noexcept;

/// The mounts of this node, and devdax devices, with what hinders those that can be no target. Pseudo file systems are left out.
/// Cost: a child for each mount, all at once; a mount that does not answer within two seconds has that as its hindrance.
std::vector<Place> find_places(const ProfileOptions& options = {});

/// Measures the given directories, or, without any, all of find_places() that nothing hinders, at most eight of them. Of each: large and
/// small accesses, writing and reading, by one process and by several. What cannot be measured is set aside, with the reason.
/// `progress` is called some times a second, and when a place's turn comes.
/// Crash: nothing stays behind, whoever is killed: files have no name, or lose it before anything is written into them.
/// Errors: invalid_argument for options that make no sense, more than eight directories, or a directory that is given twice; not_found when
///     no place could be measured, with the reason for each.
/// Cost: at most options.seconds, and a fifth of a second for each place that hangs.
/// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.1.2: the system profiler.
Profile profile(const std::vector<std::string>& directories = {}, const ProfileOptions& options = {},
                const std::function<void(const ProfileProgress&)>& progress = {});

/// Says of each target of a hierarchy whether its figures still fit: the same file system, the same size, and speeds of one process that
/// a quick measurement finds within options.factor.
/// Cost: at most options.seconds; options.bytes as for profile().
std::vector<Fit> check_profile(const Hierarchy& hierarchy, const ProfileOptions& options = {},
                               const std::function<void(const ProfileProgress&)>& progress = {});

/// Measures the targets anew that differ or that nobody has measured, and keeps everything else: names, paths, policy, modes, rules; a capacity
/// too, unless the target lies on another file system now or has none. What is faster now than its upper neighbour by more than options.factor
/// moves up, and blocks are flushed to the same target as before.
/// Errors: invalid_argument when a target is faster to write now than the pool by more than the factor: another pool is needed then, there.
Profile profile_again(const Hierarchy& hierarchy, const ProfileOptions& options = {},
                      const std::function<void(const ProfileProgress&)>& progress = {});

/// A pool and directories on other devices, as if all of them were one: blocks of arrays go into the pool as long as it has room, then into the first
/// directory, and so on; nothing moves by itself. Values, attributes and all that tells of blocks are in the pool. Nothing is
/// measured: the devices count as equally fast.
///
///     set_hierarchy(pool, joined("/mnt/pmem1/run.pmem", {"/mnt/pmem2", "/mnt/pmem3"}));
///
/// Errors: invalid_argument for more than seven directories, for one that is given twice, or that nothing can be stored in, with the reason.
/// Source: MOSIQS (Khan et al.), section 4: /dev/pmem[1-6], aggregated.
Hierarchy joined(const std::string& pool, const std::vector<std::string>& directories);

}  // namespace pmemcpy
