#include "profiler/places.hpp"

#include <algorithm>
#include <cstdlib>

#include <fcntl.h>

#include "os/directory.hpp"
#include "os/names.hpp"
#include "profiler/kinds.hpp"

namespace pmemcpy {

namespace profiler {

namespace {

constexpr std::uint64_t patience_ns = 2'000'000'000;

std::string hindrance_of(const Place& place, const Sight& sight, const os::Mount& mount) {
    if (!sight.is_there) return sight.failure;
    if (sight.room.is_read_only || mount.has_option("ro")) return place.path + " can only be read";
    if (!sight.may_make) return "this user can make no directory in " + place.path;
    if (mount.file_system == "hugetlbfs")
        return place.path +
               " has huge pages, which can be mapped but not written by calls: it can hold the pool, but "
               "it is not measured";
    return {};
}

Place place_in(const os::Mount& mount, std::string path, const Sight& sight) {
    Place place;
    place.path = std::move(path);
    place.file_system = mount.file_system;
    place.device = mount.source;
    place.medium = medium_of(mount);
    place.kind = kind_of(mount);
    place.size_bytes = sight.room.size_bytes;
    place.free_bytes = sight.room.free_bytes;
    place.hindrance = hindrance_of(place, sight, mount);
    return place;
}

/// Of those that `is_alike` calls the same, the best by `is_better` stays free.
template <class Alike, class Better>
void keep_best(std::vector<Place>& places, const Alike& is_alike, const Better& is_better, const char* why) {
    for (std::size_t i = 0; i < places.size(); ++i) {
        for (std::size_t k = 0; k < places.size() && places[i].hindrance.empty(); ++k) {
            if (k == i || !places[k].hindrance.empty() || !is_alike(i, k)) continue;
            const bool k_wins = is_better(k, i) || (!is_better(i, k) && k < i);
            if (k_wins) places[i].hindrance = places[i].path + why + places[k].path;
        }
    }
}

/// Seen through later mounts at the same point, or of no use to anybody who looks for room.
bool is_hidden(const std::vector<os::Mount>& all, const os::Mount& mount) {
    return is_pseudo(mount.file_system) || os::mount_of(all, mount.point) != &mount;
}

void add_devices(std::vector<Place>& places) {
    const auto folder = os::File::open_if_exists("/sys/bus/dax/devices", O_RDONLY | O_DIRECTORY);
    if (!folder) return;
    for (const std::string& name : os::names_in(*folder)) {
        const std::string its = folder->path() + "/" + name;
        const auto driver = os::real_path(its + "/driver");
        if (!driver || !driver->ends_with("/device_dax")) continue;  // memory of the system by now
        Place place{.path = "/dev/" + name, .file_system = "devdax", .device = "/dev/" + name};
        place.kind = TargetKind::dax;
        place.medium = "persistent memory";
        place.size_bytes = std::strtoull(os::read_text(its + "/size").value_or("0").c_str(), nullptr, 10);
        place.hindrance = "what is on a device would be overwritten by measuring it; `pmemcpy create " +
                          place.path + "` makes a pool of it";
        places.push_back(std::move(place));
    }
}

}  // namespace

void keep_one_of_each(std::vector<Place>& places, const std::vector<os::Mount>& mounts) {
    keep_best(
        places, [&](auto a, auto b) { return mounts[a].device_number == mounts[b].device_number; },
        [&](auto a, auto b) { return mounts[a].root == "/" && mounts[b].root != "/"; },
        " is on the same file system as ");
    const auto rank = [&](std::size_t i) {
        return places[i].path == "/dev/shm" ? ~std::uint64_t{0} : places[i].free_bytes;
    };
    keep_best(
        places,
        [&](auto a, auto b) {
            return places[a].kind == TargetKind::tmpfs && places[b].kind == TargetKind::tmpfs;
        },
        [&](auto a, auto b) { return rank(a) > rank(b); }, " is in the same memory as ");
}

std::vector<Place> places_at(const std::vector<std::string>& directories) {
    const std::vector<os::Mount> mounts = os::mounts();
    const std::vector<Sight> sights = look_at(directories, patience_ns);
    std::vector<Place> places;
    for (std::size_t i = 0; i < directories.size(); ++i) {
        const os::Mount* mount = os::mount_of(mounts, sights[i].real_path);
        // As the user calls it, for a symbolic link may lead elsewhere tomorrow, if that means the same everywhere.
        std::string path = directories[i].starts_with('/') || sights[i].real_path.empty()
                               ? directories[i]
                               : sights[i].real_path;
        while (path.size() > 1 && path.back() == '/') path.pop_back();
        places.push_back(place_in(mount == nullptr ? os::Mount{.file_system = "unknown"} : *mount,
                                  std::move(path), sights[i]));
    }
    return places;
}

}  // namespace profiler

std::vector<Place> find_places(const ProfileOptions& options) {
    const std::vector<os::Mount> all = os::mounts();
    std::vector<os::Mount> seen;
    std::vector<std::string> points;
    for (const os::Mount& mount : all) {
        if (profiler::is_hidden(all, mount)) continue;
        seen.push_back(mount);
        points.push_back(mount.point);
    }
    const std::vector<profiler::Sight> sights = profiler::look_at(points, profiler::patience_ns);
    std::vector<Place> places;
    std::vector<os::Mount> mounts;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        // A single file that is mounted, as containers do; or a file system without blocks, which holds nothing.
        if (!sights[i].is_directory || (sights[i].is_there && sights[i].room.size_bytes == 0)) continue;
        Place place = profiler::place_in(seen[i], seen[i].point, sights[i]);
        if (place.hindrance.empty() && place.free_bytes < options.least_free_bytes)
            place.hindrance =
                place.path + " has only " + std::to_string(place.free_bytes >> 20) + " MiB free";
        places.push_back(std::move(place));
        mounts.push_back(seen[i]);
    }
    profiler::keep_one_of_each(places, mounts);
    profiler::add_devices(places);
    return places;
}

}  // namespace pmemcpy
