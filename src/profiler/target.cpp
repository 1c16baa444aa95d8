#include "profiler/target.hpp"

#include <algorithm>
#include <thread>

#include "os/cgroup.hpp"
#include "os/process.hpp"

namespace pmemcpy::profiler {

namespace {

constexpr std::uint64_t whole = 1 << 20;  // capacities are multiples of it

unsigned several(const ProfileOptions& options) {
    constexpr unsigned usual_most = 8;
    if (options.processes != 0) return options.processes;
    return std::clamp(std::thread::hardware_concurrency(), 1U, usual_most);
}

std::uint64_t capacity_of(const Place& place, const ProfileOptions& options) {
    std::uint64_t room = place.free_bytes;
    if (place.kind == TargetKind::tmpfs) room = std::min(room, os::cgroup_headroom_bytes());
    const auto ours = static_cast<std::uint64_t>(static_cast<double>(room) * (1 - options.reserve));
    return std::max(ours / whole, std::uint64_t{1}) * whole;
}

}  // namespace

Target measured_target(const Place& place, const ProfileOptions& options, std::uint64_t limit_ns,
                       const Pulse& pulse) {
    const std::uint64_t begin = os::monotonic_ns();
    const Figures alone = measure(place, 1, options.bytes, limit_ns / 2, pulse);
    const std::uint64_t used = std::min(os::monotonic_ns() - begin, limit_ns);
    const unsigned processes = several(options);
    const Figures together =
        processes == 1 ? alone : measure(place, processes, options.bytes, limit_ns - used, pulse);
    Target target;
    // A file system that is mounted with `dax` may still hold files without it.
    const bool is_mapped = alone.durability == Durability::line || alone.durability == Durability::byte;
    target.kind = place.kind == TargetKind::dax && !is_mapped ? TargetKind::file : place.kind;
    target.capacity_bytes = capacity_of(place, options);
    target.write = alone.write;
    target.read = alone.read;
    target.measured = Measured{.at = place.path,
                               .time_s = os::wall_ns() / 1'000'000'000,
                               .file_system = place.file_system,
                               .device = place.device,
                               .size_bytes = place.size_bytes,
                               .durability = alone.durability,
                               .is_direct = alone.is_direct,
                               .processes = processes,
                               .write = together.write,
                               .read = together.read};
    return target;
}

const std::string& directory_of(const Target& target) {
    return target.path.empty() && target.measured ? target.measured->at : target.path;
}

}  // namespace pmemcpy::profiler
