// What queries find, by looking at each object.
// Length: one pool that is asked everything, with an index of each mode and without.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <pmemcpy/error.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/json.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/struct.hpp>
#include <thread>

#include "tests/folder.hpp"

using namespace pmemcpy;

namespace {

struct Limits {
    double low;
    std::int32_t count[2];
};

}  // namespace

PMEMCPY_STRUCT(Limits, low, count);

namespace {

/// Each question is asked without an index, and with one that is kept in either way: the answers are the same.
class QueryTest : public ::testing::TestWithParam<IndexMode> {
protected:
    void SetUp() override {
        Options options;
        options.max_bytes = 64 << 20;
        options.index = GetParam();
        pool_.mmap(folder_ / "pool", options);
    }

    /// The ids that are found, parted by blanks.
    std::string found(const Query& question) {
        std::vector<std::string> each;
        for (const Found& one : query(pool_, question)) each.push_back(one.id);
        EXPECT_EQ(ids(pool_, question), each) << question.text();
        std::string all;
        for (const std::string& id : each) all += (all.empty() ? "" : " ") + id;
        return all;
    }
    std::string found(std::string_view text) { return found(Query::parse(text)); }

    std::string counted(std::string_view text) {
        std::string rows;
        for (const Counted& row : count(pool_, text)) {
            rows += (rows.empty() ? "" : ", ") + (row.value ? row.value->text() : "-") + ": " +
                    std::to_string(row.objects);
        }
        return rows;
    }

    void array(const std::string& id, std::size_t rows, double first) {
        std::vector<double> numbers(rows * 10);
        std::iota(numbers.begin(), numbers.end(), first);
        pool_.alloc<double>(id, Dimensions{rows, 10});
        for (std::size_t row = 0; row < rows; ++row)
            pool_.store(id, numbers.data() + row * 10, Box{{row, 0}, {1, 10}});
    }

    void flush_if_kept() {
        if (GetParam() != IndexMode::none) flush_index(pool_);
    }

    Folder folder_;
    PMEM pool_;
};

}  // namespace

TEST_P(QueryTest, finds_by_name_group_and_kind) {
    pool_.store("u/a", 1);
    pool_.store("u/b/c", 2);
    pool_.store("v", 3);
    array("u/field", 2, 0);
    EXPECT_EQ(found(""), "u u/a u/b u/b/c u/field v") << "everything, in the order of names";
    EXPECT_EQ(found("name ~ 'u/*'"), "u/a u/b u/field");
    EXPECT_EQ(found("name ~ 'u/**'"), "u/a u/b u/b/c u/field");
    EXPECT_EQ(found("under 'u'"), "u/a u/b u/b/c u/field");
    EXPECT_EQ(found("under '/' and kind != 'group'"), "u/a u/b/c u/field v");
    EXPECT_EQ(found("group = 'u'"), "u/a u/b u/field");
    EXPECT_EQ(found("group = '/'"), "u v");
    EXPECT_EQ(found("name contains 'b'"), "u/b u/b/c");
    EXPECT_EQ(found("name begins 'u/b' and not name = 'u/b'"), "u/b/c");
    EXPECT_EQ(found("name = 'u/a' or name = 'v'"), "u/a v");
    EXPECT_EQ(found("name in ('v', 'nobody')"), "v");
    EXPECT_EQ(found("kind = 'group'"), "u u/b");
    EXPECT_EQ(found("kind in ('array')"), "u/field");
}

