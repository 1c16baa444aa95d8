#pragma once

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include <pmemcpy/pmemcpy.hpp>

namespace pmemcpy::faults {

/// first, first + 1, ...: no two elements alike, so that one in the wrong place is noticed.
inline std::vector<double> numbers(std::size_t n, double first) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

inline void store_box(PMEM& pmem, const std::string& id, const Box& box, double first) {
    pmem.store<double>(id, numbers(box.elements(), first).data(), box);
}

}  // namespace pmemcpy::faults
