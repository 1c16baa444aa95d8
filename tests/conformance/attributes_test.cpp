// Attributes of variables, groups and the pool.

#include <algorithm>
#include <complex>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "pool_suite.hpp"

struct Grid {
    double spacing = 0;
    std::int32_t cells[3] = {};
};
PMEMCPY_STRUCT(Grid, spacing, cells);

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(attributes);

using Names = std::vector<std::string>;

TEST_P(attributes, of_variables_groups_and_the_pool) {
    open();
    pmem.alloc<float>("ocean/TEMP", Dimensions{4});
    pmem.set_attribute("ocean/TEMP", "units", "degC");
    pmem.set_attribute("ocean/TEMP", "missing_value", -1e34F);
    pmem.set_attribute("ocean/TEMP", "dimensions", std::vector<std::int64_t>{1, 2, 3});
    pmem.set_attribute("ocean", "source", "Levitus");
    pmem.set_attribute("/", "title", "climatology");
    EXPECT_EQ(pmem.attributes("ocean/TEMP"), (Names{"dimensions", "missing_value", "units"}));
    EXPECT_EQ(pmem.get_attribute<std::string>("ocean/TEMP", "units"), "degC");
    EXPECT_EQ(pmem.get_attribute<float>("ocean/TEMP", "missing_value"), -1e34F);
    EXPECT_EQ(pmem.get_attribute<std::vector<std::int64_t>>("ocean/TEMP", "dimensions").at(2), 3);
    EXPECT_EQ(pmem.get_attribute<std::string>("ocean", "source"), "Levitus");
    EXPECT_EQ(pmem.get_attribute<std::string>("/", "title"), "climatology");
    EXPECT_EQ(pmem.attributes("/"), Names{"title"});
    EXPECT_EQ(pmem.info("ocean/TEMP").attributes, 3u);
    EXPECT_EQ(pmem.attribute_info("ocean/TEMP", "missing_value").type, type_of<float>());
    EXPECT_EQ(pmem.ids(), Names{"ocean/TEMP"});
    EXPECT_EQ(pmem.groups(), Names{"ocean"});
}

