// A program that stores in a pool what it is told to, a command on a line of stdin, and says "done" after each:
//
//   u        the array ocean/u, all of it
//   clock    a value
//   step N   ocean/u in a time step
//   erase ID
//   many N   as many values
//
// It closes the pool when stdin ends.

#include <array>
#include <cstdint>
#include <iostream>
#include <pmemcpy/pmemcpy.hpp>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    pmemcpy::Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1], options);
    pmem.alloc<double>("ocean/u", {100});
    std::array<double, 100> u{};
    std::uint64_t rounds = 0;
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        u.fill(static_cast<double>(++rounds));
        if (verb == "u") {
            pmem.store("ocean/u", u.data(), pmemcpy::Box::whole({100}));
        } else if (verb == "clock") {
            pmem.store("clock", rounds);
        } else if (verb == "step") {
            std::uint64_t step = 0;
            words >> step;
            pmem.begin(step);
            pmem.store("ocean/u", u.data(), pmemcpy::Box::whole({100}));
            pmem.commit(step);
        } else if (verb == "erase") {
            std::string id;
            words >> id;
            pmem.erase(id);
        } else if (verb == "many") {
            std::uint64_t count = 0;
            words >> count;
            for (std::uint64_t i = 0; i < count; ++i) pmem.store("many/" + std::to_string(100'000 + i), u);
        } else {
            return 2;
        }
        std::cout << "done" << std::endl;
    }
    pmem.munmap();
    return 0;
}
