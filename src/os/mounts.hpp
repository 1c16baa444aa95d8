#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::os {

/// A file system where this process sees it.
struct Mount {
    std::string device_number{};  ///< "259:2"; the same for all mounts of one file system
    std::string root{};           ///< what of the file system is mounted: "/" is all of it
    std::string point{};
    std::string options{};        ///< of this mount, by commas: "rw,relatime"
    std::string file_system{};    ///< "ext4", "nfs4", "fuse.sshfs"
    std::string source{};         ///< "/dev/nvme0n1p2", "server:/export"; for some any word
    std::string super_options{};  ///< of the file system: "rw,dax=always"

    bool has_option(std::string_view option) const;
};

/// What a text as /proc/self/mountinfo says, in its order: of two mounts at one point the later is seen. A line that is none is left out:
/// the kernel may add fields, and what nobody understands nobody can use.
std::vector<Mount> parse_mounts(std::string_view mountinfo);
/// Those of this process; none where /proc is missing.
std::vector<Mount> mounts();
/// The mount that a path without symbolic links lies in; nullptr if none of these.
const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path);

}  // namespace pmemcpy::os
