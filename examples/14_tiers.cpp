// A simulation whose pool is a tenth of its data, and which never notices: where blocks are is the hierarchy's business.
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/tiers.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

constexpr std::size_t steps = 64, width = 64 << 10;  // of 512 KiB, 32 MiB in all

// Heat along a rod, one end of which is kept hot.
static void advance(std::vector<double>& u) {
    std::vector<double> next(u);
    for (std::size_t i = 1; i + 1 < u.size(); ++i) next[i] = u[i] + 0.4 * (u[i - 1] - 2 * u[i] + u[i + 1]);
    u = next;
}

// [simulation]
static void simulate(const std::string& path) {
    pmemcpy::PMEM pmem;
    pmem.mmap(path);
    pmem.alloc<double>("u", {pmemcpy::unlimited, width});
    std::vector<double> u(width, 0.0);
    u[0] = 100;
    for (std::size_t step = 0; step < steps; ++step) {
        pmem.store<double>("u", u.data(), pmemcpy::Box{{step, 0}, {1, width}});
        advance(u);
    }
}
// [/simulation]

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const std::string below = std::string(argv[1]) + ".below";
    std::filesystem::create_directory(below);
    pmemcpy::PMEM pmem;
    // [hierarchy]
    pmemcpy::Options options;
    options.max_bytes = 3 << 20;
    options.chunk_bytes = 64 << 10;
    pmem.mmap(argv[1], options);
    pmemcpy::Hierarchy hierarchy;
    using pmemcpy::TargetKind;
    hierarchy.targets = {
        {.name = "pool", .kind = TargetKind::tmpfs, .write = {6e9, 1e-6}, .read = {7e9, 1e-6}},
        {.name = "nvme", .path = below, .write = {2e9, 80e-6}, .read = {3e9, 90e-6}},
    };
    set_hierarchy(pmem, hierarchy);
    // [/hierarchy]
    simulate(argv[1]);

    // All is there, wherever it lies.
    std::vector<double> u(width, 0.0), found(width);
    u[0] = 100;
    for (std::size_t step = 0; step < steps; ++step, advance(u)) {
        pmem.load<double>("u", found.data(), pmemcpy::Box{{step, 0}, {1, width}});
        if (found != u) return 1;
    }
    return 0;
}
