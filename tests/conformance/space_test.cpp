// Space: what is freed comes back, what does not fit changes nothing.

#include <cstdint>
#include <filesystem>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

class space : public PoolSuite {
protected:
    /// What somebody uses, records and slabs included.
    std::uint64_t used() {
        const PoolInfo info = settled_info(pmem);
        return info.allocated_bytes - info.free_bytes;
    }
    /// Stores values until the pool is full. How many there were.
    int fill_up(std::size_t bytes) {
        int stored = 0;
        try {
            for (;; ++stored)
                pmem.store("filler/" + std::to_string(stored),
                           std::string(bytes, static_cast<char>('a' + stored % 26)));
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::no_space) << error.what();
        }
        return stored;
    }
    void expect_fillers(int count, std::size_t bytes) {
        for (int i = 0; i < count; ++i) {
            const std::string value = pmem.load<std::string>("filler/" + std::to_string(i));
            ASSERT_EQ(value, std::string(bytes, static_cast<char>('a' + i % 26)));
        }
    }
    void erase_fillers() {
        for (const std::string& id : pmem.ids("filler/")) pmem.erase(id);
    }
};
INSTANTIATE_TEST_SUITE_P(layouts, space, layouts(), name_of_layout);

TEST_P(space, a_thousand_overwrites_of_a_mebibyte_in_a_small_pool) {
    open();
    pmem.alloc<char>("A", Dimensions{1 << 20});
    for (int i = 0; i < 1000; ++i) {
        const std::string data(1 << 20, static_cast<char>(i));
        pmem.store<char>("A", data.data(), Box{{0}, {1 << 20}});
        pmem.store("v", data);
    }
    EXPECT_EQ(pmem.load<std::string>("v"), std::string(1 << 20, static_cast<char>(999)));
    EXPECT_LT(used(), 8u << 20);
}

