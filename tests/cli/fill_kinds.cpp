// Makes a pool with all kinds of things that the command meets: fill_kinds POOL [changed]. The second argument makes some of
// them different, for diff to find.

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Probe {
    std::int32_t id;
    float at[2];
    char name[6];
};

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
void store_array(pmemcpy::PMEM& pmem, const std::string& id, const pmemcpy::Dimensions& dims,
                 const std::vector<T>& elements, const pmemcpy::ArrayOptions& options = {}) {
    pmem.alloc<T>(id, dims, options);
    pmem.store(id, elements.data(), pmemcpy::Box::whole(dims));
}

/// Arrays that differ in how they are stored, and hold the same: element (i, j, k) is 100 i + 10 j + k.
void store_orders(pmemcpy::PMEM& pmem) {
    const pmemcpy::Dimensions dims = {3, 4, 5};
    std::vector<std::int16_t> by_rows;
    for (int n = 0; n < 60; ++n)
        by_rows.push_back(static_cast<std::int16_t>(100 * (n / 20) + 10 * (n / 5 % 4) + n % 5));
    std::vector<std::int16_t> by_columns;
    for (int n = 0; n < 60; ++n)
        by_columns.push_back(static_cast<std::int16_t>(100 * (n % 3) + 10 * (n / 3 % 4) + n / 12));
    store_array(pmem, "orders/c", dims, by_rows);
    pmemcpy::ArrayOptions fortran;
    fortran.order = pmemcpy::Order::fortran;
    store_array(pmem, "orders/fortran", dims, by_columns, fortran);
}

}  // namespace

PMEMCPY_STRUCT(Probe, id, at, name);

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    const bool changed = argc > 2 && std::string_view(argv[2]) == "changed";
    pmemcpy::Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1], options);

    std::vector<float> ramp(100'000);
    std::iota(ramp.begin(), ramp.end(), 0.0F);
    if (changed) {
        ramp[500] += 0.5F;
        ramp[501] += 0.25F;
    }
    store_array(pmem, "ramp", {1000, 100}, ramp);
    pmem.set_attribute("ramp", "units", changed ? "K" : "degC");
    pmem.set_attribute("ramp", "scale", 1.0);
    if (changed) pmem.set_attribute("ramp", "added", 1);
    pmem.set_attribute("/", "title", changed ? "after" : "before");

    store_array<double>(pmem, "specials", {6},
                        {not_a_number, infinity, -infinity, 0, -0.0, changed ? 1.75 : 1.5});
    store_array<std::int64_t>(pmem, "wide", {3}, {INT64_MIN, 0, INT64_MAX});
    store_array<std::uint64_t>(pmem, "unsigned", {2}, {changed ? 1U : 0U, UINT64_MAX});
    store_array<std::complex<float>>(pmem, "waves", {2}, {{3, 4}, {0, 0}});
    store_array<Probe>(pmem, "probes", {2},
                       {{1, {0.5F, 1}, "a,b"}, {2, {1.5F, changed ? 9.0F : 2.0F}, "\"q\""}});
    store_array<std::array<char, 4>>(pmem, "labels", {2}, {{{'o', 'n', 'e', 0}}, {{'t', 'w', 'o', 0}}});
    store_array<double>(pmem, "scalar", {}, {2.5});
    pmem.alloc<double>("empty", {0, 3});
    pmem.alloc<std::int32_t>("unwritten", {4, 4});
    using Day = pmemcpy::datetime64<pmemcpy::TimeUnit::day>;
    store_array<Day>(pmem, "days", {3}, {Day{0}, Day{INT64_MIN}, Day{10}});
    store_orders(pmem);

    // Two steps of the same box, and a part that only one pool has.
    pmem.alloc<std::int32_t>("stepped", {4});
    for (std::int32_t step = 1; step <= 2; ++step) {
        const std::array<std::int32_t, 2> both = {step, 10 * step};
        pmem.begin(static_cast<std::uint64_t>(step));
        pmem.store("stepped", both.data(), pmemcpy::Box{{0}, {2}});
        pmem.commit(static_cast<std::uint64_t>(step));
    }
    const std::int32_t last = 7;
    if (changed) pmem.store("stepped", &last, pmemcpy::Box{{3}, {1}});

    const pmemcpy::Codec codec{pmemcpy::Codec::Kind::lz4};
    if (pmemcpy::is_available(codec.kind)) {
        pmemcpy::ArrayOptions packed;
        packed.codec = codec;
        store_array(pmem, "packed/zeros", {100, 1000}, std::vector<double>(100'000), packed);
    }

    pmem.store("poem", std::string(changed ? "one\n\"three\"" : "one\n\"two\""));
    pmem.store("group/inner/value", changed ? 2 : 1);
    pmem.store("group/inner/other", 1);
    pmem.store("gone/value", 1);
    pmem.erase("gone/value");  // leaves an empty group
    pmem.store("u[1]", 1);
    pmem.store("u1", 1);
    pmem.store("12:30", 1);
    pmem.store("[x]", 1);
    pmem.store("sequence", std::vector<std::int32_t>{1, 2, changed ? 4 : 3});
    if (changed) {
        pmem.store("new/a", 1);
        pmem.store("new/b", 1);
    } else {
        pmem.store("old", 1);
    }
    pmem.munmap();
    return 0;
}
