// Length: one promise after another of the same handful of targets.
// Targets below a pool: where blocks lie makes no difference to who reads them.

#include <pmemcpy/tiers.hpp>

#include "os/calls.hpp"
#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

class tiers : public TwoTargets {
protected:
    tiers() { fs::create_directory(below_ / "nvme"); }
    std::string pool_path() const { return here_ / "pool"; }
    static PMEM open_at(const std::string& path, const Options& options = {}) {
        PMEM pool;
        pool.mmap(path, options);
        return pool;
    }
    /// With a third target between the two.
    Hierarchy hierarchy(std::uint64_t nvme_bytes = 0) const {
        Hierarchy h = TwoTargets::hierarchy(Buffering::none, 5);
        h.targets.insert(h.targets.begin() + 1, {.name = "nvme",
                                                 .kind = TargetKind::file,
                                                 .path = below_ / "nvme",
                                                 .capacity_bytes = nvme_bytes,
                                                 .write = {2e9, 50e-6},
                                                 .read = {3e9, 60e-6}});
        h.promotion = Promotion::never;
        return h;
    }
};

// Who closes the pool last asks what its targets are, to sync them. A hierarchy of so many words is read under a pin, for which it had no slot
// any more.
TEST_F(tiers, a_long_hierarchy_may_be_the_last_that_is_done_to_a_pool) {
    Hierarchy h = hierarchy();
    for (int i = 0; i < 3; ++i) {
        Target more = h.targets.back();
        more.name = "a-place-with-a-long-name-number-" + std::to_string(i);
        more.path += "/" + more.name;
        fs::create_directory(more.path);
        h.targets.push_back(more);
    }
    {
        PMEM pool = open();
        set_hierarchy(pool, h);
    }
    PMEM pool = open();
    EXPECT_EQ(hierarchy_of(pool)->targets.size(), 6U);
}

std::function<void()> meanwhile;

// A block that was on its way to a target when that left the hierarchy was published there, and nobody found it any more.
TEST_F(tiers, a_target_that_a_block_is_on_its_way_to_stays) {
    PMEM pool = open();
    Hierarchy h = hierarchy();
    h.rules = {{.match = "A", .pin = "nvme"}};
    set_hierarchy(pool, h);
    alloc(pool, "A");
    PMEM other = open(0, Mode::update);
    Hierarchy without = TwoTargets::hierarchy(Buffering::none, 5);
    without.promotion = Promotion::never;
    std::thread leaves;
    Code refusal{};
    meanwhile = [&] {
        leaves = std::thread(
            [&] { refusal = code_of([&] { set_hierarchy(other, without); }, "holds blocks of 'A'"); });
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
    };
    os::Calls calls = os::system_calls();
    calls.fallocate = [](int fd, int mode, off_t offset, off_t length) {
        if (const auto act = std::exchange(meanwhile, nullptr)) act();
        return os::system_calls().fallocate(fd, mode, offset, length);
    };
    {
        const os::ScopedCalls scoped(calls);
        store(pool, 0, 1.0, "A");
        leaves.join();
    }
    EXPECT_EQ(refusal, Code::busy);
    EXPECT_EQ(hierarchy_of(other)->targets.size(), 3U);
    EXPECT_EQ(count_in(pool, "A", "nvme"), 1u);
    expect(other, 0, 1.0, "A");
    pool.erase("A");
    set_hierarchy(other, without);
    alloc(pool, "A");
    store(pool, 0, 2.0, "A");
    expect(other, 0, 2.0, "A");
}

// A target leaves in two steps; whoever comes after a death between them goes on.
TEST_F(tiers, targets_that_leave_while_processes_die_take_nothing_along) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        alloc(pool, "A");
        store(pool, 0, 1.0, "A");
    }
    for (int kill = 0; kill < 12; ++kill) {
        const pid_t child = ::fork();
        if (child == 0) {
            PMEM pool = open(0, Mode::update);
            for (bool all_leave = false;; all_leave = !all_leave) {
                if (all_leave) {
                    remove_hierarchy(pool);
                } else {
                    set_hierarchy(pool, TwoTargets::hierarchy(Buffering::none, 5));
                }
                set_hierarchy(pool, hierarchy());
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * kill));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        PMEM pool = open(0, Mode::update);
        expect(pool, 0, 1.0, "A");
        set_hierarchy(pool, hierarchy());
        EXPECT_EQ(hierarchy_of(pool)->targets.size(), 3U);
        move(pool, "A", "nvme");
        expect(pool, 0, 1.0, "A");
        move(pool, "A", "pool");
    }
}