TEST_P(QueryTest, finds_by_what_is_known_of_every_object) {
    array("a", 3, -5);
    pool_.store("n", std::int32_t{42});
    pool_.store("text", "hello");
    pool_.make_group("g");
    pool_.begin(7);
    pool_.store("stepped", 1.5F);
    pool_.commit(7);
    EXPECT_EQ(found("dtype = 'float64'"), "a");
    EXPECT_EQ(found("dtype ~ 'float*'"), "a stepped");
    EXPECT_EQ(found("shape = (3, 10)"), "a");
    EXPECT_EQ(found("shape = (10, 3)"), "");
    EXPECT_EQ(found("shape.0 = 3 and shape.1 > 9 and rank = 2"), "a");
    EXPECT_EQ(found("exists(shape.2)"), "");
    EXPECT_EQ(found("bytes in 4..5"), "n stepped text");
    EXPECT_EQ(found("blocks = 3"), "a");
    EXPECT_EQ(found("step in 5..10"), "stepped");
    EXPECT_EQ(found("codec = 'none'"), "a");
    EXPECT_EQ(found("min = -5 and max = 24"), "a");
    EXPECT_EQ(found("max < 10"), "stepped");
    EXPECT_EQ(found("changed > now - 1h and changed <= now"), "a g n stepped text");
    EXPECT_EQ(found("changed < '2020'"), "");
    EXPECT_EQ(found("value = 42 or value = 'hello' or value > 1e9"), "n text");
    EXPECT_EQ(found(Key("dtype") == "int32"), "n");
    EXPECT_EQ(
        found(Key("changed") > std::chrono::system_clock::now() - std::chrono::hours(1) && Key("bytes") == 4),
        "n stepped");
}

TEST_P(QueryTest, knows_who_created_it_and_when) {
    pool_.store("mine", 1);
    Options options;
    options.program = "solver";
    options.ranks = 16;
    PMEM other;
    other.mmap(pool_.info().path, options);
    other.store("g/theirs", 2);
    EXPECT_EQ(found("creator.program = 'solver'"), "g g/theirs");
    EXPECT_EQ(found("creator.ranks > 8 and kind = 'value'"), "g/theirs");
    EXPECT_EQ(found("not exists(creator.ranks)"), "mine");
    const Creation creation = pool_.creation("mine");
    EXPECT_EQ(found("creator = '" + creation.user + "'"), "g g/theirs mine");
    EXPECT_EQ(found("creator.user = '" + creation.user + "' and creator.host = '" + creation.host +
                    "' and creator.program != 'solver'"),
              "mine");
    EXPECT_EQ(found("created > now - 1h and name = 'mine'"), "mine");
    EXPECT_EQ(found("created < now - 1h"), "");
}

TEST_P(QueryTest, knows_the_mean_of_numbers) {
    array("a", 4, 0);  // 0 to 39
    EXPECT_EQ(found("mean = 19.5"), "a");
    std::vector<double> row(10, 5);
    row[3] = std::nan("");
    pool_.store("a", row.data(), Box{{3, 0}, {1, 10}});
    EXPECT_EQ(found("mean > 12.3 and mean < 12.31"), "a") << "(435 + 45) / 39: NaN is none";
    pool_.store("a", std::vector<double>(2, 90).data(), Selection({0, 0}, {2, 1}, {2, 1}));
    EXPECT_EQ(found("mean > 16.4 and mean < 16.42"), "a") << "0 and 20 are 90 now: (480 - 20 + 180) / 39";
    pool_.store("v", std::vector<int>{1, 2, 6});
    pool_.store("s", 3.0F);
    pool_.store("text", "3");
    EXPECT_EQ(found("mean = 3"), "s v");
    EXPECT_EQ(found("exists(mean)"), "a s v");
}

TEST_P(QueryTest, knows_the_range_of_what_was_stored_over_something_else) {
    array("a", 4, 0);
    std::vector<double> row(10, 5);
    row[3] = std::nan("");
    pool_.store("a", row.data(), Box{{3, 0}, {1, 10}});
    EXPECT_EQ(found("max = 29"), "a") << "in place of 30 to 39";
    pool_.begin(1);
    pool_.store("a", std::vector<double>(20, 7).data(), Box{{2, 0}, {2, 10}});
    pool_.commit(1);
    EXPECT_EQ(found("max = 19 and min = 0"), "a") << "older steps are kept behind it";
    pool_.store("a", std::vector<double>(5, 8).data(), Box{{1, 5}, {1, 5}});
    EXPECT_EQ(found("max = 14"), "a") << "15 to 19 lie behind a part that was stored anew";
    pool_.store("a", std::vector<double>(2, 90).data(), Selection({0, 0}, {2, 1}, {2, 1}));
    EXPECT_EQ(found("max = 90 and min = 1"), "a");
    EXPECT_EQ(found("value > 15 and max < 90"), "");
}

