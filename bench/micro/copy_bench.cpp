// The copies of src/persist against memcpy, between memory of the process and a warm mapping of a prepared
// file in /dev/shm. Only ratios within one run mean anything: compare each line with the memcpy of its
// direction.

#include <cstdint>
#include <cstring>

#include <benchmark/benchmark.h>
#include <pmemcpy/durability.hpp>

#include "base/crc32c.hpp"
#include "os/file.hpp"
#include "os/map.hpp"
#include "persist/copy.hpp"

namespace {

using namespace pmemcpy;

constexpr std::size_t size = std::size_t{256} << 20;
constexpr persist::Medium medium(Durability::none);

/// Memory of the process and mapped space, both warm and of huge pages where the kernel can.
struct Sides {
    Sides() {
        file.allocate(0, size);
        map = os::Mapping(file, size);
        map.populate(0, size);
        map.collapse(0, size);
        own = os::Mapping(own_file, size);
        own_file.allocate(0, size);
        own.collapse(0, size);
        for (std::size_t i = 0; i < size / sizeof(double); ++i) doubles()[i] = static_cast<double>(i) * 1.5;
        std::memcpy(map.base(), own.base(), size);
    }
    double* doubles() { return reinterpret_cast<double*>(own.base()); }

    os::File file = os::File::create_unnamed("/dev/shm/unnamed", 0600);
    os::File own_file = os::File::create_unnamed("/dev/shm/unnamed", 0600);
    os::Mapping map, own;
};

Sides& sides() {
    static Sides instance;
    return instance;
}

void measure(benchmark::State& state, auto&& copy, std::size_t bytes = size) {
    std::byte* mapped = sides().map.base();
    std::byte* own = sides().own.base();
    for (auto _ : state) {
        copy(mapped, own);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void store_memcpy(benchmark::State& state) {
    measure(state, [](std::byte* mapped, const std::byte* own) { std::memcpy(mapped, own, size); });
}
void store_plain(benchmark::State& state) {
    measure(state, [](std::byte* mapped, const std::byte* own) {
        persist::copy_to_medium(medium, mapped, own, size);
        medium.fence();
    });
}
void store_crc(benchmark::State& state) {
    measure(state, [](std::byte* mapped, const std::byte* own) {
        benchmark::DoNotOptimize(persist::copy_to_medium_crc(medium, mapped, own, size));
        medium.fence();
    });
}
void store_characterised(benchmark::State& state) {
    const auto element = static_cast<persist::Element>(state.range(0));
    measure(state, [element](std::byte* mapped, const std::byte* own) {
        benchmark::DoNotOptimize(persist::copy_to_medium_characterised(medium, mapped, own, size, element));
        medium.fence();
    });
}
// Every other row of the source, so that half the bytes move.
void store_rows(benchmark::State& state) {
    const auto row_bytes = static_cast<std::size_t>(state.range(0));
    const auto copy = [row_bytes](std::byte* mapped, const std::byte* own) {
        persist::copy_rows_to_medium(medium, mapped, row_bytes, own, 2 * row_bytes, row_bytes,
                                     size / 2 / row_bytes);
        medium.fence();
    };
    measure(state, copy, size / 2);
}
// Copies of one size, one behind the other, from and to places that are not aligned to a line: the bytes by which.
template <class Copy>
void in_pieces(benchmark::State& state, Copy&& copy) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const auto from = static_cast<std::size_t>(state.range(1));
    const auto to = static_cast<std::size_t>(state.range(2));
    const std::size_t step = (bytes + 127) / 64 * 64;
    const auto all = [=](std::byte* mapped, const std::byte* own) {
        for (std::size_t at = 0; at + step <= size; at += step)
            copy(mapped + at + to, own + at + from, bytes);
        medium.fence();
    };
    measure(state, all, size / step * bytes);
}
void pieces_memcpy(benchmark::State& state) {
    in_pieces(state,
              [](std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); });
}
void pieces_plain(benchmark::State& state) {
    in_pieces(state, [](std::byte* to, const std::byte* from, std::size_t bytes) {
        persist::copy_to_medium(medium, to, from, bytes);
    });
}
void pieces_crc(benchmark::State& state) {
    in_pieces(state, [](std::byte* to, const std::byte* from, std::size_t bytes) {
        benchmark::DoNotOptimize(persist::copy_to_medium_crc(medium, to, from, bytes));
    });
}
// A block begins at a line; what the user has may begin anywhere.
void pieces(benchmark::internal::Benchmark* benchmark) {
    for (const std::int64_t bytes : {256, 4096, 65536, 1 << 20, 16 << 20}) benchmark->Args({bytes, 0, 0});
    for (const std::int64_t from : {8, 1}) benchmark->Args({65536, from, 0});
    benchmark->Args({65536, 8, 8});
}
void load_memcpy(benchmark::State& state) {
    measure(state, [](const std::byte* mapped, std::byte* own) { std::memcpy(own, mapped, size); });
}
void load_plain(benchmark::State& state) {
    measure(state,
            [](const std::byte* mapped, std::byte* own) { persist::copy_from_medium(own, mapped, size); });
}
void load_rows(benchmark::State& state) {
    const auto row_bytes = static_cast<std::size_t>(state.range(0));
    const auto copy = [row_bytes](const std::byte* mapped, std::byte* own) {
        persist::copy_rows_from_medium(own, row_bytes, mapped, 2 * row_bytes, row_bytes,
                                       size / 2 / row_bytes);
    };
    measure(state, copy, size / 2);
}
void checksum(benchmark::State& state) {
    measure(state, [](const std::byte* mapped, std::byte*) {
        benchmark::DoNotOptimize(base::crc32c(0, mapped, size));
    });
}

BENCHMARK(store_memcpy);
BENCHMARK(store_plain);
BENCHMARK(store_crc);
BENCHMARK(store_characterised)->Arg(static_cast<int>(persist::Element::f64));
BENCHMARK(store_characterised)->Arg(static_cast<int>(persist::Element::f32));
BENCHMARK(store_characterised)->Arg(static_cast<int>(persist::Element::i16));
BENCHMARK(store_rows)->Arg(64)->Arg(512)->Arg(4096)->Arg(65536);
BENCHMARK(pieces_memcpy)->Apply(pieces);
BENCHMARK(pieces_plain)->Apply(pieces);
BENCHMARK(pieces_crc)->Apply(pieces);
BENCHMARK(load_memcpy);
BENCHMARK(load_plain);
BENCHMARK(load_rows)->Arg(64)->Arg(512)->Arg(4096)->Arg(65536);
BENCHMARK(checksum);

}  // namespace