TEST_F(tiers, a_pool_may_be_a_tenth_of_what_is_stored_in_it) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy(16 * mebibyte));
    alloc(pool, "A");
    for (std::uint64_t i = 0; i < 80; ++i) store(pool, i, static_cast<double>(i), "A");
    for (std::uint64_t i = 0; i < 80; ++i) expect(pool, i, static_cast<double>(i), "A");
    EXPECT_GT(count_in(pool, "A", ""), 2u);
    EXPECT_GT(count_in(pool, "A", "nvme"), 8u);
    EXPECT_GT(count_in(pool, "A", "pfs"), 40u);
    EXPECT_TRUE(pool.verify().empty());
    pool.munmap();
    PMEM again = open(0, Mode::read);
    for (std::uint64_t i = 0; i < 80; ++i) expect(again, i, static_cast<double>(i), "A");
    const auto infos = targets(again);
    ASSERT_EQ(infos.size(), 3u);
    EXPECT_LE(infos[0].used_bytes, 8 * mebibyte);
    EXPECT_EQ(infos[1].used_bytes, count_in(again, "A", "nvme") * mebibyte);
    EXPECT_LE(infos[1].used_bytes, 16 * mebibyte);
    EXPECT_EQ(infos[2].used_bytes, count_in(again, "A", "pfs") * mebibyte);
}

TEST_F(tiers, blocks_go_down_and_come_back_with_all_that_is_known_of_them) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool, "g/A");
    for (std::uint64_t i = 0; i < 3; ++i) store(pool, i, static_cast<double>(i), "g/A");
    const auto before = pool.blocks("g/A");
    EXPECT_EQ(move(pool, "g/A", "pfs"), 3 * mebibyte);
    EXPECT_EQ(move(pool, "g/A", "pfs"), 0u);
    EXPECT_EQ(files("pfs").size(), 3u);
    auto after = pool.blocks("g/A");
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
        EXPECT_EQ(after[i].target, "pfs");
        EXPECT_EQ(after[i].box, before[i].box);
        EXPECT_EQ(after[i].version, before[i].version);
        EXPECT_EQ(after[i].written_ns, before[i].written_ns);
        EXPECT_EQ(after[i].crc, before[i].crc);
        EXPECT_EQ(after[i].max_as<double>(), before[i].max_as<double>());
    }
    for (std::uint64_t i = 0; i < 3; ++i) expect(pool, i, static_cast<double>(i), "g/A");
    EXPECT_EQ(move(pool, "/", "nvme"), 3 * mebibyte);
    EXPECT_EQ(move(pool, "g", "pool"), 3 * mebibyte);
    EXPECT_EQ(count_in(pool, "g/A", ""), 3u);
    if (pool.durability() == Durability::page)
        pool.sync();  // until then what was moved keeps its old place (law 10)
    EXPECT_EQ(files("pfs").size() + files("nvme").size(), 0u);
    for (std::uint64_t i = 0; i < 3; ++i) expect(pool, i, static_cast<double>(i), "g/A");
}

// Law 3: a block that is moved under a newer one that lies over it does not come to lie on top.
TEST_F(tiers, what_was_stored_over_a_block_stays_over_it_when_it_is_moved) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    std::mt19937_64 random(5);
    constexpr std::uint64_t length = 4000;
    pool.alloc<double>("A", {length});
    std::vector<double> wanted(length, -1);
    pool.store<double>("A", wanted.data(), Box{{0}, {length}});
    for (int round = 0; round < 300; ++round) {
        const std::uint64_t begin = random() % (length - 1);
        const std::uint64_t count = 1 + random() % (length - begin);
        const auto values = numbers(round * 1e4, count);
        pool.store<double>("A", values.data(), Box{{begin}, {count}});
        std::copy(values.begin(), values.end(), wanted.begin() + static_cast<std::ptrdiff_t>(begin));
        const char* const names[] = {"pool", "nvme", "pfs"};
        if (round % 3 == 0) move(pool, "A", names[random() % 3]);
        std::vector<double> found(length);
        pool.load<double>("A", found.data(), Box{{0}, {length}});
        ASSERT_EQ(found, wanted) << "round " << round;
    }
    pool.munmap();
    PMEM again = open(0, Mode::read);
    std::vector<double> found(length);
    again.load<double>("A", found.data(), Box{{0}, {length}});
    EXPECT_EQ(found, wanted);
}