// A newcomer's `find 'max > 400 and units = "K"'` found each array with one missing cell, for that is 1e20.
TEST_P(QueryTest, asks_for_what_packed_numbers_stand_for_and_not_for_what_is_missing) {
    const std::vector<float> numbers = {280, 1e20F, 300, 290};
    const std::vector<std::int16_t> packed = {0, 100, -32768, 40};
    for (const char* id : {"a", "whole"}) {
        pool_.alloc<float>(id, {4});
        pool_.store(id, numbers.data(), Box{{0}, {4}});
        pool_.set_attribute(id, "_FillValue", 1e20F);
    }
    const std::vector<float> newer(2, 1e20F);
    pool_.store("whole", newer.data(), Box{{2}, {2}});
    pool_.alloc<std::int16_t>("packed", {4});
    pool_.store("packed", packed.data(), Box{{0}, {4}});
    pool_.set_attribute("packed", "_FillValue", std::int16_t{-32768});
    pool_.set_attribute("packed", "scale_factor", -0.5);
    pool_.set_attribute("packed", "add_offset", 10);
    pool_.store("scalar", std::int16_t{8});
    pool_.set_attribute("scalar", "scale_factor", 0.25);
    pool_.store("list", std::vector<float>{5, -999, 7});
    pool_.set_attribute("list", "missing_value", -999.0);
    flush_if_kept();
    EXPECT_EQ(found("max > 400"), "");
    EXPECT_EQ(found("max = 300 and min = 280"), "a");
    EXPECT_EQ(found("max = 280 and min = 280"), "whole") << "which the newer block covers in part";
    EXPECT_EQ(found("max = 10 and min = -40"), "packed") << "a negative scale turns them round";
    EXPECT_EQ(found("value = -40"), "packed");
    EXPECT_EQ(found("value > 1e19 or value < -900"), "");
    EXPECT_EQ(found("value = 2"), "scalar");
    EXPECT_EQ(found("value = 8"), "");
    EXPECT_EQ(found("min = 2 and max = 2"), "scalar");
    EXPECT_EQ(found("min = 5 and max = 7 and mean = 6"), "list");
    EXPECT_EQ(found("mean = 290"), "a");
    pool_.set_attribute("packed", "scale_factor", 1.0);
    flush_if_kept();
    EXPECT_EQ(found("max = 110"), "packed") << "an attribute is as good as the numbers";
    pool_.remove_attribute("a", "_FillValue");
    flush_if_kept();
    EXPECT_EQ(found("max > 400"), "a");
}

TEST_P(QueryTest, finds_by_attributes_of_every_type) {
    for (const char* id : {"a", "b", "c"}) pool_.store(id, 0);
    pool_.set_attribute("a", "units", "K");
    pool_.set_attribute("b", "units", "m/s");
    pool_.set_attribute("a", "large", UINT64_MAX);
    pool_.set_attribute("b", "large", std::int64_t{-1});
    pool_.set_attribute("c", "large", 1e19);
    pool_.set_attribute("a", "done", true);
    pool_.set_attribute("a", "range", std::vector<float>{1, 5, 9});
    pool_.set_attribute("a", "run",
                        nlohmann::json{{"author", "li"}, {"dt", 0.1}, {"nodes", {1, 2, 3}}, {"x", nullptr}});
    pool_.set_attribute("b", "run", nlohmann::json{{"author", "wu"}, {"deep", {{"er", {true}}}}});
    pool_.set_attribute("c", "limits", Limits{-2.5, {3, 4}});
    pool_.set_attribute("c", "a.b", 7);
    pool_.set_attribute("c", "min", 8);
    EXPECT_EQ(found("units = 'K'"), "a");
    EXPECT_EQ(found("units != 'K'"), "b") << "what has no such attribute does not differ";
    EXPECT_EQ(found("not units = 'K'"), "b c");
    EXPECT_EQ(found("exists(units)"), "a b");
    EXPECT_EQ(found("large > 18446744073709551614"), "a") << "exactly, beyond what a double holds";
    EXPECT_EQ(found("large = 18446744073709551615"), "a");
    EXPECT_EQ(found("large < 0"), "b");
    EXPECT_EQ(found("large in 1e18..2e19"), "a c");
    EXPECT_EQ(found("done = true"), "a");
    EXPECT_EQ(found("range = 5"), "a") << "one of a list";
    EXPECT_EQ(found("range.0 = 5"), "");
    EXPECT_EQ(found("range.2 = 9"), "a");
    EXPECT_EQ(found("run.author = 'li' and run.dt > 0.05"), "a");
    EXPECT_EQ(found("run.nodes = 3"), "a");
    EXPECT_EQ(found("run.nodes.0 = 3"), "");
    EXPECT_EQ(found("run.deep.er = true"), "b");
    EXPECT_EQ(found("exists(run.x)"), "a");
    EXPECT_EQ(found("limits.low < 0 and limits.count.1 = 4"), "c");
    EXPECT_EQ(found("limits.count = 3"), "c");
    EXPECT_EQ(found("attr('a.b') = 7"), "c");
    EXPECT_EQ(found("a.b = 7"), "");
    EXPECT_EQ(found("attr('min') = 8"), "c");
    EXPECT_EQ(found(Key::attribute("a.b") == 7 || Key("units").contains("/")), "b c");
    pool_.set_attribute("/", "units", "K");
    EXPECT_EQ(found("units = 'K'"), "/ a c") << "what has none itself has the pool's";
}

