// Computing where the data lies: a contiguous array is filled in place, frozen, and then only looked at.
#include <cstdio>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path);
    const std::size_t n = 1 << 20;

    pmemcpy::ArrayOptions in_place;
    in_place.contiguous = true;
    pmem.alloc<double>("field", {n}, in_place);
    {
        // All processes that call update() write to the same memory. It may be larger than DRAM.
        pmemcpy::View<double> field = pmem.update<double>("field");
        for (std::size_t i = 0; i < n; ++i) field[i] = static_cast<double>(i);
        std::printf("while it is updated, the array is %s\n",
                    pmem.info("field").is_frozen ? "frozen" : "not frozen");
    }
    // Now it is whole: it gets its checksum, is as safe as what store() stores, and stays as it is.
    pmem.freeze("field");

    double sum = 0;
    const pmemcpy::View<const double> whole = pmem.view<double>("field");
    for (const double x : whole) sum += x;
    std::printf("the sum is %.0f\n", sum);

    // A view keeps its elements also when the variable goes.
    pmem.erase("field");
    const double expected = static_cast<double>(n) * static_cast<double>(n - 1) / 2;
    return whole[n - 1] == static_cast<double>(n - 1) && sum == expected && !pmem.exists("field") ? 0 : 1;
}