TEST_F(tiers, a_view_shows_what_it_showed_while_its_block_is_moved_and_erased) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool, "A");
    store(pool, 0, 7, "A");
    auto in_pool = std::make_optional(pool.view<double>("A", Box{{0, 0}, {1, numbers_in_block}}));
    move(pool, "A", "nvme");
    auto in_nvme = std::make_optional(pool.view<double>("A", Box{{0, 0}, {1, numbers_in_block}}));
    move(pool, "A", "pool");
    pool.erase("A");
    for (std::uint64_t i = 0; i < numbers_in_block; i += 1000) {
        ASSERT_EQ(in_pool->data()[i], 7 + static_cast<double>(i));
        ASSERT_EQ(in_nvme->data()[i], 7 + static_cast<double>(i));
    }
    EXPECT_EQ(files("nvme").size(), 1u);
    in_pool.reset();
    in_nvme.reset();
    pool.compact();
    EXPECT_EQ(files("nvme").size(), 0u);
}

TEST_F(tiers, erasing_and_overwriting_leaves_nothing_below) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool, "A");
    for (std::uint64_t i = 0; i < 20; ++i) store(pool, i, 1, "A");
    EXPECT_GT(files("nvme").size(), 0u);
    pool.erase("A");
    pool.compact();
    EXPECT_EQ(files("nvme").size(), 0u);
    EXPECT_EQ(targets(pool)[1].used_bytes, 0u);
}

TEST_F(tiers, a_compressed_block_a_fortran_array_and_steps_are_moved_like_any_other) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    ArrayOptions fortran;
    fortran.order = Order::fortran;
    pool.alloc<double>("F", {50, 20}, fortran);
    pool.store<double>("F", numbers(3, 1000).data(), Box{{0, 0}, {50, 20}});
    if (is_available(Codec::Kind::lz4)) {
        ArrayOptions packed;
        packed.codec = Codec{Codec::Kind::lz4};
        pool.alloc<double>("P", {1000}, packed);
        pool.store<double>("P", numbers(4, 1000).data(), Box{{0}, {1000}});
    }
    pool.alloc<double>("S", {1000});
    for (std::uint64_t step = 1; step < 4; ++step) {
        pool.begin(step);
        pool.store<double>("S", numbers(static_cast<double>(step), 1000).data(), Box{{0}, {1000}});
        pool.commit(step);
        move(pool, "S", step % 2 == 1 ? "pfs" : "nvme");
    }
    move(pool, "/", "nvme");
    std::vector<double> found(1000);
    pool.load<double>("F", found.data(), Box{{0, 0}, {50, 20}});
    EXPECT_EQ(found, numbers(3, 1000));
    if (pool.exists("P")) {
        EXPECT_EQ(count_in(pool, "P", "nvme"), 1u);
        pool.load<double>("P", found.data(), Box{{0}, {1000}});
        EXPECT_EQ(found, numbers(4, 1000));
    }
    pool.load<double>("S", found.data(), Box{{0}, {1000}});
    EXPECT_EQ(found, numbers(3, 1000));
    // What lies in a step that is not committed stays where it is.
    pool.begin(9);
    pool.store<double>("S", numbers(9, 1000).data(), Box{{0}, {1000}});
    EXPECT_EQ(move(pool, "S", "pfs"), 8000u);
    pool.abandon();
    pool.load<double>("S", found.data(), Box{{0}, {1000}});
    EXPECT_EQ(found, numbers(3, 1000));
}

