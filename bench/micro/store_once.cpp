// store_once BYTES     stores an array of so many bytes in one call, where one was stored before
//
// For passes.py, which has valgrind count how much memory is read and written in store().

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

extern "C" [[gnu::noinline]] void store(pmemcpy::PMEM& pool, const std::vector<double>& values) {
    pool.store("u", values.data(), pmemcpy::Box::whole({values.size()}));
}

int main(int argc, char** argv) {
    const std::uint64_t bytes = argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 0;
    if (bytes < sizeof(double)) {
        std::cerr << "usage: store_once BYTES\n";
        return 2;
    }
    std::vector<double> values(bytes / sizeof(double));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    const std::string path = "/dev/shm/pmemcpy-store-once-" + std::to_string(::getpid());
    pmemcpy::Options options;
    options.mode = pmemcpy::Mode::replace;
    pmemcpy::PMEM pool;
    pool.mmap(path, options);
    pool.alloc<double>("u", {values.size()});
    for (int before = 0; before < 2;
         ++before)  // into new space, and beside it: the next one goes where the first was
        pool.store("u", values.data(), pmemcpy::Box::whole({values.size()}));
    store(pool, values);
    pool.munmap();
    for (const char* end : {"", ".rt"}) ::unlink((path + end).c_str());
}
