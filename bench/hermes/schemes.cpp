#include "schemes.hpp"

#include <filesystem>

namespace pmemcpy::hermes {

namespace {

Target device(const Devices& devices, const std::string& name, TargetKind kind, double write, double read,
              double latency_s, std::uint64_t capacity_bytes) {
    Target target;
    target.name = name;
    target.kind = kind;
    target.path = devices.folder + "/" + name;
    target.capacity_bytes = capacity_bytes;
    target.write = {write * devices.pfs_bytes_per_second, latency_s};
    target.read = {read * devices.pfs_bytes_per_second, latency_s};
    target.limited = true;
    std::filesystem::create_directories(target.path);
    return target;
}

}  // namespace

std::vector<std::string> scheme_names() {
    return {"top",           "flushing",     "none",         "elevator", "datawarp",
            "max-bandwidth", "max-locality", "reorganizing", "hot-data"};
}

Hierarchy hierarchy_for(const std::string& scheme, const Devices& devices, bool is_persistent) {
    Hierarchy h;
    Target ram;
    ram.name = "ram";
    ram.kind = TargetKind::tmpfs;
    ram.write = {118 * devices.pfs_bytes_per_second, 1e-7};
    ram.read = {105 * devices.pfs_bytes_per_second, 1e-7};
    h.targets.push_back(ram);
    const Target nvme = device(devices, "nvme", TargetKind::file, 45, 44, 20e-6, devices.nvme_bytes);
    const Target burst_buffer = device(devices, "burst-buffer", TargetKind::shared, 3.8, 3.8, 2e-4, 0);
    const Target pfs = device(devices, "pfs", TargetKind::shared, 1, 1, 1e-3, 0);
    h.promotion = Promotion::never;
    h.flush.period_s = 0.02;
    if (scheme == "top") {
        h.mode = Buffering::none;
    } else if (scheme == "flushing") {
        h.targets.push_back(pfs);
        h.mode = Buffering::write_back;
    } else if (scheme == "none") {
        h.targets.push_back(pfs);
        h.mode = Buffering::bypass;
    } else if (scheme == "elevator" || scheme == "datawarp") {
        h.targets.push_back(burst_buffer);
        h.targets.push_back(pfs);
        h.rules = {{.match = "**", .prefer = {"burst-buffer"}}};
        h.mode = scheme == "elevator" && is_persistent ? Buffering::write_back : Buffering::none;
    } else if (scheme == "max-bandwidth" || scheme == "max-locality" || scheme == "reorganizing" ||
               scheme == "hot-data") {
        h.targets.push_back(nvme);
        h.targets.push_back(burst_buffer);
        h.targets.push_back(pfs);
        if (scheme == "max-locality" || scheme == "reorganizing") h.policy = Policy::max_locality;
        if (scheme == "reorganizing") h.watermarks = {1, 1};
        if (scheme == "hot-data") h.policy = Policy::hot_data;
        h.mode = is_persistent ? Buffering::write_back : Buffering::none;
        h.promotion = Promotion::read_ahead;
    } else {
        throw Error(Code::invalid_argument, "'" + scheme + "' is no way of buffering");
    }
    return h;
}

}  // namespace pmemcpy::hermes