TEST_P(space, erasing_everything_gives_the_space_back) {
    open();
    const auto cycle = [&] {
        for (int i = 0; i < 40; ++i) {
            pmem.store("g/v" + std::to_string(i), std::string(300'000, 'x'));
            pmem.store("g/s" + std::to_string(i), std::string(3000, 'x'));
            pmem.store("g/i" + std::to_string(i), i);
            pmem.alloc<double>("g/A" + std::to_string(i), Dimensions{1000});
            const std::vector<double> data(1000, i);
            pmem.store<double>("g/A" + std::to_string(i), data.data(), Box{{0}, {1000}});
            pmem.set_attribute("g/v" + std::to_string(i), "n", std::string(1000, 'a'));
        }
        for (const std::string& id : pmem.ids()) pmem.erase(id);
        pmem.erase("g");
        EXPECT_TRUE(pmem.ids().empty());
        return settled_info(pmem);
    };
    cycle();
    cycle();  // by now all chunks that the pool has grown by were taken once, and so have memory
    const PoolInfo first = cycle();
    EXPECT_EQ(first.data_bytes, 0u);
    EXPECT_EQ(first.metadata_bytes, 0u) << "no record is left";
    for (int i = 0; i < 20; ++i) cycle();
    const PoolInfo last = cycle();
    EXPECT_EQ(last.data_bytes, 0u);
    EXPECT_EQ(last.metadata_bytes, 0u);
    EXPECT_EQ(last.allocated_bytes, first.allocated_bytes);
    EXPECT_EQ(last.free_bytes, first.free_bytes);
}

TEST_P(space, a_full_pool_keeps_every_value_and_goes_on) {
    open();
    pmem.store("old", std::string(1000, 'o'));
    pmem.alloc<int>("A", Dimensions{100'000});
    const std::vector<int> data(100'000, 4);
    pmem.store<int>("A", data.data(), Box{{0}, {100'000}});
    const int count = fill_up(200'000);
    EXPECT_GT(count, 200);
    expect_error(Code::no_space, [&] { pmem.store("old", std::string(10 << 20, 'n')); });
    const std::vector<int> other(100'000, 5);
    for (int i = 0; i < 20; ++i) {
        try {  // there may be a little room left, and there may not
            pmem.store<int>("A", other.data(), Box{{0}, {100'000}});
        } catch (const Error& error) {
            ASSERT_EQ(error.kind(), Code::no_space);
        }
    }
    expect_error(Code::no_space, [&] { pmem.set_attribute("old", "big", std::string(10 << 20, 'n')); });
    EXPECT_EQ(pmem.load<std::string>("old"), std::string(1000, 'o'));
    EXPECT_TRUE(pmem.attributes("old").empty());
    expect_fillers(count, 200'000);
    EXPECT_TRUE(pmem.verify().empty());
    pmem.erase("filler/0");
    pmem.store("new", std::string(150'000, 'n'));
    EXPECT_EQ(pmem.load<std::string>("new"), std::string(150'000, 'n'));
    reopen();
    EXPECT_EQ(pmem.load<std::string>("old"), std::string(1000, 'o'));
    erase_fillers();
    pmem.store("big", std::string(40 << 20, 'b'));
}

TEST_P(space, what_failed_leaves_nothing_behind) {
    struct Failing final : Encoder {
        std::uint64_t size_bytes() const override { return 100'000; }
        void encode(std::span<std::byte>) const override { throw std::runtime_error("changed its mind"); }
    };
    open();
    pmem.store("g/v", 1);
    pmem.store("h/v", 1);
    const PoolInfo before = pmem.info();
    for (int i = 0; i < 20; ++i) {
        const std::string id = "g/" + std::to_string(i);
        expect_error(Code::no_space, [&] { pmem.store(id, std::string(65 << 20, 'x')); });
        EXPECT_THROW(pmem.store_encoded(id, Type::string(), SerializerType::bp4, Failing()),
                     std::runtime_error);
        expect_error(Code::no_space, [&] { pmem.set_attribute("g/v", id, std::string(65 << 20, 'x')); });
        ArrayOptions in_place;
        in_place.contiguous = true;
        expect_error(Code::no_space, [&] { pmem.alloc<char>(id, Dimensions{65 << 20}, in_place); });
        EXPECT_FALSE(pmem.exists(id));
    }
    const PoolInfo after = settled_info(pmem);
    EXPECT_EQ(after.metadata_bytes, before.metadata_bytes);
    EXPECT_EQ(after.data_bytes, before.data_bytes);
    EXPECT_EQ(pmem.ids(), (std::vector<std::string>{"g/v", "h/v"}));
    EXPECT_TRUE(pmem.attributes("g/v").empty());
    pmem.erase("g/v");
    pmem.erase("g");
}

TEST_P(space, the_message_of_a_full_pool_says_what_to_do) {
    open();
    expect_error(Code::no_space, [&] { pmem.store("v", std::string(65 << 20, 'x')); }, {path()});
    expect_error(Code::no_space, [&] { pmem.store("v", std::string(64 << 20, 'x')); }, {path()});
    EXPECT_FALSE(pmem.exists("v"));
    expect_error(Code::no_space, [&] { fill_up(1 << 20), pmem.store("v", std::string(2 << 20, 'x')); },
                 {"full", "erase"});
    erase_fillers();
    pmem.store("v", std::string(40 << 20, 'x'));
}

TEST_P(space, small_values_can_fill_a_pool_and_make_room_for_the_same_again) {
    open();
    for (const std::size_t bytes : {20'000U, 2000U, 700U}) {
        if (GetParam() == Layout::directory && bytes < 20'000) continue;  // a file each: it would take long
        SCOPED_TRACE(bytes);
        const int count = fill_up(bytes);
        EXPECT_GT(static_cast<std::size_t>(count) * bytes, std::size_t{30} << 20);
        expect_fillers(count, bytes);
        erase_fillers();
        pmem.store("one chunk", std::string(60'000, 'o'));
        pmem.erase("one chunk");
        reopen();
        // Chunks that held records stay theirs (law 5), so a run as large as the pool no longer fits; the same again does.
        EXPECT_GE(fill_up(bytes) + 1, count);
        erase_fillers();
    }
}

TEST_P(space, variables_can_fill_a_pool_and_come_back) {
    Options small = options();
    small.max_bytes = 16 << 20;
    pmem.mmap(path(), small);
    int most = 0;
    for (int round = 0; round < 3; ++round) {
        int count = 0;
        try {
            for (;; ++count) pmem.store("filler/" + std::to_string(count), count);
        } catch (const Error& error) {
            ASSERT_EQ(error.kind(), Code::no_space);
        }
        if (round == 0) most = count;
        EXPECT_EQ(count, most);
        EXPECT_GT(count, 25'000);
        for (int i = 0; i < count; i += 101) ASSERT_EQ(pmem.load<int>("filler/" + std::to_string(i)), i);
        erase_fillers();
    }
}

TEST_P(space, values_of_random_sizes_for_a_long_time) {
    open();
    std::mt19937 random(3);
    std::vector<std::size_t> sizes(60);
    for (int i = 0; i < 6000; ++i) {
        const auto n = static_cast<std::size_t>(random() % sizes.size());
        const std::size_t bytes = (std::size_t{1} << (random() % 19)) + random() % 1000;
        if (random() % 4 == 0 && sizes[n] != 0) {
            pmem.erase(std::to_string(n));
            sizes[n] = 0;
        } else {
            pmem.store(std::to_string(n), std::string(bytes, static_cast<char>(n)));
            sizes[n] = bytes;
        }
    }
    for (std::size_t n = 0; n < sizes.size(); ++n) {
        if (sizes[n] == 0) {
            EXPECT_FALSE(pmem.exists(std::to_string(n)));
        } else {
            EXPECT_EQ(pmem.load<std::string>(std::to_string(n)), std::string(sizes[n], static_cast<char>(n)));
        }
    }
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    EXPECT_EQ(settled_info(pmem).data_bytes, 0u);
    EXPECT_EQ(settled_info(pmem).metadata_bytes, 0u);
}

TEST_P(space, compact_takes_what_several_newer_boxes_cover_together) {
    open();
    pmem.alloc<int>("A", Dimensions{40'000});
    const std::vector<int> data(40'000, 1);
    const std::vector<int> half(20'000, 2);
    pmem.store<int>("A", data.data(), Box{{0}, {40'000}});
    pmem.store<int>("A", half.data(), Box{{0}, {20'000}});
    pmem.store<int>("A", half.data(), Box{{20'000}, {20'000}});
    EXPECT_EQ(pmem.blocks("A").size(), 3u);
    const std::uint64_t before = pmem.info().data_bytes;
    pmem.compact();
    EXPECT_EQ(pmem.blocks("A").size(), 2u);
    EXPECT_LT(pmem.info().data_bytes, before);
    std::vector<int> back(40'000);
    pmem.load<int>("A", back.data(), Box{{0}, {40'000}});
    EXPECT_EQ(back, std::vector<int>(40'000, 2));
}

TEST_P(space, trim_gives_free_chunks_back_to_the_file_system) {
    open();
    pmem.store("keep", std::string(100'000, 'k'));
    pmem.store("big", std::string(30 << 20, 'b'));
    EXPECT_EQ(pmem.trim(), 0u) << "nothing is free at the end";
    pmem.erase("big");
    const PoolInfo before = settled_info(pmem);
    const std::uint64_t freed = pmem.trim();
    if (GetParam() == Layout::file) {
        EXPECT_GE(freed, 29u << 20);
    } else {
        EXPECT_LT(before.allocated_bytes, 1u << 20) << "a payload file gives its space back when it goes";
    }
    EXPECT_EQ(pmem.info().allocated_bytes, before.allocated_bytes - freed);
    EXPECT_EQ(pmem.load<std::string>("keep"), std::string(100'000, 'k'));
    pmem.store("big", std::string(30 << 20, 'c'));
    EXPECT_EQ(pmem.load<std::string>("big"), std::string(30 << 20, 'c'));
    reopen();
    EXPECT_EQ(pmem.load<std::string>("big").size(), 30u << 20);
}

TEST_P(space, prepare_allocates_ahead) {
    open();
    EXPECT_LT(pmem.info().allocated_bytes, 8u << 20);
    pmem.prepare(32 << 20);
    if (GetParam() == Layout::file) {  // the files of the other one come later
        EXPECT_GE(pmem.info().allocated_bytes, 32u << 20);
        EXPECT_GE(pmem.info().free_bytes, 30u << 20);
    }
    pmem.store("v", std::string(20 << 20, 'v'));
    pmem.prepare();
    EXPECT_EQ(pmem.load<std::string>("v"), std::string(20 << 20, 'v'));
    expect_error(Code::no_space, [&] { pmem.prepare(1ULL << 30); });
    Options ahead = options();
    ahead.initial_bytes = 16 << 20;
    ahead.prepare = true;
    PMEM other;
    other.mmap(path("other"), ahead);
    EXPECT_GE(other.info().allocated_bytes, 16u << 20);
}

TEST_P(space, a_pool_takes_no_more_of_the_file_system_than_it_uses) {
    if (GetParam() != Layout::file) GTEST_SKIP() << "about the one file";
    Options large = options();
    large.max_bytes = 64ULL << 30;
    large.chunk_bytes = 0;
    pmem.mmap(path(), large);
    pmem.store("v", std::string(1 << 20, 'v'));
    EXPECT_LT(pmem.info().allocated_bytes, 80ULL << 20) << "the hash table of such a pool and little more";
    EXPECT_EQ(pmem.load<std::string>("v").size(), 1u << 20);
}

}  // namespace
}  // namespace pmemcpy::conformance
