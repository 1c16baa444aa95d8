#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <pmemcpy/durability.hpp>
#include <pmemcpy/tiers.hpp>
#include <string>
#include <vector>

// The profiler: finds places on this node for a pool and its targets, and measures how fast each is.
//
//     pmemcpy profile -o hierarchy.yaml          # or with directories: pmemcpy profile /local/scratch /lustre/run7 -o hierarchy.yaml
//     pmemcpy tiers run.pmem hierarchy.yaml
//
// docs/profile.md says what is measured, and how. Every function here forks children, because a hanging
// device holds the process that asks it: call them where forking is allowed.

namespace pmemcpy {

/// A possible place for a target.
struct Place {
    std::string path{};         ///< the mount point, or the directory that was named; for devdax the device
    std::string file_system{};  ///< the kernel's name: "ext4", "fuse.sshfs"
    std::string device{};       ///< "/dev/nvme0n1p2", "server:/export"
    std::string
        medium{};  ///< "memory", "persistent memory", "nvme", "ssd", "disk", "network"; empty: unknown
    TargetKind kind = TargetKind::file;
    std::uint64_t size_bytes = 0;
    std::uint64_t free_bytes = 0;  ///< for this user
    std::string hindrance{};       ///< why it cannot be a target, in a sentence; empty if it can
};

/// Options for measuring. The defaults suit a node whose places hold gigabytes.
struct ProfileOptions {
    double seconds = 20;  ///< time for everything, whatever the number and speed of the places
    /// Space used in one place, and never more than an eighth of what is free.
    std::uint64_t bytes = 256 << 20;
    /// Processes that measure together, after one alone; 0: one for each core, at most 8.
    unsigned processes = 0;
    double reserve = 0.1;  ///< part of the free space that is left to others
    /// a mount with less is skipped, unless its directory is named
    std::uint64_t least_free_bytes = 1 << 30;
    std::string pool{};  ///< the directory for the pool; empty: the fastest place
    double factor = 2;   ///< figures that differ by less count as equal
};

/// A place that was left out of the profile.
struct SetAside {
    std::string path{};
    std::string why{};
};

/// The result of measuring.
struct Profile {
    Hierarchy hierarchy;  ///< the fastest first; the pool should lie at the first one's `measured->at`
    std::vector<SetAside> set_aside{};
};

/// Progress of a measurement.
struct ProfileProgress {
    std::string path{};  ///< the place being measured
    double seconds = 0, of_seconds = 0;
};

/// The result of checking one target against its profile.
struct Fit {
    enum class State {
        fits,
        differs,     ///< another file system or another speed than when measured
        gone,        ///< no such directory, or nothing can be written to it
        unmeasured,  ///< never measured: a person wrote its figures
    };
    std::string target{};
    State state = State::fits;
    std::string why{};  ///< a sentence; given with `fits` only if there was no room to measure
};

/// The name of a state: "fits", "differs", "gone", "unmeasured".
const char* name_of(Fit::State state) noexcept;

/// Lists the mounts of this node and its devdax devices, with the reason for each that cannot be a target.
/// Leaves out pseudo file systems.
/// Cost: one child for each mount, all at once. A mount that does not answer within two seconds gets that as
///     its hindrance.
std::vector<Place> find_places(const ProfileOptions& options = {});

/// Measures the given directories, or, without any, all usable places of find_places(), at most eight. For
/// each: large and small accesses, writing and reading, by one process and by several. A place that cannot be
/// measured is set aside, with the reason. Calls `progress` some times a second, and at the start of each
/// place.
/// Crash: a killed process leaves nothing behind: files have no name, or lose it before any data is written.
/// Errors: invalid_argument for options that make no sense, more than eight directories, or a directory given
///     twice; not_found when no place could be measured, with the reason for each.
/// Cost: at most options.seconds, and a fifth of a second for each place that hangs.
/// Source: Hermes (Kougkas, Devarakonda, Sun; HPDC 2018), section 3.1.2: the system profiler.
Profile profile(const std::vector<std::string>& directories = {}, const ProfileOptions& options = {},
                const std::function<void(const ProfileProgress&)>& progress = {});

/// Checks each target of a hierarchy against its figures: the same file system, the same size, and the speeds
/// of one process within options.factor of a quick measurement.
/// Cost: at most options.seconds; options.bytes as for profile().
std::vector<Fit> check_profile(const Hierarchy& hierarchy, const ProfileOptions& options = {},
                               const std::function<void(const ProfileProgress&)>& progress = {});

/// Measures targets again that differ or were never measured, and keeps everything else: names, paths,
/// policy, modes, rules. It also keeps a capacity, unless the target has none or lies on another file system
/// now. A target that has become faster than its upper neighbour by more than options.factor moves up; blocks
/// are flushed to the same target as before.
/// Errors: invalid_argument when a target is now faster to write than the pool by more than the factor: the
///     pool should then lie there.
Profile profile_again(const Hierarchy& hierarchy, const ProfileOptions& options = {},
                      const std::function<void(const ProfileProgress&)>& progress = {});

/// Joins a pool and directories on other devices into one: blocks of arrays go into the pool while it has
/// room, then into the first directory, and so on. Nothing moves by itself. Values, attributes and records
/// stay in the pool. Nothing is measured: all devices count as equally fast.
///
///     set_hierarchy(pool, joined("/mnt/pmem1/run.pmem", {"/mnt/pmem2", "/mnt/pmem3"}));
///
/// Errors: invalid_argument for more than seven directories, for one given twice, and for one where nothing
///     can be stored, with the reason.
/// Source: MOSIQS (Khan et al.), section 4: /dev/pmem[1-6], aggregated.
Hierarchy joined(const std::string& pool, const std::vector<std::string>& directories);

}  // namespace pmemcpy
