// What stored numbers stand for by the attributes of NetCDF's conventions.

#include <pmemcpy/packing.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

class packing : public testing::Test {
protected:
    packing() {
        Options options;
        options.max_bytes = 64 << 20;
        pool.mmap(folder_ / "pool", options);
    }

    template <class T>
    void store(const std::vector<T>& numbers) {
        if (pool.exists("a")) pool.erase("a");
        pool.alloc<T>("a", {numbers.size()});
        pool.store("a", numbers.data(), Box{{0}, {numbers.size()}});
    }
    template <class T>
    void set(const char* name, const T& value) {
        pool.set_attribute("a", name, value);
    }
    Packing now() const { return {pool, pool.info("a")}; }

    /// What the elements stand for; nothing for those that are missing.
    template <class T>
    std::vector<std::optional<double>> meant() const {
        const Packing how = now();
        std::vector<T> stored(pool.load_dims("a").elements());
        pool.load("a", stored.data(), Box{{0}, {stored.size()}});
        std::vector<std::optional<double>> all;
        for (const T& one : stored) {
            std::optional<double>& number = all.emplace_back();
            const bool is_there = how.visit(std::as_bytes(std::span(&one, 1)),
                                            [&](auto n) { number = static_cast<double>(n); });
            EXPECT_EQ(is_there, number.has_value());
        }
        return all;
    }
    template <class T>
    bool is_whole_between(T least, T greatest) const {
        return now().is_whole_between(std::as_bytes(std::span(&least, 1)),
                                      std::as_bytes(std::span(&greatest, 1)));
    }

    PMEM pool;
    static constexpr std::nullopt_t missing = std::nullopt;

private:
    Folder folder_;
};

using Meant = std::vector<std::optional<double>>;

TEST_F(packing, is_plain_without_attributes_of_the_conventions) {
    store<double>({1, 2});
    set("units", "K");
    EXPECT_TRUE(now().is_plain());
    EXPECT_EQ(meant<double>(), (Meant{1, 2}));
    pool.store("text", "a");
    pool.set_attribute("text", "_FillValue", 1);
    EXPECT_TRUE(Packing(pool, pool.info("text")).is_plain());
    EXPECT_TRUE(Packing().is_plain());
}

TEST_F(packing, leaves_out_fill_values_and_all_missing_values) {
    store<double>({1, -1e10, 3, -99, -98});
    set("_FillValue", -1e10);
    set("missing_value", std::vector<double>{-99, -98});
    EXPECT_FALSE(now().is_plain());
    EXPECT_EQ(meant<double>(), (Meant{1, missing, 3, missing, missing}));
}

// 1e20 and 0.1 are no float32: as float64 no element would ever be equal to them.
TEST_F(packing, compares_in_the_type_of_the_elements) {
    store<float>({0.1F, 1e20F, 5});
    set("missing_value", 1e20);
    set("valid_min", 0.1);
    EXPECT_EQ(meant<float>(), (Meant{double{0.1F}, missing, 5}));
}

TEST_F(packing, leaves_out_nan_where_that_is_the_fill_value) {
    store<double>({NAN, 1});
    set("valid_max", 10.0);
    EXPECT_TRUE(std::isnan(meant<double>()[0].value()));
    set("_FillValue", NAN);
    EXPECT_EQ(meant<double>(), (Meant{missing, 1}));
}

TEST_F(packing, unpacks_what_is_not_missing) {
    store<std::int16_t>({0, 100, -32768});
    set("_FillValue", std::int16_t{-32768});
    set("scale_factor", 0.5);
    EXPECT_EQ(meant<std::int16_t>(), (Meant{0, 50, missing}));
    set("add_offset", 273);
    EXPECT_EQ(meant<std::int16_t>(), (Meant{273, 323, missing}));
}

TEST_F(packing, has_limits_of_packed_or_of_unpacked_numbers) {
    store<std::int16_t>({-1, 0, 100, 101});
    set("scale_factor", 0.5);
    set("valid_range", std::vector<std::int16_t>{0, 100});
    EXPECT_EQ(meant<std::int16_t>(), (Meant{missing, 0, 50, missing}));
    pool.remove_attribute("a", "valid_range");
    set("valid_min", 0.25);
    set("valid_max", 50.0);
    EXPECT_EQ(meant<std::int16_t>(), (Meant{missing, missing, 50, missing}));
}

TEST_F(packing, turns_the_sign) {
    store<std::int8_t>({0, -1, -2, 127});
    set("_Unsigned", "true");
    set("_FillValue", std::int8_t{-1});
    EXPECT_EQ(meant<std::int8_t>(), (Meant{0, missing, 254, 127}));
    set("_FillValue", std::uint8_t{254});
    set("scale_factor", 2.0);
    EXPECT_EQ(meant<std::int8_t>(), (Meant{0, 510, missing, 254}));
    store<std::uint16_t>({0, 65535, 32767});
    set("_Unsigned", "False");
    EXPECT_EQ(meant<std::uint16_t>(), (Meant{0, -1, 32767}));
}

TEST_F(packing, keeps_integers_of_64_bits_exact) {
    const std::int64_t large = (std::int64_t{1} << 53) + 1;
    store<std::int64_t>({large, large - 1});
    set("_FillValue", large);
    std::vector<std::int64_t> seen;
    for (const std::int64_t one : {large, large - 1}) {
        now().visit(one, [&](auto n) {
            if constexpr (std::is_same_v<decltype(n), std::int64_t>) seen.push_back(n);
        });
    }
    EXPECT_EQ(seen, std::vector<std::int64_t>{large - 1});
    store<std::int64_t>({-1});
    set("_Unsigned", "true");
    EXPECT_EQ(meant<std::int64_t>(), (Meant{static_cast<double>(UINT64_MAX)}));
}

TEST_F(packing, passes_over_what_makes_no_sense) {
    store<std::int16_t>({1, 2});
    set("_FillValue", 1e20);
    set("missing_value", "none");
    set("valid_range", std::vector<int>{1, 2, 3});
    set("scale_factor", true);
    set("add_offset", std::vector<double>{1, 2});
    set("_Unsigned", "perhaps");
    EXPECT_EQ(meant<std::int16_t>(), (Meant{1, 2}));
}

TEST_F(packing, knows_between_which_elements_none_is_missing) {
    store<std::int16_t>({1});
    set("_FillValue", std::int16_t{-99});
    EXPECT_TRUE(is_whole_between<std::int16_t>(0, 30));
    EXPECT_FALSE(is_whole_between<std::int16_t>(-99, 30));
    EXPECT_FALSE(is_whole_between<std::int16_t>(-100, 30));
    set("valid_max", std::int16_t{20});
    EXPECT_FALSE(is_whole_between<std::int16_t>(0, 30));
    set("_Unsigned", "true");
    EXPECT_TRUE(is_whole_between<std::int16_t>(0, 20));
    EXPECT_FALSE(is_whole_between<std::int16_t>(-1, 20)) << "-1 is 65535";
}

TEST_F(packing, is_of_values_too) {
    pool.store("a", std::int16_t{4});
    set("scale_factor", 0.25);
    double number = 0;
    EXPECT_TRUE(now().visit(std::int64_t{4}, [&](auto n) { number = static_cast<double>(n); }));
    EXPECT_EQ(number, 1);
    pool.store("a", std::vector<std::int16_t>{4, 8});
    EXPECT_FALSE(now().is_plain());
}

}  // namespace
}  // namespace pmemcpy
