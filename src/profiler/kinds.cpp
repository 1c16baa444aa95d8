#include "profiler/kinds.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "os/names.hpp"

namespace pmemcpy::profiler {

namespace {

using namespace std::string_view_literals;

constexpr std::array pseudo = {
    "autofs"sv,  "bdev"sv,    "binder"sv,      "binfmt_misc"sv, "bpf"sv,
    "cgroup"sv,  "cgroup2"sv, "configfs"sv,    "cpuset"sv,      "debugfs"sv,
    "devfs"sv,   "devpts"sv,  "devtmpfs"sv,    "drm"sv,         "efivarfs"sv,
    "fusectl"sv, "mqueue"sv,  "nsfs"sv,        "pipefs"sv,      "proc"sv,
    "pstore"sv,  "ramfs"sv,   "rpc_pipefs"sv,  "securityfs"sv,  "selinuxfs"sv,
    "smackfs"sv, "sockfs"sv,  "squashfs"sv,    "sysfs"sv,       "tracefs"sv,
    "iso9660"sv, "nfsd"sv,    "fuse.portal"sv, "fuse.lxcfs"sv,  "fuse.gvfsd-fuse"sv,
    "resctrl"sv,
};

// That other nodes see.
constexpr std::array shared = {
    "nfs"sv,      "nfs4"sv,  "lustre"sv, "gpfs"sv,      "beegfs"sv, "ceph"sv,
    "cifs"sv,     "smb3"sv,  "afs"sv,    "glusterfs"sv, "ocfs2"sv,  "gfs2"sv,
    "orangefs"sv, "pvfs2"sv, "panfs"sv,  "wekafs"sv,    "coda"sv,   "bcefs"sv,
};

// The same of file systems that a program serves. Behind others, as encfs or bindfs, there may be a directory of this node.
constexpr std::array shared_by_fuse = {
    "fuse.sshfs"sv, "fuse.glusterfs"sv, "fuse.mfs"sv,    "fuse.ceph-fuse"sv, "fuse.dfuse"sv,
    "fuse.s3fs"sv,  "fuse.juicefs"sv,   "fuse.rclone"sv, "fuse.unifyfs"sv,   "fuse.moosefs"sv,
};

template <class List>
bool has(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

std::optional<std::string> device_folder(const os::Mount& mount) {
    if (mount.source.starts_with("/dev/")) {
        const std::string name = mount.source.substr(mount.source.rfind('/') + 1);
        if (auto folder = os::real_path("/sys/class/block/" + name)) return folder;
    }
    return os::real_path("/sys/dev/block/" + mount.device_number);
}

}  // namespace

bool is_pseudo(std::string_view file_system) { return has(pseudo, file_system); }

TargetKind kind_of(const os::Mount& mount) {
    if (mount.file_system == "tmpfs" || mount.file_system == "hugetlbfs") return TargetKind::tmpfs;
    if (has(shared, mount.file_system) || has(shared_by_fuse, mount.file_system)) return TargetKind::shared;
    if (mount.has_option("dax") || mount.has_option("dax=always")) return TargetKind::dax;
    return TargetKind::file;
}

std::string medium_of(const os::Mount& mount) {
    switch (kind_of(mount)) {
        case TargetKind::tmpfs:
            return "memory";
        case TargetKind::dax:
            return "persistent memory";
        case TargetKind::shared:
            return "network";
        case TargetKind::file:
            break;
    }
    const auto folder = device_folder(mount);
    if (!folder) return "";
    if (folder->find("/nvme") != std::string::npos) return "nvme";
    // A partition has its queue in the folder above.
    auto rotates = os::read_text(*folder + "/queue/rotational");
    if (!rotates) rotates = os::read_text(*folder + "/../queue/rotational");
    if (!rotates) return "";
    return *rotates == "0" ? "ssd" : "disk";
}

}  // namespace pmemcpy::profiler
