// Compressed blocks, by a codec of the array or of one store. Loading is as ever; only views need raw ones.
#include <cmath>
#include <cstdio>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path);
    const std::size_t n = 1'000'000;
    std::vector<double> wave(n);
    for (std::size_t i = 0; i < n; ++i)
        wave[i] = std::round(1000 * std::sin(static_cast<double>(i) / 1000)) / 1000;
    const pmemcpy::Box all{{0}, {n}};

    pmem.alloc<double>("raw", {n});
    pmem.store<double>("raw", wave.data(), all);
    pmemcpy::ArrayOptions compressed;
    compressed.codec = pmemcpy::parse_codec("zstd:5:shuffle");
    pmem.alloc<double>("zstd", {n}, compressed);
    pmem.store<double>("zstd", wave.data(), all);
    pmem.alloc<double>("lz4 this time", {n});
    pmem.store<double>("lz4 this time", wave.data(), all, pmemcpy::parse_codec("lz4"));

    std::vector<double> loaded(n);
    for (const std::string& id : pmem.ids()) {
        pmem.load<double>(id, loaded.data(), all);
        const pmemcpy::Info info = pmem.info(id);
        std::printf("%-14s %8llu bytes take %8llu, and are %s\n", id.c_str(),
                    static_cast<unsigned long long>(info.bytes),
                    static_cast<unsigned long long>(info.stored_bytes),
                    loaded == wave ? "the same" : "not the same");
        if (loaded != wave) return 1;
    }
    return pmem.info("zstd").stored_bytes < pmem.info("raw").stored_bytes / 2 ? 0 : 1;
}
