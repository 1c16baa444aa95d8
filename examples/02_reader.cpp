// The second of two programs that share a pool: looks at what 02_writer stored where it lies, without a copy.
#include <algorithm>
#include <cstdio>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM pmem;
    pmem.mmap(path, {.mode = pmemcpy::Mode::read});

    // The elements stay as they are while the view lives, whatever other programs store in the meantime.
    const pmemcpy::View<const float> all = pmem.view<float>("temperature");
    const auto [coldest, warmest] = std::minmax_element(all.begin(), all.end());
    std::printf("%zu temperatures from %.1f to %.1f degrees\n", all.size(), *coldest, *warmest);

    // A part of it does not lie in one piece: at() finds its elements.
    const auto corner = pmem.view<float>("temperature", pmemcpy::Box{{98, 198}, {2, 2}});
    std::printf("the last one is %.3f\n", corner.at(1, 1));
    return corner.at(1, 1) == all.at(99, 199) && *coldest < *warmest ? 0 : 1;
}
