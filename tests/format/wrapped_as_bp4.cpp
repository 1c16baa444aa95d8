// Stores arrays and values in a pool as a simulation would, and wraps them as a BP4 file for bp4_test.py.

#include <cstdio>
#include <pmemcpy/bp4.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <vector>

int main(int argc, char** argv) try {
    if (argc != 3) return 2;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1], {.mode = pmemcpy::Mode::exclusive, .max_bytes = 64 << 20});
    pmem.alloc<double>("u", pmemcpy::Dimensions{4, 6});
    for (std::size_t rank = 0; rank < 2; ++rank) {
        std::vector<double> part(2 * 6);
        for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<double>(100 * rank + i);
        pmem.store("u", part.data(), pmemcpy::Box{{2 * rank, 0}, {2, 6}});
    }
    pmem.set_attribute("u", "units", "m/s");
    const std::vector<float> packed(1000, 2.5F);
    pmem.alloc<float>("packed", pmemcpy::Dimensions{1000}, {.codec = pmemcpy::parse_codec("lz4")});
    pmem.store("packed", packed.data(), pmemcpy::Box{{0}, {1000}});
    pmem.alloc<int>("t", pmemcpy::Dimensions{pmemcpy::unlimited, 3});
    for (std::uint64_t step = 1; step <= 3; ++step) {
        const std::vector<int> row(3, static_cast<int>(step));
        pmem.begin(step);
        pmem.store("t", row.data(), pmemcpy::Box{{step - 1, 0}, {1, 3}});
        pmem.commit(step);
    }
    pmem.store("answer", 42);
    pmem.store("title", std::string("a run"));
    pmem.store("levels", std::vector<double>{0.5, 1.5});
    struct Opaque {
        int x[3];
    };
    pmem.store("opaque", Opaque{{1, 2, 3}});
    for (const std::string& id : pmemcpy::write_bp4(pmem, argv[2])) std::printf("%s\n", id.c_str());
    return 0;
} catch (const pmemcpy::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
