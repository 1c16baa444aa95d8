// One run of Figures 8 to 11: ranks that compute (sleep), store, and perhaps read again, phase after phase; then all is flushed. Prints the seconds of
// each kind of I/O, of the rank that took longest, as JSON, and how long that one did something else.

#include "schemes.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <pmemcpy/pmemcpy.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace pmemcpy::hermes {

namespace {

using Clock = std::chrono::steady_clock;

struct Work {
    std::string scheme = "max-bandwidth";
    Devices devices;
    int ranks = 2;
    int phases = 16;
    std::uint64_t phase_bytes = 4 << 20;  // that a rank stores
    int blocks = 16;                      // in which it does
    double compute_s = 0;
    int repeat_reads =
        0;  // how often a part of what was stored is read: all of it once, or a sixteenth sixteen times; 0: nothing is
    bool reads_back = false;  // what the phase has stored, as HACC does; else what an earlier one has
    bool is_persistent = true;
};

struct Seconds {
    double write = 0;
    double read = 0;
    double computing = 0;  // all else: sleeping longer than asked for, and making what is stored
};

template <class F>
double seconds_of(F&& f) {
    const auto begun = Clock::now();
    f();
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

std::string pool_of(const Work& work) { return work.devices.folder + "/pool"; }

PMEM open_pool(const Work& work) {
    Options options;
    options.max_bytes = work.devices.ram_bytes;
    // Memory that is there, like any other device.
    options.initial_bytes = work.devices.ram_bytes;
    options.prepare = true;
    options.chunk_bytes = 64 << 10;
    PMEM pool;
    pool.mmap(pool_of(work), options);
    return pool;
}

double value_of(int rank, int phase, int block) { return rank * 1e6 + phase * 1e3 + block; }

Seconds run_rank(const Work& work, int rank) {
    PMEM pool = open_pool(work);
    const auto blocks = static_cast<Extent>(work.blocks);
    const Extent numbers = work.phase_bytes / blocks / sizeof(double);
    std::vector<double> data(numbers);
    // As a file for each process and phase.
    const auto id_of = [&](int phase) {
        return "rank" + std::to_string(rank) + "/phase" + std::to_string(phase);
    };
    const auto box_of = [&](int block) { return Box{{static_cast<Extent>(block), 0}, {1, numbers}}; };
    Seconds spent;
    const auto begun = Clock::now();
    for (int phase = 0; phase < work.phases; ++phase) {
        std::this_thread::sleep_for(std::chrono::duration<double>(work.compute_s));
        spent.write += seconds_of([&] { pool.alloc<double>(id_of(phase), {blocks, numbers}); });
        for (int block = 0; block < work.blocks; ++block) {
            std::fill(data.begin(), data.end(), value_of(rank, phase, block));
            spent.write += seconds_of([&] { pool.store<double>(id_of(phase), data.data(), box_of(block)); });
        }
        if (work.repeat_reads == 0) continue;
        const int from = work.reads_back ? phase : phase / 2;
        for (int time = 0; time < work.repeat_reads; ++time) {
            for (int block = 0; block < std::max(1, work.blocks / work.repeat_reads); ++block) {
                spent.read += seconds_of([&] { pool.load<double>(id_of(from), data.data(), box_of(block)); });
                if (data.front() != value_of(rank, from, block) || data.back() != data.front())
                    throw std::runtime_error("rank " + std::to_string(rank) +
                                             " has read something else than it stored");
            }
        }
    }
    spent.computing = std::chrono::duration<double>(Clock::now() - begun).count() - spent.write - spent.read;
    return spent;
}

std::vector<Seconds> run_ranks(const Work& work) {
    std::vector<Seconds> all(static_cast<std::size_t>(work.ranks));
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
    for (int rank = 0; rank < work.ranks; ++rank) {
        if (fork() != 0) continue;
        try {
            const Seconds spent = run_rank(work, rank);
            const bool is_told = write(ends[1], &spent, sizeof spent) == sizeof spent;
            _exit(is_told ? 0 : 1);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "hermes_buffering: %s\n", error.what());
            _exit(1);
        }
    }
    bool is_well = true;
    for (Seconds& spent : all) {
        int status = 0;
        is_well = wait(&status) > 0 && status == 0 && is_well;
        is_well = is_well && read(ends[0], &spent, sizeof spent) == sizeof spent;
    }
    close(ends[0]);
    close(ends[1]);
    if (!is_well) throw std::runtime_error("a rank failed");
    return all;
}

nlohmann::json run(const Work& work) {
    std::filesystem::create_directories(work.devices.folder);
    {
        PMEM pool = open_pool(work);
        set_hierarchy(pool, hierarchy_for(work.scheme, work.devices, work.is_persistent));
    }
    const std::vector<Seconds> all = run_ranks(work);
    double flush_s = 0;
    std::uint64_t left = 0;
    if (work.is_persistent && work.scheme != "top") {
        PMEM pool = open_pool(work);
        flush_s = seconds_of([&] { flush(pool); });
        left = unflushed(pool).of_blocks;
        if (left != 0) throw std::runtime_error(std::to_string(left) + " blocks are not flushed");
    }
    Seconds longest;
    for (const Seconds& each : all) {
        if (each.write >= longest.write) longest.computing = each.computing;
        longest.write = std::max(longest.write, each.write);
        longest.read = std::max(longest.read, each.read);
    }
    return {{"write_s", longest.write},
            {"read_s", longest.read},
            {"computing_s", longest.computing},
            {"flush_s", flush_s}};
}

}  // namespace

}  // namespace pmemcpy::hermes

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    CLI::App app("One run of Figures 8 to 11 of the Hermes paper");
    Work work;
    app.add_option("--scheme", work.scheme)->check(CLI::IsMember(scheme_names()));
    app.add_option("--folder", work.devices.folder, "A directory in memory, made anew and removed")
        ->required();
    app.add_option("--pfs-bytes-per-second", work.devices.pfs_bytes_per_second)->required();
    app.add_option("--ram-bytes", work.devices.ram_bytes)->required();
    app.add_option("--nvme-bytes", work.devices.nvme_bytes)->required();
    app.add_option("--ranks", work.ranks);
    app.add_option("--phases", work.phases);
    app.add_option("--phase-bytes", work.phase_bytes);
    app.add_option("--blocks", work.blocks);
    app.add_option("--compute-s", work.compute_s);
    app.add_option("--repeat-reads", work.repeat_reads);
    app.add_flag("--reads-back", work.reads_back);
    app.add_flag("!--scratch", work.is_persistent);
    CLI11_PARSE(app, argc, argv);
    try {
        std::filesystem::remove_all(work.devices.folder);
        const nlohmann::json seconds = run(work);
        std::filesystem::remove_all(work.devices.folder);
        std::printf("%s\n", seconds.dump().c_str());
    } catch (const std::exception& error) {
        std::filesystem::remove_all(work.devices.folder);
        std::fprintf(stderr, "hermes_buffering: %s\n", error.what());
        return 1;
    }
}
