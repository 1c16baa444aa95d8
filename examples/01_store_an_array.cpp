// Stores some values and an array in a pool, which outlives this program, and loads them again.
#include <cstdio>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path);  // made if missing

    // Values: numbers, strings, vectors. Storing again replaces them.
    pmem.store("answer", 42);
    pmem.store("title", "a small table");
    const int answer = pmem.load<int>("answer");
    std::printf("%s, and the answer is %d\n", pmem.load<std::string>("title").c_str(), answer);

    // An array is given its shape first, and then filled box by box. This box is all of it.
    const pmemcpy::Dimensions shape{4, 6};
    std::vector<double> table(shape.elements());
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = 0.5 * static_cast<double>(i);
    pmem.alloc<double>("table", shape);
    pmem.store<double>("table", table.data(), pmemcpy::Box::whole(shape));

    // Load any part: here rows 1 and 2, and of each the columns 3 to 5.
    std::vector<double> part(2 * 3);
    pmem.load<double>("table", part.data(), pmemcpy::Box{{1, 3}, {2, 3}});
    for (const double x : part) std::printf("%g ", x);
    std::printf("\n");

    // Without knowing anything before: what is there, and of which shape?
    for (const std::string& id : pmem.ids()) {
        const pmemcpy::Info info = pmem.info(id);
        std::printf("%s: %s %s\n", id.c_str(), info.type.name().c_str(), to_string(info.dims).c_str());
    }
    // Errors are exceptions that say what was asked, what was found, and what to do.
    try {
        pmem.load<int>("title");
    } catch (const pmemcpy::Error& error) {
        std::printf("as expected: %s\n", error.what());
        return part == std::vector<double>{4.5, 5, 5.5, 7.5, 8, 8.5} && answer == 42 ? 0 : 1;
    }
    return 1;
}