TEST_P(QueryTest, says_when_unlike_things_are_compared) {
    pool_.store("a", 1);
    pool_.store("b", 2);
    pool_.set_attribute("a", "units", "K");
    const auto error = [&](std::string_view text) -> std::string {
        try {
            return found(text);
        } catch (const Error& thrown) {
            EXPECT_EQ(thrown.kind(), Code::type_mismatch);
            return thrown.what();
        }
    };
    EXPECT_EQ(
        error("units > 3"),
        "`units > 3` compares unlike things: there is the text \"K\" in 'a', and nothing that compares so");
    EXPECT_EQ(error("value > 'x'"),
              "`value > \"x\"` compares unlike things: there is the number 1 in 'a', and so on, and nothing "
              "that compares so");
    EXPECT_THROW(static_cast<void>(count(pool_, "units > 3 count")), Error);
    EXPECT_EQ(error("units > 3 limit 0"), "") << "nothing was looked at";
    pool_.set_attribute("b", "units", 4);
    EXPECT_EQ(error("units > 3"), "b") << "some compare, so the question has a sense";
    EXPECT_EQ(error("units > 4"), "");
    EXPECT_EQ(error("nothing > 3"), "");
}

TEST_P(QueryTest, gives_boxes_of_elements_that_compare_so) {
    array("a", 4, 0);  // rows 0..9, 10..19, 20..29, 30..39
    array("b", 2, 1000);
    std::vector<std::vector<Box>> boxes;
    for (const Found& one : query(pool_, "value in 17..31")) {
        EXPECT_EQ(one.id, "a");
        boxes.push_back(one.boxes);
    }
    EXPECT_EQ(
        boxes,
        (std::vector<std::vector<Box>>{{Box{{1, 7}, {1, 3}}, Box{{2, 0}, {1, 10}}, Box{{3, 0}, {1, 2}}}}));
    const auto in_a = [&](std::string_view text) {
        std::vector<Box> all;
        for (const Found& one : query(pool_, text)) all.insert(all.end(), one.boxes.begin(), one.boxes.end());
        return all;
    };
    EXPECT_EQ(in_a("value < 1 or value = 39"), (std::vector<Box>{{{0, 0}, {1, 1}}, {{3, 9}, {1, 1}}}))
        << "those of both";
    EXPECT_EQ(in_a("value > 5 and rank = 3 or value = 39"), (std::vector<Box>{{{3, 9}, {1, 1}}}))
        << "none of what was not true in the end";
    EXPECT_EQ(found("value > 1e6"), "");
    EXPECT_EQ(found("value = 1005"), "b");
    EXPECT_EQ(found("value in (3, 1019)"), "a b");
    EXPECT_EQ(found("not value < 500"), "b");
    EXPECT_EQ(found("value < 500 and rank = 2 and name begins 'b'"), "");
}