TEST_F(tiers, values_and_arrays_in_place_stay_and_find_room_when_blocks_fill_the_pool) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool, "A");
    for (std::uint64_t i = 0; i < 12; ++i) store(pool, i, static_cast<double>(i), "A");
    const std::string text(3 * mebibyte, 't');
    pool.store("text", text);
    ArrayOptions in_place;
    in_place.contiguous = true;
    pool.alloc<double>("C", {numbers_in_block}, in_place);
    pool.store<double>("C", numbers(5).data(), Box{{0}, {numbers_in_block}});
    EXPECT_EQ(move(pool, "/", "pfs"), 12 * mebibyte);
    EXPECT_EQ(pool.load<std::string>("text"), text);
    std::vector<double> found(numbers_in_block);
    pool.load<double>("C", found.data(), Box{{0}, {numbers_in_block}});
    EXPECT_EQ(found, numbers(5));
}

TEST_F(tiers, rules_pin_prefer_and_keep) {
    Hierarchy h = hierarchy();
    h.rules = {{.match = "low/*", .pin = "pfs"},
               {.match = "mid/*", .prefer = {"nvme", "pool"}},
               {.match = "stay", .never_evict = true}};
    PMEM pool = open();
    set_hierarchy(pool, h);
    for (const char* const id : {"low/A", "mid/A", "stay", "B"}) alloc(pool, id);
    for (std::uint64_t i = 0; i < 3; ++i) {
        for (const char* const id : {"low/A", "mid/A", "stay"}) store(pool, i, 1, id);
    }
    for (std::uint64_t i = 0; i < 12; ++i) store(pool, i, 1, "B");
    EXPECT_EQ(count_in(pool, "low/A", "pfs"), 3u);
    EXPECT_EQ(count_in(pool, "mid/A", "nvme"), 3u);
    EXPECT_EQ(count_in(pool, "stay", ""), 3u);
    EXPECT_GT(count_in(pool, "B", ""), 0u);
}

TEST_F(tiers, max_locality_keeps_a_variable_together) {
    Hierarchy h = hierarchy();
    h.targets[1].write = {7e9, 2e-6};  // nearly as fast: worth it
    h.policy = Policy::max_locality;
    PMEM pool = open();
    set_hierarchy(pool, h);
    for (const char* const id : {"A", "B"}) alloc(pool, id);
    store(pool, 0, 1, "A");
    move(pool, "A", "nvme");
    store(pool, 1, 1, "A");
    store(pool, 0, 1, "B");
    EXPECT_EQ(count_in(pool, "A", "nvme"), 2u);
    EXPECT_EQ(count_in(pool, "B", ""), 1u);
}

TEST_F(tiers, others_that_have_the_pool_open_follow_a_new_hierarchy) {
    PMEM first = open();
    PMEM second = open();
    alloc(first, "A");
    EXPECT_EQ(code_of([&] {
                  for (std::uint64_t i = 0; i < 20; ++i) store(second, i, static_cast<double>(i), "A");
              }),
              Code::no_space);
    set_hierarchy(first, hierarchy());
    for (std::uint64_t i = 0; i < 20; ++i) store(second, i, static_cast<double>(i), "A");
    for (std::uint64_t i = 0; i < 20; ++i) expect(first, i, static_cast<double>(i), "A");
    Hierarchy h = hierarchy();
    h.rules = {{.match = "**", .pin = "pfs"}};
    set_hierarchy(second, h);
    store(first, 20, 20, "A");
    EXPECT_EQ(first.blocks("A").back().target, "pfs");
    EXPECT_EQ(hierarchy_of(first)->rules.size(), 1u);
}

