// A group for each step, of which the last three are kept: what can be gone back to, in the room of four.
#include <cstdio>
#include <pmemcpy/groups.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    pmemcpy::PMEM pmem;
    pmem.mmap(argc > 1 ? argv[1] : "/dev/shm/example.pool");
    for (std::uint64_t step = 1; step <= 20; ++step) {
        const std::vector<double> field(1000, static_cast<double>(step));
        const std::string here = "out/" + std::to_string(step);
        pmem.begin(step);
        pmem.store(here + "/T", field);
        pmem.set_attribute(here, "time", 0.5 * static_cast<double>(step));
        pmem.commit(step);
        pmemcpy::keep_newest(pmem, "out", 3);
    }
    for (const std::string& step : pmemcpy::members(pmem, "out")) {
        const auto field = pmem.load<std::vector<double>>("out/" + step + "/T");
        std::printf("step %s, time %g: %g\n", step.c_str(), pmem.get_attribute<double>("out/" + step, "time"),
                    field[0]);
    }
    return pmemcpy::count_members(pmem, "out") == 3 ? 0 : 1;
}