TEST_P(QueryTest, reads_only_blocks_that_can_have_such_elements) {
    array("a", 4, 0);
    // Behind the pool's back the second row, whose block says 10 to 19, becomes large.
    std::vector<double> row(10);
    std::iota(row.begin(), row.end(), 10);
    std::fstream file(folder_ / "pool", std::ios::in | std::ios::out | std::ios::binary);
    std::vector<double> all(std::filesystem::file_size(folder_ / "pool") / sizeof(double));
    file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(double)));
    const auto found_row = std::search(all.begin(), all.end(), row.begin(), row.end());
    ASSERT_NE(found_row, all.end());
    ASSERT_EQ(std::search(found_row + 1, all.end(), row.begin(), row.end()), all.end());
    const std::size_t at = static_cast<std::size_t>(found_row - all.begin()) * sizeof(double);
    std::fill(row.begin(), row.end(), 500);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(reinterpret_cast<const char*>(row.data()), 80);
    file.close();
    EXPECT_EQ(found("value > 400"), "") << "read it would be found";
    EXPECT_EQ(found("value > 15 and value > 400"), "");
    EXPECT_EQ(found("value in (15, 500)"), "a") << "read it is found";
}

TEST_P(QueryTest, looks_at_elements_of_all_kinds) {
    const Type phase = Type::enumeration(type_of<std::int8_t>(), {{"solid", 0}, {"liquid", 1}});
    pool_.alloc("phase", phase, Dimensions{2, 2});
    pool_.store("phase", phase, std::array<std::int8_t, 4>{0, 0, 1, 0}.data(), Box::whole({2, 2}));
    pool_.alloc<Limits>("limits", Dimensions{3});
    pool_.store("limits", std::array<Limits, 3>{{{1, {1, 2}}, {-2, {3, 4}}, {-3, {5, 6}}}}.data(),
                Box::whole({3}));
    const Type day = Type::datetime64(TimeUnit::day);
    pool_.alloc("days", day, Dimensions{4});
    pool_.store("days", day, std::array<std::int64_t, 4>{0, 365, 730, INT64_MIN}.data(), Box::whole({4}));
    ArrayOptions fortran;
    fortran.order = Order::fortran;
    pool_.alloc<float>("f", Dimensions{2, 3}, fortran);
    pool_.store("f", std::array<float, 6>{0, 1, 2, 3, 4, 5}.data(), Box::whole({2, 3}));
    pool_.alloc<std::int16_t>("strided", Dimensions{10});
    pool_.store("strided", std::array<std::int16_t, 3>{7, 8, 9}.data(), Selection({1}, {3}, {3}));
    const auto boxes = [&](std::string_view text) {
        std::vector<Box> all;
        for (const Found& one : query(pool_, text)) all.insert(all.end(), one.boxes.begin(), one.boxes.end());
        return all;
    };
    EXPECT_EQ(boxes("name = 'phase' and value = 'liquid'"), (std::vector<Box>{{{1, 0}, {1, 1}}}));
    EXPECT_EQ(boxes("name = 'phase' and value = 0"), (std::vector<Box>{{{0, 0}, {2, 2}}}));
    EXPECT_EQ(boxes("name = 'limits' and value.low < 0"), (std::vector<Box>{{{1}, {2}}}));
    EXPECT_EQ(boxes("name = 'limits' and value.count.1 = 2"), (std::vector<Box>{{{0}, {1}}}));
    EXPECT_EQ(boxes("name = 'days' and value = '1971'"), (std::vector<Box>{{{1}, {1}}}));
    EXPECT_EQ(boxes("name = 'f' and value = 2"), (std::vector<Box>{{{0, 1}, {1, 1}}}))
        << "the first index is the fastest";
    EXPECT_EQ(boxes("name = 'strided' and value >= 8"), (std::vector<Box>{{{4}, {4}}}));
    EXPECT_EQ(boxes("name = 'strided' and value = 9"), (std::vector<Box>{{{7}, {1}}}));
}

