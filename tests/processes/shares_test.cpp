// Pools of several jobs with targets in one directory: what each gets of its capacity and of its bandwidth, whoever of them is killed or stopped.
// Everything is counted, nothing is timed.

#include <pmemcpy/tiers.hpp>

#include <numeric>

#include "worker.hpp"

namespace processes {
namespace {

namespace fs = std::filesystem;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Hierarchy;
using pmemcpy::PMEM;
using pmemcpy::TargetInfo;

constexpr std::uint64_t mebibyte = 1 << 20;
constexpr std::uint64_t numbers_in_block = mebibyte / 8;

struct Words {
    Word ready, goes;
    std::array<Word, 2> bytes;  // flushed by each of two
    struct Look {
        Word faster, slower;  // what each had flushed
    };
    Look first, last;  // by the faster one, when a quarter of its own was done, and three quarters
};

PMEM open(const std::string& path, std::uint64_t max_bytes = 8 * mebibyte) {
    pmemcpy::Options options;
    options.mode = pmemcpy::Mode::create_or_update;
    options.max_bytes = max_bytes;
    options.chunk_bytes = 64 << 10;
    PMEM pool;
    pool.mmap(path, options);
    return pool;
}

/// The pool, a target that several pools use, and one below it that they use too.
Hierarchy hierarchy_in(const std::string& folder, std::uint64_t together, std::uint32_t share = 1,
                       double lowest_bytes_per_second = 1e9) {
    Hierarchy h;
    h.targets.resize(3);
    h.targets[0] = {.name = "pool", .write = {8e9, 1e-6}, .read = {9e9, 1e-6}};
    h.targets[1] = {.name = "nvme", .path = folder + "/nvme", .write = {2e9, 5e-5}, .read = {3e9, 6e-5}};
    h.targets[2] = {.name = "pfs",
                    .path = folder + "/pfs",
                    .write = {lowest_bytes_per_second, 1e-3},
                    .read = {1e9, 1e-3}};
    for (std::size_t i = 1; i < h.targets.size(); ++i) {
        fs::create_directory(h.targets[i].path);
        h.targets[i].share = share;
    }
    h.targets[1].together_bytes = together;
    h.policy = pmemcpy::Policy::user_defined;  // the first that has room
    h.granularity_bytes = 64 << 10;
    h.mode = pmemcpy::Buffering::none;
    h.promotion = pmemcpy::Promotion::never;
    h.watermarks = {1, 1};
    return h;
}

void alloc(PMEM& pool) { pool.alloc<double>("A", {pmemcpy::unlimited, numbers_in_block}); }
void store_block(PMEM& pool, std::uint64_t i) {
    const std::vector<double> values(numbers_in_block, static_cast<double>(i));
    pool.store<double>("A", values.data(), Box{{i, 0}, {1, numbers_in_block}});
}
std::uint64_t count_in(const PMEM& pool, const std::string& target) {
    std::uint64_t count = 0;
    for (const auto& block : pool.blocks("A")) count += block.target == target ? 1U : 0U;
    return count;
}
void expect_blocks(const PMEM& pool, std::uint64_t count) {
    std::vector<double> found(numbers_in_block);
    for (std::uint64_t i = 0; i < count; ++i) {
        pool.load<double>("A", found.data(), Box{{i, 0}, {1, numbers_in_block}});
        EXPECT_EQ(found, std::vector<double>(numbers_in_block, static_cast<double>(i)));
    }
}
TargetInfo info_of(const PMEM& pool, std::size_t level) { return pmemcpy::targets(pool).at(level); }

class Shares : public ::testing::Test {
protected:
    std::string folder() const { return folder_.path(); }
    /// A pool whose blocks all go to the shared target.
    PMEM open_pinned(const std::string& name, Hierarchy h, const std::string& target = "nvme") const {
        h.rules = {{.match = "**", .pin = target}};
        PMEM pool = open(folder_ / name);
        set_hierarchy(pool, h);
        alloc(pool);
        return pool;
    }

