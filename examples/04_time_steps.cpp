// Several stores that appear at once: a reader sees both fields of a time step, or both of the one before.
#include <cstdio>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace {

const std::size_t n = 1000;

void store_step(pmemcpy::PMEM& pmem, std::uint64_t step) {
    const std::vector<double> field(n, static_cast<double>(step));
    pmem.begin(step);
    pmem.store<double>("pressure", field.data(), pmemcpy::Box{{0}, {n}});
    pmem.store<double>("velocity", field.data(), pmemcpy::Box{{0}, {n}});
}

double first_of(const pmemcpy::PMEM& pmem, const std::string& id) {
    double first = 0;
    pmem.load<double>(id, &first, pmemcpy::Box{{0}, {1}});
    return first;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    pmemcpy::PMEM simulation;
    simulation.mmap(path);
    simulation.alloc<double>("pressure", {n});
    simulation.alloc<double>("velocity", {n});

    pmemcpy::PMEM reader;  // of the same pool; as well in another process
    reader.mmap(path, {.mode = pmemcpy::Mode::read});

    store_step(simulation, 1);
    simulation.commit(1);
    store_step(simulation, 2);
    // Step 2 is stored, and still the reader sees step 1.
    const bool sees_1 = first_of(reader, "pressure") == 1 && first_of(reader, "velocity") == 1;
    // MPI ranks would store their boxes each, meet at a barrier, and then one of them commits.
    simulation.commit(2);
    const bool sees_2 = first_of(reader, "pressure") == 2 && first_of(reader, "velocity") == 2;
    std::printf("step 1 before the commit: %s; step 2 after it: %s\n", sees_1 ? "yes" : "no",
                sees_2 ? "yes" : "no");
    return sees_1 && sees_2 ? 0 : 1;
}
