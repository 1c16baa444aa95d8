// What a pool holds after it was closed, and after all that had it open were killed.

#include <filesystem>
#include <map>
#include <numeric>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <string>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(reopening);

std::vector<int> counted(std::size_t n) {
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), 0);
    return values;
}

/// A little of everything that a pool can hold.
void furnish(PMEM& pmem) {
    pmem.store("scalar", 42);
    pmem.store("text", std::string(700, 't'));
    pmem.store("big", std::string(1 << 20, 'b'));
    pmem.store("replaced", 1);
    pmem.store("replaced", std::string(100'000, 'r'));
    pmem.store("erased", std::string(100'000, 'e'));
    pmem.erase("erased");
    pmem.store("again", 1);
    pmem.erase("again");
    pmem.store("again", 2.5);
    const auto data = counted(10'000);
    pmem.alloc<int>("g/h/array", Dimensions{100, 100});
    for (std::uint64_t i = 0; i < 100; ++i)
        pmem.store<int>("g/h/array", &data[100 * i], Box{{i, 0}, {1, 100}});
    pmem.store<int>("g/h/array", data.data(), Box{{10, 10}, {20, 20}});
    pmem.alloc<int>("growing", Dimensions{unlimited, 10});
    pmem.store<int>("growing", data.data(), Box{{5, 0}, {2, 10}});
    ArrayOptions fortran;
    fortran.order = Order::fortran;
    pmem.alloc<int>("fortran", Dimensions{10, 5}, fortran.fill(-3));
    pmem.store<int>("fortran", data.data(), Box{{1, 1}, {2, 3}});
    if (is_available(Codec::Kind::lz4)) {
        ArrayOptions packed;
        packed.codec = parse_codec("lz4");
        pmem.alloc<int>("packed", Dimensions{10'000}, packed);
        pmem.store<int>("packed", data.data(), Box{{0}, {10'000}});
    }
    ArrayOptions in_place;
    in_place.contiguous = true;
    pmem.alloc<int>("frozen", Dimensions{1000}, in_place);
    pmem.update<int>("frozen")[999] = 7;
    pmem.freeze("frozen");
    pmem.store("old name", 9);
    pmem.rename("old name", "g/new name");
    pmem.rename("g/new name", "g/newest name");
    pmem.set_attribute("g/newest name", "renamed", true);
    pmem.set_attribute("g/h/array", "units", "K");
    pmem.set_attribute("g/h/array", "units", "degC");
    pmem.set_attribute("g/h/array", "long", std::string(70'000, 'l'));
    pmem.set_attribute("g/h/array", "gone", 1);
    pmem.remove_attribute("g/h/array", "gone");
    pmem.set_attribute("g", "of the group", 1);
    pmem.set_attribute("/", "of the pool", 2);
    pmem.begin(7);
    pmem.store("in a step", 70);
    pmem.store("scalar", 43);
    pmem.commit(7);
}

void expect_furnished(PMEM& pmem) {
    EXPECT_EQ(pmem.load<int>("scalar"), 43);
    EXPECT_EQ(pmem.load<std::string>("text"), std::string(700, 't'));
    EXPECT_EQ(pmem.load<std::string>("big"), std::string(1 << 20, 'b'));
    EXPECT_EQ(pmem.load<std::string>("replaced"), std::string(100'000, 'r'));
    EXPECT_FALSE(pmem.exists("erased"));
    EXPECT_EQ(pmem.load<double>("again"), 2.5);
    auto expected = counted(10'000);
    for (std::size_t i = 0; i < 20; ++i)
        for (std::size_t j = 0; j < 20; ++j) expected[(10 + i) * 100 + 10 + j] = static_cast<int>(20 * i + j);
    std::vector<int> found(10'000);
    pmem.load<int>("g/h/array", found.data(), Box{{0, 0}, {100, 100}});
    EXPECT_EQ(found, expected);
    EXPECT_EQ(pmem.blocks("g/h/array").size(), 101u);
    EXPECT_EQ(pmem.load_dims("growing"), (Dimensions{7, 10}));
    std::vector<int> grown(20);
    pmem.load<int>("growing", grown.data(), Box{{5, 0}, {2, 10}});
    EXPECT_EQ(grown, counted(20));
    std::vector<int> column(3);
    pmem.load<int>("fortran", column.data(), Box{{0, 2}, {3, 1}});
    EXPECT_EQ(column, (std::vector<int>{-3, 2, 3}));
    if (is_available(Codec::Kind::lz4)) {
        pmem.load<int>("packed", found.data(), Box{{0}, {10'000}});
        EXPECT_EQ(found, counted(10'000));
    }
    EXPECT_TRUE(pmem.info("frozen").is_frozen);
    EXPECT_EQ(pmem.view<int>("frozen")[999], 7);
    EXPECT_FALSE(pmem.exists("old name"));
    EXPECT_FALSE(pmem.exists("g/new name"));
    EXPECT_EQ(pmem.load<int>("g/newest name"), 9);
    EXPECT_TRUE(pmem.get_attribute<bool>("g/newest name", "renamed"));
    EXPECT_EQ(pmem.attributes("g/h/array"), (std::vector<std::string>{"long", "units"}));
    EXPECT_EQ(pmem.get_attribute<std::string>("g/h/array", "units"), "degC");
    EXPECT_EQ(pmem.get_attribute<std::string>("g/h/array", "long").size(), 70'000u);
    EXPECT_EQ(pmem.get_attribute<int>("g", "of the group"), 1);
    EXPECT_EQ(pmem.get_attribute<int>("/", "of the pool"), 2);
    EXPECT_EQ(pmem.load<int>("in a step"), 70);
    EXPECT_EQ(pmem.info().committed_step, 7u);
    EXPECT_EQ(pmem.groups(), (std::vector<std::string>{"g", "g/h"}));
    EXPECT_EQ(pmem.ids().size(), is_available(Codec::Kind::lz4) ? 12u : 11u);
    const auto damages = pmem.verify();
    EXPECT_TRUE(damages.empty()) << damages[0].id << ": " << damages[0].what;
}

/// Uses everything once more, and empties the pool.
void expect_usable(PMEM& pmem) {
    pmem.store("scalar", 44);
    const auto data = counted(10'000);
    pmem.store<int>("g/h/array", data.data(), Box{{0, 0}, {100, 100}});
    EXPECT_EQ(pmem.blocks("g/h/array").size(), 1u);
    pmem.rename("g/newest name", "old name");
    pmem.set_attribute("g/h/array", "units", "F");
    pmem.begin(8);
    pmem.store("in a step", 80);
    pmem.commit(8);
    EXPECT_EQ(pmem.load<int>("in a step"), 80);
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    for (const char* group : {"g/h", "g"}) pmem.erase(group);
    EXPECT_TRUE(pmem.ids().empty());
    pmem.remove_attribute("/", "of the pool");
    const PoolInfo left = settled_info(pmem);
    EXPECT_EQ(left.data_bytes, 0u);
    EXPECT_EQ(left.retired_records, 0u);
    EXPECT_LT(left.metadata_bytes, 1024u) << "of the group / only";
}

TEST_P(reopening, all_is_there_after_an_orderly_close) {
    open();
    furnish(pmem);
    expect_furnished(pmem);
    for (int i = 0; i < 3; ++i) reopen(), expect_furnished(pmem);
    expect_usable(pmem);
}

TEST_P(reopening, all_is_there_after_everybody_was_killed) {
    in_killed_process(furnish);
    open();
    expect_furnished(pmem);
    reopen();
    expect_furnished(pmem);
    expect_usable(pmem);
}

TEST_P(reopening, killed_again_and_again) {
    in_killed_process(furnish);
    for (int i = 0; i < 5; ++i) in_killed_process(expect_furnished);
    open();
    expect_furnished(pmem);
    expect_usable(pmem);
    pmem.munmap();
    in_killed_process([](PMEM& own) { own.store("after", 1); });
    open();
    EXPECT_EQ(pmem.ids(), std::vector<std::string>{"after"});
}

TEST_P(reopening, a_process_that_exits_without_closing_is_the_same_as_a_killed_one) {
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            PMEM own;
            own.mmap(path(), options());
            furnish(own);
            ::_exit(0);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "in the child: %s\n", error.what());
        }
        ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    open();
    expect_furnished(pmem);
}

TEST_P(reopening, random_work_then_a_crash_loses_and_keeps_nothing) {
    std::map<std::string, std::string> expected;
    for (unsigned round = 0; round < 8; ++round) {
        const auto work = [round](PMEM* own, std::map<std::string, std::string>& model) {
            std::mt19937 random(round);
            for (int i = 0; i < 300; ++i) {
                const std::string id = (random() % 2 == 0 ? "g/" : "") + std::to_string(random() % 40);
                const std::string other = "r" + std::to_string(random() % 40);
                const auto verb = random() % 10;
                const std::string value((std::size_t{1} << (random() % 18)),
                                        static_cast<char>('a' + random() % 26));
                if (verb < 6) {
                    if (own != nullptr) own->store(id, value);
                    model[id] = value;
                } else if (verb < 8) {
                    if (!model.contains(id)) continue;
                    if (own != nullptr) own->erase(id);
                    model.erase(id);
                } else {
                    if (!model.contains(id) || model.contains(other)) continue;
                    if (own != nullptr) own->rename(id, other);
                    model[other] = model[id];
                    model.erase(id);
                }
            }
        };
        std::map<std::string, std::string> inside = expected;
        in_killed_process([&](PMEM& own) { work(&own, inside); });
        if (HasFatalFailure()) return;
        work(nullptr, expected);
        open();
        std::map<std::string, std::string> found;
        for (const std::string& id : pmem.ids()) found[id] = pmem.load<std::string>(id);
        ASSERT_EQ(found.size(), expected.size()) << "round " << round;
        ASSERT_TRUE(found == expected) << "round " << round;
        ASSERT_TRUE(pmem.verify().empty());
        if (round % 2 == 0) {
            pmem.munmap();
        } else {  // what a scan has rebuilt is good enough to go on with, and to close cleanly
            reopen();
            ASSERT_EQ(pmem.ids().size(), expected.size());
            pmem.munmap();
        }
    }
    open();
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    EXPECT_EQ(settled_info(pmem).data_bytes, 0u) << "space was lost";
}

TEST_P(reopening, a_crash_in_the_middle_of_a_store_leaves_the_old_value) {
    // An encoder that kills its process: the value's space is taken, and nothing names it yet.
    struct Killer final : Encoder {
        std::uint64_t size_bytes() const override { return 5 << 20; }
        void encode(std::span<std::byte>) const override { ::kill(::getpid(), SIGKILL); }
    };
    open();
    pmem.store("v", "old");
    const std::uint64_t data_bytes = pmem.info().data_bytes;
    pmem.munmap();
    for (int i = 0; i < 20; ++i) {  // twenty times five mebibytes would not fit
        in_killed_process(
            [](PMEM& own) { own.store_encoded("v", Type::string(), SerializerType::bp4, Killer()); });
        if (HasFatalFailure()) return;
    }
    open();
    EXPECT_EQ(pmem.load<std::string>("v"), "old");
    EXPECT_EQ(pmem.info().data_bytes, data_bytes) << "space was lost";
}

TEST_P(reopening, a_survivor_takes_back_what_the_killed_one_held) {
    struct Killer final : Encoder {
        std::uint64_t size_bytes() const override { return 5 << 20; }
        void encode(std::span<std::byte>) const override { ::kill(::getpid(), SIGKILL); }
    };
    open();
    pmem.store("v", "old");
    for (int i = 0; i < 20; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            PMEM own;
            own.mmap(path(), options());
            own.store_encoded("v", Type::string(), SerializerType::bp4, Killer());
            ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status));
        pmem.store("v", "old");
    }
    pmem.store("big", std::string(40 << 20, 'b'));
    EXPECT_EQ(pmem.load<std::string>("v"), "old");
}

TEST_P(reopening, a_pool_may_be_renamed_copied_and_lose_its_run_time_file) {
    if (GetParam() != Layout::file) GTEST_SKIP() << "about the one file";
    open();
    furnish(pmem);
    pmem.munmap();
    std::filesystem::rename(path(), path("moved"));
    pmem.mmap(path("moved"), options());
    expect_furnished(pmem);
    std::filesystem::copy_file(path("moved"), path("copy"));  // in use: the copy is recovered by a scan
    pmem.munmap();
    std::filesystem::remove(path("moved") + ".rt");
    pmem.mmap(path("moved"), options());
    expect_furnished(pmem);
    PMEM copy;
    copy.mmap(path("copy"), options());
    expect_furnished(copy);
    copy.store("scalar", -1);
    EXPECT_EQ(pmem.load<int>("scalar"), 43);
}

}  // namespace
}  // namespace pmemcpy::conformance
