// An array that is sorted and reduced whenever it is stored, and a function of one's own.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <pmemcpy/operations.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1]);

    // [main]
    namespace operation = pmemcpy::operation;
    pmemcpy::ArrayOptions options;
    options.hint = {operation::maximum | operation::sort};
    pmem.alloc<double>("u", {1000}, options);

    const std::uint32_t roots = pmemcpy::add_operation(pmem, "roots", [](const pmemcpy::OperationArray& in) {
        pmemcpy::OperationArray out = in;
        for (std::size_t at = 0; at < out.data.size(); at += sizeof(double)) {
            double x = 0;
            std::memcpy(&x, &out.data[at], sizeof x);
            x = std::sqrt(x);
            std::memcpy(&out.data[at], &x, sizeof x);
        }
        return out;
    });

    std::vector<double> u(1000);
    std::iota(u.rbegin(), u.rend(), 0.0);
    pmem.store("u", u.data(), pmemcpy::Box::whole({1000}));  // and goes on computing
    pmemcpy::wait_for_operations(pmem);
    std::printf("%g %g\n", pmem.load<double>("u.max"), pmem.view<double>("u.sorted").data()[0]);

    for (const std::string& made : pmemcpy::run_operations(pmem, "u", {roots}))  // now, once
        std::printf("%s %g\n", made.c_str(), pmem.view<double>(made).data()[0]);
    // [/main]
    return 0;
}
