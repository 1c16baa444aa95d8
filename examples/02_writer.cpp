// The first of two programs that share a pool: stores a temperature field, which 02_reader then looks at.
#include <cmath>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    const std::string path = argc > 1 ? argv[1] : "/dev/shm/example.pool";
    const std::size_t nx = 100;
    const std::size_t ny = 200;
    std::vector<float> temperature(nx * ny);
    for (std::size_t i = 0; i < nx; ++i) {
        for (std::size_t j = 0; j < ny; ++j) {
            temperature[i * ny + j] = 15.0f + 10.0f * std::sin(static_cast<float>(i + j) / 50);
        }
    }
    pmemcpy::PMEM pmem;
    pmem.mmap(path);
    pmem.alloc<float>("temperature", {nx, ny});
    pmem.store<float>("temperature", temperature.data(), pmemcpy::Box{{0, 0}, {nx, ny}});
    // From here on every process that has the pool open sees the field: whole, or the one before it.
}
