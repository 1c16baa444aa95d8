// What lies below a verb: names found and made, records and extents claimed and given back, pins. Only ratios within one
// run mean anything.

#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "catalog/catalog.hpp"
#include "heap/heap.hpp"
#include "pool/pool.hpp"

namespace {

using namespace pmemcpy;

/// A new pool in /dev/shm that only this process has open.
class Attached {
public:
    Attached() { pool_.attach(catalog); }
    ~Attached() {
        pool_.detach(catalog);
        for (const char* end : {"", ".rt"}) ::unlink((path_ + end).c_str());
    }
    Attached(const Attached&) = delete;
    Attached& operator=(const Attached&) = delete;

private:
    const std::string path_ = "/dev/shm/pmemcpy-micro-" + std::to_string(::getpid());
    pool::Pool pool_ = [this] {
        pool::Shape shape;
        shape.max_bytes = std::uint64_t{4} << 30;
        pool::Pool::create(path_, shape);
        return pool::Pool(path_, false, MapSync::automatic);
    }();

public:
    heap::Heap heap{pool_};
    catalog::Catalog catalog{pool_, heap};
};

std::vector<std::string> names(std::int64_t count) {
    std::vector<std::string> all;
    for (std::int64_t i = 0; i < count; ++i) all.push_back("object" + std::to_string(i * 7919 % count));
    return all;
}

void insert(benchmark::State& state) {
    constexpr std::int64_t many = 100'000;
    Attached attached;
    const std::vector<std::string> ids = names(many);
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(attached.catalog.create(ids[i++]));
}

void find(benchmark::State& state) {
    Attached attached;
    const std::vector<std::string> ids = names(state.range(0));
    for (const std::string& id : ids) attached.catalog.create(id);
    std::size_t i = 0;
    for (auto _ : state) {
        if (!attached.catalog.find(ids[i++ % ids.size()])) throw std::logic_error("a name is lost");
    }
}

void find_nothing(benchmark::State& state) {
    Attached attached;
    for (const std::string& id : names(state.range(0))) attached.catalog.create(id);
    for (auto _ : state) {
        if (attached.catalog.find("nobody")) throw std::logic_error("a name that nobody has given");
    }
}

void record(benchmark::State& state) {
    Attached attached;
    for (auto _ : state) {
        const std::uint64_t offset =
            attached.heap.allocate_record(static_cast<std::uint64_t>(state.range(0)));
        attached.heap.abandon_record(offset, {});
    }
}

// Units of slabs up to half a chunk, and runs of chunks beyond, which take the allocation lock.
void extent(benchmark::State& state) {
    Attached attached;
    const std::uint64_t owner = attached.heap.allocate_record(sizeof(heap::RecordHeader));
    for (auto _ : state) {
        const auto bytes = static_cast<std::uint64_t>(state.range(0));
        attached.heap.free_extent(attached.heap.allocate_extent(bytes, owner), owner);
    }
    attached.heap.abandon_record(owner, {});
}

void pin_and_unpin(benchmark::State& state) {
    Attached attached;
    const heap::Link link = attached.catalog.create("pinned");
    for (auto _ : state) {
        attached.heap.pins().pin(link);
        attached.heap.pins().unpin(link);
    }
}

BENCHMARK(insert)->Iterations(100'000);
BENCHMARK(find)->Arg(1000)->Arg(100'000);
BENCHMARK(find_nothing)->Arg(100'000);
BENCHMARK(record)->Arg(64)->Arg(448)->Arg(4096);
BENCHMARK(extent)->Arg(4 << 10)->Arg(64 << 10)->Arg(1 << 20)->Arg(64 << 20);
BENCHMARK(pin_and_unpin);

}  // namespace
