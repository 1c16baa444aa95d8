// What is looked up in the index, while it and the pool change.

#include <atomic>
#include <thread>
#include <utility>

#include "index/index_suite.hpp"

namespace pmemcpy {
namespace {

// What a query has read of the index stays with the process for the next one.
TEST_F(index_beside_a_pool, is_read_anew_whenever_anything_has_changed) {
    PMEM pool = open(IndexMode::sync);
    const PMEM reader = open(IndexMode::none, Mode::read);
    pool.store("a", 1);
    pool.store("b", 1);
    flush_index(pool);
    for (int round = 0; round < 20; ++round) {
        const std::string key = "key" + std::to_string(round);
        for (const PMEM* one : {&std::as_const(pool), &reader}) {
            EXPECT_TRUE(found(*one, key + " = 1").empty());  // no object has such a thing yet
        }
        in_another([&](PMEM& other) {
            other.set_attribute("a", key, 1);
            other.set_attribute("a", "n", round);
            other.set_attribute("b", "n", round + 1);
            if (round % 2 == 0) other.munmap();  // else it dies
        });
        for (const PMEM* one : {&std::as_const(pool), &reader}) {
            EXPECT_EQ(found(*one, key + " = 1"), (std::vector<std::string>{"a"}));
            EXPECT_EQ(found(*one, "n = " + std::to_string(round)), (std::vector<std::string>{"a"}));
            EXPECT_EQ(found(*one, "n = " + std::to_string(round + 1)), (std::vector<std::string>{"b"}));
        }
        if (round % 5 == 4) flush_index(pool);
        if (round == 10) remove_index();
    }
}

// The postings of attributes have the ids with them, but for those that are too long.
TEST_F(index_beside_a_pool, tells_the_name_that_a_thing_has_now_however_long_it_is) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    const std::vector<std::string> names = {
        "a", std::string(499, 'b'), std::string(500, 'c'), std::string(501, 'd'), std::string(3000, 'e'),
        "f"};
    pool.store("other", 1);
    pool.set_attribute("other", "author", "li");
    pool.store(names.front(), 1);
    pool.set_attribute(names.front(), "author", "li");
    pool.set_attribute(names.front(), "run", 7);
    for (std::size_t i = 0;; ++i) {
        for (const char* text : {"author = \"li\" and run = 7", "run = 7", "run in 6..8"}) {
            EXPECT_TRUE(by_index(pool, text));
            EXPECT_EQ(found(pool, text), std::vector<std::string>{names[i]})
                << text << " " << names[i].size();
        }
        EXPECT_EQ(found(pool, "author = \"li\"").size(), 2U);
        if (i + 1 == names.size()) break;
        pool.rename(names[i], names[i + 1]);
    }
    pool.erase(names.back());
    EXPECT_EQ(found(pool, "author = \"li\""), std::vector<std::string>{"other"});
    pool.store(names.front(), 1);
    EXPECT_EQ(found(pool, "author = \"li\""), std::vector<std::string>{"other"});
}

// What differs from the kind of few objects was looked for among all others, and then looked at.
TEST_F(index_beside_a_pool, leaves_out_groups_without_a_look_at_anything) {
    PMEM pool = open(IndexMode::sync);
    for (int i = 0; i < 1000; ++i) pool.store("other/" + std::to_string(i), i);
    for (int i = 0; i < 20; ++i) pool.store("g/h" + std::to_string(i % 2) + "/" + std::to_string(i), i);
    flush_index(pool);
    const std::string text = "under \"g\" and kind != \"group\"";
    EXPECT_EQ(found(pool, text).size(), 20U);
    EXPECT_NE(explain(pool, text).find("found by the index: 20; looked at: 0"), std::string::npos)
        << explain(pool, text);
    expect(Code::type_mismatch, [&] { found(pool, "under \"g\" and kind != 7"); });
}

// Each posting says whether it is a group's; what is the same otherwise is posted anew when that changes.
TEST_F(index_beside_a_pool, tells_a_group_from_the_variable_that_comes_in_its_place) {
    PMEM pool = open(IndexMode::sync);
    flush_index(pool);
    for (int round = 0; round < 60; ++round) {
        bool is_group = false;
        // Several times, so that it may lie where it lay when the index saw it last.
        for (int i = 0; i < 1 + round % 3; ++i) {
            is_group = (round + i) / 2 % 2 == 0;
            if (pool.exists("x")) pool.erase("x");
            if (is_group)
                pool.make_group("x");
            else
                pool.store("x", 1);
            pool.set_attribute("x", "a", 1);
        }
        flush_index(pool);
        const std::vector<std::string> wanted =
            is_group ? std::vector<std::string>{} : std::vector<std::string>{"x"};
        for (const char* text : {"a >= 1 and kind != \"group\"", "name begins \"x\" and kind != \"group\""}) {
            ASSERT_TRUE(by_index(pool, text));
            ASSERT_EQ(found(pool, text), wanted) << text << ", round " << round;
        }
    }
}

// A list has more than one value, long texts are not posted whole, and an object that is too large is looked at itself.
TEST_F(index_beside_a_pool, finds_what_is_equal_to_a_value_however_it_is_posted) {
    PMEM pool = open(IndexMode::sync);
    pool.set_attribute("/", "k", 1);
    pool.store("list", 0);
    pool.set_attribute("list", "k", std::vector<int>{1, 2, 1});
    pool.store("number", 0);
    pool.set_attribute("number", "k", 1.0);
    pool.store("text", 0);
    pool.set_attribute("text", "k", "1");
    flush_index(pool);
    EXPECT_TRUE(by_index(pool, "k = 1"));
    EXPECT_EQ(found(pool, "k = 1"), (std::vector<std::string>{"/", "list", "number"}));
    std::vector<int> many(100);
    for (int i = 0; i < 100; ++i) many[static_cast<std::size_t>(i)] = i;
    pool.store("many", 0);
    pool.set_attribute("many", "k", many);
    EXPECT_EQ(found(pool, "k = 1"), (std::vector<std::string>{"/", "list", "many", "number"}));
    EXPECT_EQ(found(pool, "k = 99"), (std::vector<std::string>{"many"}));
    pool.erase("many");
    EXPECT_EQ(found(pool, "k = 1"), (std::vector<std::string>{"/", "list", "number"}));
}

TEST_F(index_beside_a_pool, gives_the_answers_of_one_value_sorted_by_name) {
    PMEM pool = open(IndexMode::sync);
    std::vector<std::string> wanted;
    for (int i = 0; i < 300; ++i) {
        const std::string id = "group/of/a/long/name/" + std::string(static_cast<std::size_t>(i % 7), 'x') +
                               std::to_string(i * 7919 % 1000);
        pool.store(id, 1);
        wanted.push_back(id);
    }
    for (const char* id : {"group/of/a/long/name", "a", "group/of/a/long/nam", "\xc3\xa4"}) {
        if (!pool.exists(id)) pool.store(id, 1);
        pool.set_attribute(id, "v", 1);
    }
    for (const std::string& id : wanted) pool.set_attribute(id, "v", 1);
    wanted.insert(wanted.end(), {"group/of/a/long/name", "a", "group/of/a/long/nam", "\xc3\xa4"});
    std::sort(wanted.begin(), wanted.end());
    flush_index(pool);
    EXPECT_EQ(found(pool, "v = 1"), wanted);
    EXPECT_EQ(found(pool, "v >= 1"), wanted);
}

TEST_F(index_beside_a_pool, answers_many_threads_while_it_changes) {
    PMEM pool = open(IndexMode::async);
    for (int i = 0; i < 50; ++i) {
        pool.store("v" + std::to_string(i), i);
        pool.set_attribute("v" + std::to_string(i), "k", i);
    }
    flush_index(pool);
    std::atomic<bool> stops = false;
    std::vector<std::thread> readers;
    readers.reserve(3);
    for (int t = 0; t < 3; ++t) {
        readers.emplace_back([&, t] {
            const Query by_k = Query::parse("k = ?");
            for (int i = t; !stops; i = (i + 1) % 50) {
                Matches matches = query(pool, by_k, {i});
                const auto one = matches.next();
                ASSERT_TRUE(one);
                ASSERT_EQ(one->id, "v" + std::to_string(i));
                ASSERT_FALSE(matches.next());
            }
        });
    }
    for (int i = 0; i < 500; ++i) pool.store("w" + std::to_string(i % 20), i);
    stops = true;
    for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace pmemcpy
