// Makes the pool that the tests of the command look into. With a second argument, dies without closing it.

#include <unistd.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <pmemcpy/json.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace {

struct Particle {
    double x;
    std::int32_t id;
    std::int32_t charge;
};

}  // namespace

PMEMCPY_STRUCT(Particle, x, id, charge);

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    pmemcpy::Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1], options);

    pmem.store("answer", 42);
    pmem.store("name", "ocean");
    pmem.store("list", std::vector<double>{0.5, 1.5, -2});
    pmem.store("particle", Particle{0.25, 7, -1});
    pmem.store("settings", nlohmann::json{{"dt", 0.1}, {"grid", {2, 3}}});
    pmem.store("when", pmemcpy::datetime64<pmemcpy::TimeUnit::day>{20'000});

    // 4 x 6, in two blocks: element (i, j) is 10 i + j.
    pmem.alloc<double>("ocean/TEMP", {4, 6});
    for (std::uint64_t half = 0; half < 2; ++half) {
        std::array<double, 12> rows{};
        for (std::uint64_t k = 0; k < rows.size(); ++k)
            rows[k] = static_cast<double>(10 * (2 * half + k / 6) + k % 6);
        pmem.store("ocean/TEMP", rows.data(), pmemcpy::Box{{2 * half, 0}, {2, 6}});
    }
    pmem.set_attribute("ocean/TEMP", "units", "degC");
    pmem.set_attribute("ocean/TEMP", "valid_range", std::vector<float>{-2, 40});
    pmem.set_attribute("ocean", "title", "test");
    pmem.set_attribute("ocean", "run", nlohmann::json{{"author", "li"}});

    // 2 x 3 by columns: element (i, j) is again 10 i + j.
    pmemcpy::ArrayOptions columns;
    columns.order = pmemcpy::Order::fortran;
    pmem.alloc<std::int32_t>("columns", {2, 3}, columns);
    const std::array<std::int32_t, 6> by_columns = {0, 10, 1, 11, 2, 12};
    pmem.store("columns", by_columns.data(), pmemcpy::Box::whole({2, 3}));

    // 2 x 2 x 3, and a line of 1000 that is stored twice, so that compact and trim have something to do.
    std::vector<std::int64_t> line(1000);
    std::iota(line.begin(), line.end(), 0);
    pmem.alloc<std::int64_t>("cube", {2, 2, 3});
    pmem.store("cube", line.data(), pmemcpy::Box::whole({2, 2, 3}));
    pmem.alloc<std::int64_t>("line", {1000});
    for (int i = 0; i < 2; ++i) pmem.store("line", line.data(), pmemcpy::Box::whole({1000}));

    pmem.alloc<float>("hole", {10});
    const float one = 1;
    pmem.store("hole", &one, pmemcpy::Box{{0}, {1}});

    if (argc > 2) _exit(0);
    pmem.munmap();
    return 0;
}
