// An array whose first dimension is unlimited grows by what is stored past its end.
#include <cstdio>
#include <limits>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path);
    const std::size_t stations = 3;

    // What no store has covered is this fill value; without one, loading it would be an error (not_found).
    const auto missing = std::numeric_limits<double>::quiet_NaN();
    pmem.alloc<double>("level", {pmemcpy::unlimited, stations}, pmemcpy::ArrayOptions{}.fill(missing));

    // Each run of this program goes on where the last one ended.
    const pmemcpy::Extent before = pmem.load_dims("level")[0];
    for (pmemcpy::Extent hour = before; hour < before + 24; ++hour) {
        const std::vector<double> levels{1.0, 2.0, static_cast<double>(hour)};
        pmem.store<double>("level", levels.data(), pmemcpy::Box{{hour, 0}, {1, stations}});
    }
    const pmemcpy::Dimensions dims = pmem.load_dims("level");
    std::printf("there were %llu hours, and now the array is %s\n", static_cast<unsigned long long>(before),
                to_string(dims).c_str());

    // Every sixth hour of the last station, by a stride.
    const pmemcpy::Selection sixth({0, 2}, {dims[0] / 6, 1}, {6, 1});
    std::vector<double> found(sixth.elements());
    pmem.load<double>("level", found.data(), sixth);
    for (const double x : found) std::printf("%g ", x);
    std::printf("\n");
    return dims[0] == before + 24 && found.back() == static_cast<double>(dims[0] - 6) ? 0 : 1;
}