TEST_F(tiers, refuse_what_would_lose_or_mislead) {
    PMEM pool = open();
    EXPECT_EQ(hierarchy_of(pool), std::nullopt);
    EXPECT_EQ(code_of([&] { move(pool, "/", "nvme"); }, "no hierarchy"), Code::invalid_argument);
    Hierarchy h = hierarchy();
    h.targets[2].path = below_ / "nothing";
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }, "there is no directory"), Code::not_found);
    h = hierarchy();
    std::swap(h.targets[1], h.targets[2]);
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }, "the fastest target comes first"),
              Code::invalid_argument);
    EXPECT_EQ(hierarchy_of(pool), std::nullopt);

    set_hierarchy(pool, hierarchy());
    alloc(pool, "A");
    store(pool, 0, 1, "A");
    EXPECT_EQ(code_of([&] { move(pool, "A", "tape"); }, "there are pool, nvme, pfs"), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { move(pool, "B", "pfs"); }), Code::not_found);
    move(pool, "A", "pfs");
    EXPECT_EQ(code_of([&] { remove_hierarchy(pool); }, "target 'pfs' holds blocks of 'A'"), Code::busy);
    h = hierarchy();
    h.targets.pop_back();
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, h); }), Code::busy);
    move(pool, "A", "pool");
    set_hierarchy(pool, h);
    remove_hierarchy(pool);
    EXPECT_EQ(hierarchy_of(pool), std::nullopt);
    EXPECT_EQ(targets(pool).size(), 1u);
    expect(pool, 0, 1, "A");

    PMEM reader = open(0, Mode::read);
    EXPECT_EQ(code_of([&] { set_hierarchy(reader, hierarchy()); }), Code::permission_denied);
}

TEST_F(tiers, a_copy_of_the_pool_file_may_read_the_blocks_and_not_write) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        alloc(pool, "A");
        store(pool, 0, 1, "A");
        move(pool, "A", "nvme");
    }
    fs::copy_file(pool_path(), here_ / "copy");
    {
        Options options;
        options.mode = Mode::read;
        const PMEM copy = open_at(here_ / "copy", options);
        expect(copy, 0, 1, "A");
        PMEM writer = open_at(here_ / "copy");
        expect(writer, 0, 1, "A");
        EXPECT_EQ(code_of(
                      [&] {
                          move(writer, "A", "pool");
                          move(writer, "A", "nvme");
                      },
                      "is a copy"),
                  Code::busy);
        writer.erase("A");
        writer.compact();
    }
    PMEM pool = open();
    expect(pool, 0, 1, "A");
    pool.munmap();
    // Of a pool that is gone the copy takes the place.
    fs::remove(pool_path());
    fs::remove(here_ / "copy");
}

TEST_F(tiers, a_target_that_is_away_is_set_aside_until_it_is_back) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool, "A");
    alloc(pool, "B");
    store(pool, 0, 1, "A");
    move(pool, "A", "nvme");
    pool.munmap();
    fs::rename(below_ / "nvme", below_ / "away");
    fs::create_directory(below_ / "nvme");  // as an empty mount point
    pool = open();
    EXPECT_EQ(code_of([&] { expect(pool, 0, 1, "A"); }, "target 'nvme'"), Code::io_error);
    EXPECT_NE(targets(pool)[1].trouble, "");
    EXPECT_FALSE(pool.verify().empty());
    for (std::uint64_t i = 0; i < 20; ++i) store(pool, i, static_cast<double>(i), "B");
    EXPECT_EQ(count_in(pool, "B", "nvme"), 0u);
    EXPECT_GT(count_in(pool, "B", "pfs"), 10u);
    fs::remove(below_ / "nvme");
    fs::rename(below_ / "away", below_ / "nvme");
    expect(pool, 0, 1, "A");
    EXPECT_EQ(targets(pool)[1].trouble, "");
}

TEST_F(tiers, a_damaged_block_stays_where_it_is_and_says_so) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy());
    alloc(pool, "A");
    store(pool, 0, 1, "A");
    move(pool, "A", "nvme");
    for (const fs::path& path : files("nvme")) {
        std::FILE* file = std::fopen(path.c_str(), "r+");
        ASSERT_NE(file, nullptr);
        std::fseek(file, 4096, SEEK_SET);
        std::fputc('!', file);
        std::fclose(file);
    }
    EXPECT_EQ(code_of([&] { move(pool, "A", "pool"); }, "another checksum"), Code::corrupt);
    EXPECT_EQ(count_in(pool, "A", "nvme"), 1u);
    EXPECT_EQ(pool.verify().size(), 1u);
}

TEST_F(tiers, a_pool_in_a_directory_has_none) {
    PMEM pool = open_at(here_ / "directory/");
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, hierarchy()); }, "pool in a directory"), Code::unsupported);
}

}  // namespace
}  // namespace pmemcpy