    Folder folder_;
};

TEST_F(Shares, who_is_alone_may_fill_a_target_and_gives_back_what_another_needs_of_its_part) {
    const Hierarchy h = hierarchy_in(folder(), 16 * mebibyte);
    Hierarchy in_background = h;
    in_background.promotion = pmemcpy::Promotion::on_read;
    PMEM first = open(folder_ / "first");
    set_hierarchy(first, in_background);
    alloc(first);
    for (std::uint64_t i = 0; i < 30; ++i) store_block(first, i);
    EXPECT_EQ(count_in(first, "nvme"), 16u);

    PMEM second = open(folder_ / "second");
    set_hierarchy(second, h);
    alloc(second);
    std::uint64_t stored = 0;
    ASSERT_TRUE(wait_until([&] {
        if (count_in(second, "nvme") < 8) store_block(second, stored++);
        return count_in(second, "nvme") == 8 && info_of(first, 1).used_bytes <= 8 * mebibyte;
    }));
    for (std::uint64_t i = 30; i < 34; ++i) store_block(first, i);
    for (std::uint64_t i = 0; i < 4; ++i) store_block(second, stored++);
    EXPECT_EQ(count_in(first, "nvme"), 8u);
    EXPECT_EQ(count_in(second, "nvme"), 8u);
    expect_blocks(first, 34);
    expect_blocks(second, stored);
}

TEST_F(Shares, a_pool_without_a_background_gives_way_with_its_next_store) {
    const Hierarchy h = hierarchy_in(folder(), 16 * mebibyte);
    PMEM first = open(folder_ / "first");
    set_hierarchy(first, h);
    alloc(first);
    for (std::uint64_t i = 0; i < 30; ++i) store_block(first, i);
    EXPECT_EQ(count_in(first, "nvme"), 16u);
    Hierarchy triple = h;
    triple.targets[1].share = 3;
    PMEM second = open_pinned("second", triple);
    expect_error(
        Code::no_space, [&] { store_block(second, 0); }, "other pools use its directory too");
    EXPECT_TRUE(info_of(first, 1).others.at(0).needs_room);
    store_block(first, 30);
    EXPECT_EQ(count_in(first, "nvme"), 4u);
    for (std::uint64_t i = 0; i < 12; ++i) store_block(second, i);
    expect_error(Code::no_space, [&] { store_block(second, 12); });
    expect_blocks(first, 31);
    expect_blocks(second, 12);
}

TEST_F(Shares, in_the_last_target_nobody_takes_the_part_of_another_who_is_there) {
    Hierarchy h = hierarchy_in(folder(), 16 * mebibyte);
    h.targets.pop_back();
    PMEM first = open_pinned("first", h);
    PMEM second = open_pinned("second", h);
    store_block(second, 0);
    for (std::uint64_t i = 0; i < 8; ++i) store_block(first, i);
    expect_error(
        Code::no_space, [&] { store_block(first, 8); }, "this one's part is 8388608");
    for (std::uint64_t i = 1; i < 8; ++i) store_block(second, i);
    expect_error(Code::no_space, [&] { store_block(second, 8); });
    // What it leaves behind is there; its part is not kept for it any more.
    second.erase("A");
    second.munmap();
    ASSERT_TRUE(wait_until([&] { return info_of(first, 1).others.empty(); }));
    ASSERT_TRUE(wait_until([&] {
        try {
            store_block(first, 8);
            return true;
        } catch (const pmemcpy::Error&) {
            return false;
        }
    }));
}

TEST_F(Shares, a_quota_is_the_capacity_whatever_others_leave) {
    Hierarchy h = hierarchy_in(folder(), 16 * mebibyte);
    h.targets[1].capacity_bytes = 2 * mebibyte;
    PMEM pinned = open_pinned("pinned", h);
    for (std::uint64_t i = 0; i < 2; ++i) store_block(pinned, i);
    expect_error(
        Code::no_space, [&] { store_block(pinned, 2); }, "it may have 2097152 bytes");
    PMEM free = open(folder_ / "free");
    set_hierarchy(free, h);
    alloc(free);
    for (std::uint64_t i = 0; i < 12; ++i) store_block(free, i);
    EXPECT_EQ(count_in(free, "nvme"), 2u);
    EXPECT_GE(count_in(free, "pfs"), 1u);
}

TEST_F(Shares, space_that_is_reserved_counts_as_used) {
    const Hierarchy h = hierarchy_in(folder(), 16 * mebibyte);
    PMEM first = open_pinned("first", h);
    PMEM second = open_pinned("second", h);
    store_block(second, 0);
    reserve(first, 12 * mebibyte, "nvme");
    for (std::uint64_t i = 1; i < 4; ++i) store_block(second, i);
    expect_error(Code::no_space, [&] { store_block(second, 4); });
    EXPECT_EQ(info_of(second, 1).others.at(0).used_bytes, 12 * mebibyte);
    for (std::uint64_t i = 0; i < 12; ++i) store_block(first, i);
    EXPECT_EQ(info_of(second, 1).others.at(0).used_bytes, 12 * mebibyte);
}

TEST_F(Shares, each_sees_who_else_is_there) {
    const Hierarchy h = hierarchy_in(folder(), 16 * mebibyte, 3);
    PMEM first = open_pinned("first", h);
    store_block(first, 0);
    EXPECT_TRUE(info_of(first, 1).others.empty());
    EXPECT_EQ(info_of(first, 1).part_bytes, 16 * mebibyte);
    {
        PMEM second = open_pinned("second", hierarchy_in(folder(), 0));
        store_block(second, 0);
        const TargetInfo seen = info_of(first, 1);
        ASSERT_EQ(seen.others.size(), 1u);
        EXPECT_EQ(seen.others[0].pool, fs::canonical(folder_ / "second"));
        EXPECT_EQ(seen.others[0].used_bytes, mebibyte);
        EXPECT_EQ(seen.others[0].share, 1u);
        EXPECT_TRUE(seen.others[0].is_open);
        EXPECT_EQ(seen.part_bytes, 12 * mebibyte);
        EXPECT_EQ(seen.together_bytes, 16 * mebibyte);
        EXPECT_EQ(info_of(second, 1).others.at(0).share, 3u);
    }
    const TargetInfo left = info_of(first, 1);
    EXPECT_FALSE(left.others.at(0).is_open);
    EXPECT_EQ(left.others.at(0).used_bytes, mebibyte);
    EXPECT_EQ(left.part_bytes, 15 * mebibyte);
}

constexpr std::uint64_t blocks_of_fast = 120;

// Stores what the pool has room for, and flushes it when all are ready.
const Job flusher("flusher", [](const Arguments& a) {
    const std::string& folder = a[0];
    const auto share = static_cast<std::uint32_t>(std::stoul(a[1]));
    const bool is_fast = share > 1;
    const Shared<Words> words(folder + "/words");
    PMEM pool = open(folder + "/pool" + a[1], 2 * blocks_of_fast * mebibyte);
    // So slow, as it says, that none is thought to have stopped on a busy machine.
    set_hierarchy(pool, hierarchy_in(folder, 0, share, 1e6));
    alloc(pool);
    for (std::uint64_t i = 0; i < blocks_of_fast; ++i) store_block(pool, i);
    ++words->ready;
    while (words->goes == 0) sleep_us(100);
    flush(pool, "/", [&](const pmemcpy::FlushProgress& p) {
        words->bytes.at(is_fast ? 1 : 0) = p.bytes;
        // While both are at it: one may begin later than the other, and when one is done nobody holds the other up.
        const auto note = [&](Words::Look& look, std::uint64_t quarters) {
            if (!is_fast || look.faster != 0 || p.bytes * 4 < p.of_bytes * quarters) return;
            look.slower = words->bytes[0].load();
            look.faster = p.bytes;
        };
        note(words->first, 1);
        note(words->last, 3);
        return is_fast || words->last.faster == 0;
    });
    return 0;
});

TEST_F(Shares, two_that_flush_at_once_get_bandwidth_by_their_shares) {
    const Shared<Words> words(folder_ / "words");
    Worker slow("flusher", {folder(), "1"});
    Worker fast("flusher", {folder(), "3"});
    ASSERT_TRUE(wait_until([&] { return words->ready == 2; }));
    words->goes = 1;
    EXPECT_EQ(fast.wait(), 0);
    EXPECT_EQ(slow.wait(), 0);
    const auto between = [](const Word& first, const Word& last) {
        return static_cast<double>(last - first) / static_cast<double>(mebibyte);
    };
    const double had = between(words->first.faster, words->last.faster);
    const double third = had / 3;
    const double seen = between(words->first.slower, words->last.slower);
    std::cout << "[  shares  ] while one flushed " << had << " MiB, the other flushed " << seen << "\n";
    EXPECT_NEAR(seen, third, third / 4);
}

const Job stopper("stopper", [](const Arguments& a) {
    PMEM pool = open(a[0] + "/stopped");
    set_hierarchy(pool, hierarchy_in(a[0], 0));
    alloc(pool);
    for (std::uint64_t i = 0; i < 6; ++i) store_block(pool, i);
    flush(pool, "/", [](const pmemcpy::FlushProgress& p) {
        if (p.blocks == 2) ::raise(SIGSTOP);
        return true;
    });
    return 0;
});

TEST_F(Shares, one_that_is_stopped_while_it_flushes_holds_nobody_up) {
    PMEM pool = open(folder_ / "pool", 64 * mebibyte);
    set_hierarchy(pool, hierarchy_in(folder(), 0));
    alloc(pool);
    for (std::uint64_t i = 0; i < 40; ++i) store_block(pool, i);
    Worker stopped("stopper", {folder()});
    int status = 0;
    ASSERT_EQ(::waitpid(stopped.pid(), &status, WUNTRACED), stopped.pid());
    ASSERT_TRUE(WIFSTOPPED(status));
    EXPECT_EQ(flush(pool, "/"), 40 * mebibyte);
}

const Job scratcher("scratcher", [](const Arguments& a) {
    PMEM pool = open(a[0] + "/killed");
    Hierarchy h = hierarchy_in(a[0], 0);
    h.mode = pmemcpy::Buffering::scratch;
    h.rules = {{.match = "keep", .mode = pmemcpy::Buffering::none}};
    set_hierarchy(pool, h);
    pool.alloc<double>("keep", {numbers_in_block});
    pool.store<double>("keep", std::vector<double>(numbers_in_block, 7).data(), Box{{0}, {numbers_in_block}});
    alloc(pool);
    for (std::uint64_t i = 0; i < 20; ++i) store_block(pool, i);
    ::kill(::getpid(), SIGKILL);
    return 0;
});

TEST_F(Shares, what_a_killed_job_has_left_of_scratch_is_erased_by_another_who_shares_the_target) {
    Worker killed("scratcher", {folder()});
    EXPECT_EQ(killed.wait(), 1000 + SIGKILL);
    PMEM pool = open(folder_ / "pool");
    Hierarchy h = hierarchy_in(folder(), 0);
    h.mode = pmemcpy::Buffering::none;  // nothing is done in the background, and so before it is looked at
    set_hierarchy(pool, h);
    EXPECT_GT(info_of(pool, 1).others.at(0).used_bytes, 5 * mebibyte);
    h.mode = pmemcpy::Buffering::write_back;
    h.flush.period_s = 0.05;
    set_hierarchy(pool, h);
    ASSERT_TRUE(wait_until([&] {
        const auto others = info_of(pool, 1).others;
        return others.empty() || others[0].used_bytes <= mebibyte;
    }));
    const PMEM again = open(folder_ / "killed");
    EXPECT_FALSE(again.exists("A"));
    std::vector<double> kept(numbers_in_block);
    again.load<double>("keep", kept.data(), Box{{0}, {numbers_in_block}});
    EXPECT_EQ(kept, std::vector<double>(numbers_in_block, 7));
}

}  // namespace
}  // namespace processes
