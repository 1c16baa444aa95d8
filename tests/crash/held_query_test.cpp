// A process is held at each place of a verb. Meanwhile what others find by the index is what they find without it: a reviewer held one in
// a rename behind its effect, and the new name was there for all but queries.

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "index/index_suite.hpp"
#include "stepping.hpp"

namespace pmemcpy::crash {
namespace {

struct Verb {
    std::string name;
    std::function<void(PMEM&)> call;
    std::function<void(PMEM&)> prepare = [](PMEM&) {};
};

void store_two(PMEM& pool) {
    pool.begin(2);
    pool.store("v3", 300);
    pool.store("n", 300);
}

std::vector<Verb> verbs() {
    return {
        {"store", [](PMEM& pool) { pool.store("v3", 300); }},
        {"store_new", [](PMEM& pool) { pool.store("g/n", 300); }},
        {"erase", [](PMEM& pool) { pool.erase("v3"); }},
        {"rename", [](PMEM& pool) { pool.rename("v3", "w3"); }},
        {"set_attribute", [](PMEM& pool) { pool.set_attribute("v3", "unit", std::string("m")); }},
        {"remove_attribute", [](PMEM& pool) { pool.remove_attribute("v4", "unit"); }},
        {"alloc", [](PMEM& pool) { pool.alloc<int>("A", Dimensions{4}); }},
        {"store_box",
         [](PMEM& pool) {
             const std::vector<int> row = {300, 300};
             pool.store<int>("B", row.data(), Box{{0}, {2}});
         }},
        {"commit", [](PMEM& pool) { pool.commit(2); }, store_two},
    };
}

const std::vector<std::string> questions = {
    "value = 3",
    "value = 300",
    "value in 0..9",
    "name = \"v3\"",
    "name = \"w3\"",
    "name begins \"v\"",
    "unit = \"m\"",
    "not exists(unit)",
    "rank = 1",
    "kind = \"array\"",
    "under \"g\"",
    "max > 200",
    "name begins \"w\" or value = 3",
};

class HeldBesideQueries : public ::testing::TestWithParam<Verb> {
protected:
    PMEM open(Mode mode, IndexMode index = IndexMode::none) const {
        Options options;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        options.mode = mode;
        options.index = index;
        PMEM pool;
        pool.mmap(path_, options);
        return pool;
    }

    static std::string compare(const PMEM& pool) {
        for (const std::string& question : questions) {
            const auto without = answer_or_error([&] { return looked_for(pool, question); });
            const auto with = answer_or_error([&] { return found(pool, question); });
            if (with != without)
                return question + " is " + ::testing::PrintToString(with) + " by the index and " +
                       ::testing::PrintToString(without) + " without it";
        }
        return {};
    }

    Folder folder_;
    std::string path_ = folder_ / "pool";
};

TEST_P(HeldBesideQueries, has_the_same_answers_with_and_without_an_index) {
    PMEM pool = open(Mode::create_or_update, IndexMode::sync);
    for (int i = 0; i < 8; ++i) pool.store("v" + std::to_string(i), i);
    pool.set_attribute("v4", "unit", std::string("m"));
    pool.alloc<int>("B", Dimensions{4});
    const std::vector<int> all = {1, 2, 3, 4};
    pool.store<int>("B", all.data(), Box{{0}, {4}});
    pool.begin(1);
    pool.commit(1);
    flush_index(pool);
    const PMEM reader = open(Mode::read);
    ASSERT_TRUE(by_index(pool, "value = 3"));
    std::size_t held = 0, failures = 0;
    auto own = std::make_shared<PMEM>();
    SteppedChild child(
        [&] {
            *own = open(Mode::update);
            own->store("warm", 0);  // then the verb itself needs no chunk
            GetParam().prepare(*own);
        },
        [&] { GetParam().call(*own); });
    std::uint64_t number = 0;
    for (bool goes_on = true, looks = true; goes_on && failures < 3; ++number) {
        looks = looks || child.is_at_system_call();
        if (looks) {
            ++held;
            for (const PMEM* one : std::initializer_list<const PMEM*>{&pool, &reader}) {
                const std::string wrong = compare(*one);
                if (wrong.empty()) continue;
                ADD_FAILURE() << GetParam().name << " held before instruction " << number << " at "
                              << name_of_place(child.place()) << ": " << wrong;
                ++failures;
            }
        }
        looks = child.is_at_atomic_or_fence() || child.is_at_system_call();
        goes_on = child.step();
    }
    std::printf("held: %s beside queries: at %zu places\n", GetParam().name.c_str(), held);
    EXPECT_GT(held, 10U);
    EXPECT_EQ(compare(pool), "");
}

INSTANTIATE_TEST_SUITE_P(every, HeldBesideQueries, ::testing::ValuesIn(verbs()),
                         [](const auto& verb) { return verb.param.name; });

void PrintTo(const Verb& verb, std::ostream* out) { *out << verb.name; }

}  // namespace
}  // namespace pmemcpy::crash
