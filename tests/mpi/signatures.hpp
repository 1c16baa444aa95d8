#pragma once

#include <array>
#include <pmap/pmap.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

// Every signature of Figure 2 of the paper and of Figure 4 of the poster but mmap(), each called with the
// types that the figure gives it. The programs that include this map the pool, with MPI and without.

namespace signatures {

struct Point {
    double x;
    double y;
    friend bool operator==(const Point&, const Point&) = default;
};

/// The figures' lines, on ids that begin with `prefix`. `equal(found, expected)` complains.
template <class Pmem, class Equal>
void call_all(Pmem& pmem, const std::string& prefix, const Equal& equal) {
    // pmem.store<T>(std::string id, T &data) and pmem.store<T>(std::string id, T &data, SerializerType)
    double number = 0.1;
    Point point{1, 2};
    pmem.template store<double>(prefix + "number", number);
    pmem.template store<Point>(prefix + "point", point);
    pmem.template store<double>(prefix + "number by default", number, pmap::SerializerType::Default);
    pmem.template store<double>(prefix + "number by none", number, pmap::SerializerType::none);

    // pmem.load<T>(std::string id) and pmem.load<T>(std::string id, T &num)
    Point loaded{};
    pmem.template load<Point>(prefix + "point", loaded);
    equal(loaded == point, true);
    for (const char* id : {"number", "number by default", "number by none"}) {
        double again = 0;
        pmem.template load<double>(prefix + id, again);
        equal(again, number);
        equal(pmem.template load<double>(prefix + id), number);
    }

    // pmem.alloc<T>(std::string id, int ndims, size_t *dims), also with a SerializerType, and
    // pmem.alloc<T>(std::string id, pmemcpy::Dimensions dims)
    int ndims = 2;
    std::size_t dims[] = {4, 3};
    pmem.template alloc<int>(prefix + "array", ndims, dims);
    pmem.template alloc<int>(prefix + "array by default", ndims, dims, pmap::SerializerType::Default);
    pmem.template alloc<int>(prefix + "array by none", ndims, dims, pmap::SerializerType::none);
    pmem.template alloc<int>(prefix + "array of dimensions", pmemcpy::Dimensions{4, 3});

    for (const char* id : {"array", "array by default", "array by none", "array of dimensions"}) {
        // pmem.store<T>(std::string id, T *data, int ndims, size_t *offsets, size_t *dimspp), and load
        int data[] = {1, 2, 3, 4};
        std::size_t offsets[] = {1, 1};
        std::size_t dimspp[] = {2, 2};
        pmem.template store<int>(prefix + id, data, ndims, offsets, dimspp);
        int back[4] = {};
        pmem.template load<int>(prefix + id, back, ndims, offsets, dimspp);
        equal(std::to_array(back) == std::to_array(data), true);

        // pmem.load_dims(std::string id, int *ndims, size_t *dim)
        int found = 0;
        std::size_t dim[2] = {};
        pmem.load_dims(prefix + id, &found, dim);
        equal(found, 2);
        equal(dim[0], 4u);
        equal(dim[1], 3u);
    }
}

}  // namespace signatures