TEST_P(attributes, of_every_kind_of_type) {
    open();
    pmem.store("v", 1);
    pmem.set_attribute("v", "bool", true);
    pmem.set_attribute("v", "i64", std::int64_t{-7});
    pmem.set_attribute("v", "complex", std::complex<double>(1, 2));
    pmem.set_attribute("v", "half", float16(0.5F));
    pmem.set_attribute("v", "when", datetime64<TimeUnit::day>{19'000});
    pmem.set_attribute("v", "grid", Grid{0.5, {1, 2, 3}});
    pmem.set_attribute("v", "text", std::string("\xE2\x82\xAC"));
    pmem.set_attribute("v", "empty", "");
    EXPECT_TRUE(pmem.get_attribute<bool>("v", "bool"));
    EXPECT_EQ(pmem.get_attribute<std::int64_t>("v", "i64"), -7);
    EXPECT_EQ(pmem.get_attribute<std::complex<double>>("v", "complex"), std::complex<double>(1, 2));
    EXPECT_EQ(pmem.get_attribute<float16>("v", "half"), float16(0.5F));
    EXPECT_EQ(pmem.get_attribute<datetime64<TimeUnit::day>>("v", "when").ticks, 19'000);
    EXPECT_EQ(pmem.get_attribute<Grid>("v", "grid").cells[2], 3);
    EXPECT_EQ(pmem.get_attribute<std::string>("v", "text"), "\xE2\x82\xAC");
    EXPECT_EQ(pmem.get_attribute<std::string>("v", "empty"), "");
    expect_error(Code::type_mismatch, [&] { pmem.get_attribute<int>("v", "bool"); }, {"bool", "int32"});
}

TEST_P(attributes, replaced_and_removed) {
    open();
    pmem.store("v", 1);
    for (int i = 0; i < 500; ++i) pmem.set_attribute("v", "n", i);
    EXPECT_EQ(pmem.get_attribute<int>("v", "n"), 499);
    pmem.set_attribute("v", "n", "now text");
    EXPECT_EQ(pmem.get_attribute<std::string>("v", "n"), "now text");
    pmem.remove_attribute("v", "n");
    EXPECT_TRUE(pmem.attributes("v").empty());
    expect_error(Code::not_found, [&] { pmem.get_attribute<int>("v", "n"); }, {"'v'", "'n'"});
    expect_error(Code::not_found, [&] { pmem.remove_attribute("v", "n"); }, {"'n'"});
    pmem.set_attribute("v", "n", 3);
    EXPECT_EQ(pmem.get_attribute<int>("v", "n"), 3);
    for (int i = 0; i < 500; ++i) pmem.set_attribute("v", "x", i), pmem.remove_attribute("v", "x");
    EXPECT_EQ(pmem.attributes("v"), Names{"n"});
}

TEST_P(attributes, several_in_one_call) {
    open();
    pmem.store("v", 1);
    pmem.set_attribute("v", "n", "replaced below");
    pmem.set_attributes("v", {{"units", "K"}, {"n", 3}, {"range", std::vector<float>{0, 42}}});
    pmem.set_attributes("/", {{"title", std::string("climatology")}});
    const std::vector<Attribute> grid = {{"grid", Grid{0.5, {1, 2, 3}}}, {"n", 4}, {"n", 5}};
    pmem.set_attributes("v", grid);
    pmem.set_attributes("v", {});
    EXPECT_EQ(pmem.attributes("v"), (Names{"grid", "n", "range", "units"}));
    EXPECT_EQ(pmem.get_attribute<std::string>("v", "units"), "K");
    EXPECT_EQ(pmem.get_attribute<int>("v", "n"), 5) << "the last of the same name";
    EXPECT_EQ(pmem.get_attribute<std::vector<float>>("v", "range").at(1), 42);
    EXPECT_EQ(pmem.get_attribute<Grid>("v", "grid").cells[2], 3);
    EXPECT_EQ(pmem.get_attribute<std::string>("/", "title"), "climatology");
}

TEST_P(attributes, of_several_with_a_bad_name_none_is_set) {
    open();
    pmem.store("v", 1);
    expect_error(Code::invalid_argument, [&] { pmem.set_attributes("v", {{"a", 1}, {"", 2}}); });
    expect_error(Code::invalid_argument, [&] { pmem.set_attributes("v", {{"a", 1}, {"pmemcpy:b", 2}}); });
    expect_error(Code::not_found, [&] { pmem.set_attributes("w", {{"a", 1}}); }, {"'w'"});
    EXPECT_TRUE(pmem.attributes("v").empty());
    Options reading = options();
    reading.mode = Mode::read;
    PMEM reader;
    reader.mmap(path(), reading);
    expect_error(Code::permission_denied, [&] { reader.set_attributes("v", {{"a", 1}}); });
}

TEST_P(attributes, survive_what_happens_to_the_value) {
    open();
    pmem.store("v", 1);
    pmem.set_attribute("v", "a", 1);
    pmem.store("v", std::string(100'000, 'x'));
    pmem.set_attribute("v", "b", 2);
    pmem.rename("v", "g/w");
    pmem.set_attribute("g/w", "c", 3);
    reopen();
    EXPECT_EQ(pmem.attributes("g/w"), (Names{"a", "b", "c"}));
    EXPECT_EQ(pmem.get_attribute<int>("g/w", "a") + pmem.get_attribute<int>("g/w", "c"), 4);
    pmem.erase("g/w");
    pmem.store("g/w", 1);
    EXPECT_TRUE(pmem.attributes("g/w").empty());
}

TEST_P(attributes, large_values) {
    open();
    pmem.store("v", 1);
    for (const std::size_t length : {500U, 513U, 65536U, 1U << 20}) {
        const std::string name = std::to_string(length);
        std::string value(length, 'v');
        value.back() = '!';
        pmem.set_attribute("v", name, value);
        EXPECT_EQ(pmem.get_attribute<std::string>("v", name), value);
        pmem.set_attribute("v", name, value + "+");
        EXPECT_EQ(pmem.get_attribute<std::string>("v", name), value + "+");
    }
    reopen();
    EXPECT_EQ(pmem.get_attribute<std::string>("v", "1048576").size(), (1u << 20) + 1);
}

TEST_P(attributes, four_thousand_and_ninety_six_of_one_variable) {
    open();
    pmem.store("v", 1);
    for (int i = 0; i < 4096; ++i) pmem.set_attribute("v", "attribute " + std::to_string(i), i);
    EXPECT_EQ(pmem.attributes("v").size(), 4096u);
    for (int i = 0; i < 4096; i += 7)
        ASSERT_EQ(pmem.get_attribute<int>("v", "attribute " + std::to_string(i)), i);
    expect_error(Code::out_of_range, [&] { pmem.set_attribute("v", "one more", 1); }, {"4096"});
    const auto set_two = [&] { pmem.set_attributes("v", {{"attribute 1", -1}, {"one more", 1}}); };
    expect_error(Code::out_of_range, set_two, {"4096"});
    EXPECT_EQ(pmem.get_attribute<int>("v", "attribute 1"), -1) << "the one before it is set";
    pmem.set_attribute("v", "attribute 5", "replaced");
    pmem.remove_attribute("v", "attribute 0");
    pmem.set_attribute("v", "one more", 1);
    EXPECT_EQ(pmem.info("v").attributes, 4096u);
    reopen();
    EXPECT_EQ(pmem.get_attribute<std::string>("v", "attribute 5"), "replaced");
    pmem.erase("v");
    pmem.compact();
    EXPECT_EQ(pmem.info().retired_records, 0u);
}

TEST_P(attributes, bad_names_and_owners) {
    open();
    pmem.store("v", 1);
    expect_error(Code::invalid_argument, [&] { pmem.set_attribute("v", "", 1); });
    expect_error(Code::invalid_argument, [&] { pmem.set_attribute("v", std::string(4097, 'n'), 1); });
    expect_error(Code::invalid_argument, [&] { pmem.set_attribute("v", std::string("a\0b", 3), 1); });
    expect_error(Code::not_found, [&] { pmem.set_attribute("w", "n", 1); }, {"'w'"});
    expect_error(Code::not_found, [&] { pmem.attributes("w"); }, {"'w'"});
    expect_error(Code::not_found, [&] { pmem.get_attribute<int>("/", "n"); }, {"'/'", "'n'"});
    EXPECT_TRUE(pmem.attributes("/").empty());
    pmem.set_attribute("v", std::string(4096, 'n'), 1);
    EXPECT_EQ(pmem.get_attribute<int>("v", std::string(4096, 'n')), 1);
    pmem.set_attribute("v", "a/b .. #dims", 2);
    EXPECT_EQ(pmem.get_attribute<int>("v", "a/b .. #dims"), 2);
}

TEST_P(attributes, two_variables_keep_theirs_apart) {
    open();
    pmem.store("v", 1);
    pmem.store("w", 1);
    pmem.set_attribute("v", "n", 1);
    pmem.set_attribute("w", "n", 2);
    pmem.remove_attribute("v", "n");
    EXPECT_EQ(pmem.get_attribute<int>("w", "n"), 2);
    pmem.erase("v");
    EXPECT_EQ(pmem.attributes("w"), Names{"n"});
}

}  // namespace
}  // namespace pmemcpy::conformance
