// What a newcomer writes first: a value stored in a pool and loaded from it.
#include <iostream>
#include <pmemcpy/pmemcpy.hpp>

int main(int, char** argv) {
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1]);
    pmem.store("answer", 42);
    int n = pmem.load<int>("answer");
    pmem.munmap();
    std::cout << "the answer is " << n << "\n";
    return n == 42 ? 0 : 1;
}