TEST_P(QueryTest, adds_ids_to_those_that_are_there) {
    pool_.store("u/a", 1);
    pool_.store("u/b/c", 2);
    pool_.store("v", 3);
    flush_if_kept();
    std::vector<std::string> all = {"first"};
    const auto add = [&](const char* text, std::span<const Literal> values) {
        add_ids(pool_, Query::parse(text), values, all);
    };
    add("under \"u\" and kind != \"group\"", {});
    EXPECT_EQ(all, (std::vector<std::string>{"first", "u/a", "u/b/c"}));
    const std::array<Literal, 1> three = {3};
    add("value = ?", three);
    EXPECT_EQ(all, (std::vector<std::string>{"first", "u/a", "u/b/c", "v"}));
    add("name begins \"w\"", {});
    add("under \"u\" order by name desc limit 1", {});
    EXPECT_EQ(all.size(), 5U);
    EXPECT_EQ(all.back(), "u/b/c");
    try {
        add("under \"u\" count", {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::invalid_argument);
    }
    EXPECT_THROW(add("name > ?", {}), Error);
    EXPECT_EQ(all.size(), 5U);
}

// What is asked of names alone is read where they lie, and a name may be too long to lie there.
TEST_P(QueryTest, finds_names_whatever_their_length) {
    const std::string longer = "u/" + std::string(450, 'l');
    for (int i = 0; i < 200; ++i) pool_.store("u/" + std::to_string(i), i);
    flush_if_kept();
    EXPECT_EQ(ids(pool_, "name begins \"u/19\"").size(), 11U);
    EXPECT_EQ(found("name ~ \"u/*77\""), "u/177 u/77");
    EXPECT_EQ(found("name > \"u/97\" and kind != \"group\""), "u/98 u/99");
    pool_.store(longer, 1);
    flush_if_kept();
    EXPECT_EQ(found("name > \"u/98\" and kind != \"group\""), "u/99 " + longer);
    EXPECT_EQ(found("name begins \"u/l\""), longer);
    EXPECT_EQ(found("name contains \"ll\""), longer);
    pool_.erase(longer);
    pool_.rename("u/99", "u/zz");
    EXPECT_EQ(found("name > \"u/98\" and kind != \"group\""), "u/zz");
    flush_if_kept();
    EXPECT_EQ(found("name > \"u/98\" and kind != \"group\""), "u/zz");
}

TEST_P(QueryTest, orders_limits_and_counts) {
    array("a", 1, 0);
    array("b", 3, 0);
    array("c", 2, 0);
    pool_.store("d", 1);
    pool_.set_attribute("a", "tag", "x");
    pool_.set_attribute("b", "tag", std::vector<int>{3, 3, 1});
    pool_.set_attribute("c", "tag", "x");
    EXPECT_EQ(found("order by bytes desc"), "b c a d");
    EXPECT_EQ(found("order by bytes desc limit 2"), "b c");
    EXPECT_EQ(found("limit 2"), "a b");
    EXPECT_EQ(found("order by tag, name desc"), "b c a d") << "numbers before texts, and last what has none";
    EXPECT_EQ(found("order by blocks"), "a c b d");
    EXPECT_EQ(counted("count"), "-: 4");
    EXPECT_EQ(counted("kind = 'array' count"), "-: 3");
    EXPECT_EQ(counted("count by kind"), "\"array\": 3, \"value\": 1");
    EXPECT_EQ(counted("count by tag"), "1: 1, 3: 1, \"x\": 2, -: 1");
    EXPECT_EQ(counted("count by shape"), "(1, 10): 1, (2, 10): 1, (3, 10): 1, -: 1");
    EXPECT_THROW(static_cast<void>(query(pool_, "count")), Error);
}

TEST_P(QueryTest, goes_on_when_what_it_would_find_is_erased) {
    for (int i = 0; i < 10; ++i) pool_.store("v" + std::to_string(i), i);
    Matches matches = query(pool_, "value >= 0");
    EXPECT_EQ(matches.next()->id, "v0");
    pool_.erase("v1");
    pool_.rename("v2", "w");
    EXPECT_EQ(matches.next()->id, "v3");
}

TEST_P(QueryTest, takes_values_where_it_has_question_marks) {
    const std::string long_text(500, 'x');
    const std::vector<std::string> authors = {"li", "o'\"brien?", "2026-10", long_text, long_text + "y"};
    for (std::size_t i = 0; i < authors.size(); ++i) {
        const std::string id = "v" + std::to_string(i);
        pool_.store(id, static_cast<int>(i));
        pool_.set_attribute(id, "author", authors[i]);
        pool_.set_attribute(id, "n", i == 4 ? std::nan("") : static_cast<double>(i));
    }
    if (GetParam() != IndexMode::none) flush_index(pool_);
    const auto ids = [](Matches matches) {
        std::string all;
        for (const Found& found : matches) all += found.id + " ";
        return all;
    };
    const Query by_author = Query::parse("author = ?");
    for (int twice = 0; twice < 2; ++twice) {
        for (std::size_t i = 0; i < authors.size(); ++i)
            EXPECT_EQ(ids(query(pool_, by_author, {authors[i]})), "v" + std::to_string(i) + " ");
    }
    EXPECT_EQ(ids(query(pool_, by_author, {"nobody"})), "");
    EXPECT_EQ(ids(query(pool_, "n = ?", {2})), "v2 ");
    EXPECT_EQ(ids(query(pool_, "n = ?", {std::nan("")})), "");
    EXPECT_EQ(ids(query(pool_, "n in ?..? and author != ?", {1, 3.0, "2026-10"})), "v1 v3 ");
    EXPECT_EQ(ids(query(pool_, "n in (?, 3) or not n >= ?", {0, -1})), "v0 v3 v4 ");
    EXPECT_EQ(ids(query(pool_, "changed > ? and name ~ ?", {"2000", "v[01]"})), "v0 v1 ");
    EXPECT_EQ(ids(query(pool_, Key("n") == Parameter{} && Key("author").contains("b"), {1})), "v1 ");
    EXPECT_EQ(ids(query(pool_, by_author.with({"li"}))), "v0 ");
    EXPECT_EQ(count(pool_, Query::parse("n < ? count").with({3})).front().objects, 3U);
    const auto code_of = [&](const char* text, std::vector<Literal> values) {
        try {
            ids(query(pool_, text, values));
        } catch (const Error& error) {
            return error.kind();
        }
        return Code{};
    };
    EXPECT_EQ(code_of("author = ?", {}), Code::invalid_argument);
    EXPECT_EQ(code_of("author = ?", {1, 2}), Code::invalid_argument);
    EXPECT_EQ(code_of("author = 'li'", {1}), Code::invalid_argument);
    EXPECT_EQ(code_of("author = ?", {Parameter{}}), Code::invalid_argument);
    EXPECT_EQ(code_of("author = ?", {1}), Code::type_mismatch) << "all authors are texts";
    EXPECT_EQ(code_of("bytes > ?", {"a"}), Code::type_mismatch);
    EXPECT_EQ(code_of("name ~ ?", {"[a"}), Code::invalid_argument);
    EXPECT_THROW(count(pool_, "n < ? count"), Error);
}

// An array came into the place of a value between the look at what it is and that at what is in it: the query, or the call that keeps the index,
// was told that it is an array.
TEST_P(QueryTest, passes_no_error_on_of_what_becomes_another_thing_meanwhile) {
    std::atomic<bool> stops = false;
    std::thread other([&] {
        PMEM pool;
        pool.mmap(folder_ / "pool");
        const std::vector<std::uint64_t> all(4, 1);
        while (!stops) {
            pool.store("deep", 1);
            pool.erase("deep");
            pool.alloc<std::uint64_t>("deep", {4});
            pool.store<std::uint64_t>("deep", all.data(), Box{{0}, {4}});
            pool.erase("deep");
        }
    });
    for (int i = 0; i < 3000; ++i) {
        EXPECT_NO_THROW(ids(pool_, "value = 1")) << i;
        if (GetParam() != IndexMode::none && i % 10 == 0) {
            EXPECT_NO_THROW(flush_index(pool_)) << i;
        }
    }
    stops = true;
    other.join();
}

INSTANTIATE_TEST_SUITE_P(index, QueryTest,
                         ::testing::Values(IndexMode::none, IndexMode::async, IndexMode::sync),
                         [](const auto& mode) { return std::string(name_of(mode.param)); });
