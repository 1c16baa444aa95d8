// What one call of each verb takes. Only ratios within one run mean anything; that a verb has become longer is told by the
// instructions it takes (instructions.py), for those are the same on a busy machine.

#include <benchmark/benchmark.h>

#include "verbs.hpp"

namespace {

constexpr std::uint64_t calls = 20'000;

[[maybe_unused]] const bool are_known = [] {
    for (const micro::Verb& verb : micro::verbs()) {
        benchmark::RegisterBenchmark(verb.name.c_str(), [&verb](benchmark::State& state) {
            const auto prepared = verb.prepare(calls);
            std::uint64_t i = 0;
            for (auto _ : state) prepared->call(i++);
        })->Iterations(calls);
    }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();
