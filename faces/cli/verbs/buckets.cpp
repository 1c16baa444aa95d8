#include <fmt/core.h>

#include <array>
#include <memory>
#include <pmemcpy/buckets.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
    std::string file;
    bool reclaim = false;
};

constexpr std::array held_in = {Region::ram, Region::nvme, Region::burst_buffer};
constexpr std::array held_as = {BucketState::filling, BucketState::full, BucketState::offered};

struct Counts {
    std::uint64_t n[held_in.size()][held_as.size()] = {};
    std::uint64_t held = 0;
    std::uint64_t left_behind = 0;
};

Counts count(const BucketPool& pool) {
    Counts counts;
    for (const BucketInfo& info : pool.list()) {
        ++counts.held;
        if (info.is_left_behind) ++counts.left_behind;
        for (std::size_t r = 0; r < held_in.size(); ++r) {
            for (std::size_t s = 0; s < held_as.size(); ++s)
                if (info.region == held_in[r] && info.state == held_as[s]) ++counts.n[r][s];
        }
    }
    return counts;
}

void print_json(const BucketPool& pool, const Counts& counts, std::uint64_t reclaimed) {
    Json regions = Json::object();
    for (std::size_t r = 0; r < held_in.size(); ++r) {
        Json states = Json::object();
        for (std::size_t s = 0; s < held_as.size(); ++s) states[name_of(held_as[s])] = counts.n[r][s];
        regions[name_of(held_in[r])] = std::move(states);
    }
    fmt::print("{}\n", dump({{"bucket_bytes", pool.bucket_bytes()},
                             {"count", pool.count()},
                             {"available", pool.count() - counts.held},
                             {"left_behind", counts.left_behind},
                             {"reclaimed", reclaimed},
                             {"regions", std::move(regions)}}));
}

void print_table(const BucketPool& pool, const Counts& counts) {
    Table table({{}, {}, {}, {}});
    table.add({"region", name_of(held_as[0]), name_of(held_as[1]), name_of(held_as[2])});
    for (std::size_t r = 0; r < held_in.size(); ++r) {
        table.add({name_of(held_in[r]), std::to_string(counts.n[r][0]), std::to_string(counts.n[r][1]),
                   std::to_string(counts.n[r][2])});
    }
    fmt::print("{}{} of {} buckets of {} are available\n", table.text(), pool.count() - counts.held,
               pool.count(), human_size(pool.bucket_bytes()));
    if (counts.left_behind > 0)
        fmt::print("{} were left behind by processes that are gone; --reclaim frees them\n",
                   counts.left_behind);
}

int buckets(const Arguments& arguments, bool json) {
    BucketPool pool = BucketPool::open(arguments.file);
    const std::uint64_t reclaimed = arguments.reclaim ? pool.reclaim() : 0;
    const Counts counts = count(pool);
    if (json) {
        print_json(pool, counts, reclaimed);
        return exit_ok;
    }
    if (arguments.reclaim) fmt::print("{} buckets reclaimed\n", reclaimed);
    print_table(pool, counts);
    return exit_ok;
}

}  // namespace

void add_buckets(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "buckets",
         "Show who uses the buckets of a file, and free what the dead have left")
        .needs("FILE", arguments->file, "A file of buckets, as BucketPool makes it")
        .takes("--reclaim", arguments->reclaim, "Free the buckets of processes that are gone")
        .takes_json()
        .runs([arguments](bool json) { return buckets(*arguments, json); });
}

}  // namespace pmemcpy::cli
