// What the modes promise of a store, where the flush target has gone, is full, or is another pool's: the store says so, at once.

#include <pmemcpy/tiers.hpp>

#include "os/calls.hpp"
#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

class promises : public TwoTargets {
protected:
    /// A pool whose process has just used its flush target, and so has looked at it less than a tenth of a second ago.
    PMEM open_and_store(Buffering mode) const {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(mode, 1000));
        alloc(pool);
        store(pool, 0, 1);
        EXPECT_EQ(flushed(pool), 1U);
        return pool;
    }
    struct Way {
        std::string name;
        Code code;
        std::function<void(PMEM&)> happens;
        std::function<void(PMEM&)> is_undone;
    };
    std::vector<Way> ways() const {
        const fs::path pfs = below_ / "pfs";
        const fs::path away = below_ / "away";
        const fs::path twin = below_ / "twin";
        const auto come_back = [=](PMEM&) {
            fs::remove(pfs);
            fs::rename(away, pfs);
        };
        const auto set_capacity = [this](PMEM& pool, std::uint64_t bytes) {
            Hierarchy h = hierarchy_of(pool).value();
            h.targets[1].capacity_bytes = bytes;
            set_hierarchy(pool, h);
        };
        return {{"moved away", Code::io_error, [=](PMEM&) { fs::rename(pfs, away); }, come_back},
                {"another directory, as an empty mount point", Code::io_error,
                 [=](PMEM&) {
                     fs::rename(pfs, away);
                     fs::create_directory(pfs);
                 },
                 come_back},
                {"another directory, with a copy of what was in it", Code::io_error,
                 [=](PMEM&) {
                     fs::copy(pfs, twin, fs::copy_options::recursive);
                     fs::rename(pfs, away);
                     fs::rename(twin, pfs);
                 },
                 [=](PMEM&) {
                     fs::remove_all(pfs);
                     fs::rename(away, pfs);
                 }},
                {"a file", Code::io_error,
                 [=](PMEM&) {
                     fs::rename(pfs, away);
                     std::ofstream(pfs.string()) << "a file";
                 },
                 come_back},
                {"full", Code::no_space, [=](PMEM& pool) { set_capacity(pool, 4096); },
                 [=](PMEM& pool) { set_capacity(pool, 0); }}};
    }
};

// Within a tenth of a second after another store, both modes said that all was well, and what they had written lay where nobody looks.
TEST_F(promises, of_bypass_are_kept_or_nothing_is_stored) {
    PMEM pool = open_and_store(Buffering::bypass);
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        store(pool, 0, 1);
        way.happens(pool);
        EXPECT_EQ(code_of([&] { store(pool, 0, 2); }, "pfs"), way.code);
        way.is_undone(pool);
        expect(pool, 0, 1);
    }
    store(pool, 0, 2);
    expect(pool, 0, 2);
    EXPECT_TRUE(pool.verify().empty());
}

// What lies in the pool stays there. A program that is told of a failed store has to know that this part of it has not failed.
TEST_F(promises, of_write_through_are_kept_or_the_store_says_what_it_has_done) {
    PMEM pool = open_and_store(Buffering::write_through);
    double next = 2;
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        store(pool, 0, next);
        way.happens(pool);
        next += 1;
        EXPECT_EQ(code_of([&] { store(pool, 0, next); }, "'a' is stored"), way.code);
        EXPECT_EQ(flushed(pool), 0U);
        expect(pool, 0, next);
        way.is_undone(pool);
        flush(pool);
        EXPECT_EQ(flushed(pool), 1U);
        expect(pool, 0, next);
    }
    EXPECT_TRUE(pool.verify().empty());
}

// The error of the copies left the program in the step, in which its next store was refused.
TEST_F(promises, of_a_step_are_kept_or_the_commit_says_that_it_is_committed) {
    PMEM pool = open_and_store(Buffering::write_through);
    std::uint64_t step = 0;
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        way.happens(pool);
        pool.begin(++step);
        store(pool, 0, static_cast<double>(step));
        EXPECT_EQ(code_of([&] { pool.commit(step); }, "the step is committed"), way.code);
        EXPECT_EQ(pool.info().committed_step, step);
        expect(pool, 0, static_cast<double>(step));
        way.is_undone(pool);
        flush(pool);
        EXPECT_EQ(unflushed(pool).of_blocks, 0U);
        pool.begin(++step);
        store(pool, 0, static_cast<double>(step));
        pool.commit(step);
        EXPECT_EQ(unflushed(pool).of_blocks, 0U);
    }
}

// Of a block that another process moved just then no copy was made, and nothing said so.
TEST_F(promises, of_write_through_are_kept_for_a_block_that_is_moved_meanwhile) {
    PMEM pool = open();
    fs::create_directory(below_ / "nvme");
    Hierarchy h = hierarchy(Buffering::write_through, 1000);
    h.targets.insert(h.targets.begin() + 1, {.name = "nvme",
                                             .kind = TargetKind::file,
                                             .path = below_ / "nvme",
                                             .write = {1e9, 1e-5},
                                             .read = {1e9, 1e-5}});
    set_hierarchy(pool, h);
    alloc(pool, "a");
    alloc(pool, "b");
    PMEM other = open();
    pool.begin(1);
    store(pool, 0, 1, "a");
    store(pool, 0, 2, "b");
    // While the first of them is copied the second one goes to another place.
    static std::function<void()> once;
    once = [&] { move(other, "b", "nvme"); };
    os::Calls fake = os::system_calls();
    fake.fallocate = [](int fd, int mode, off_t offset, off_t length) {
        if (const auto now = std::exchange(once, nullptr)) now();
        return os::system_calls().fallocate(fd, mode, offset, length);
    };
    {
        const os::ScopedCalls scoped(fake);
        pool.commit(1);
    }
    EXPECT_FALSE(once);
    EXPECT_EQ(count_in(pool, "b", "nvme"), 1U);
    EXPECT_EQ(flushed(pool, "a"), 1U);
    EXPECT_EQ(flushed(pool, "b"), 1U);
    expect(pool, 0, 2, "b");
}

// A copy of the pool's file that was open for writing could not even read, and stored blocks in it were said not to be.
TEST_F(promises, of_a_copy_of_the_pool_file_are_its_own_and_never_touch_the_blocks_below) {
    const std::vector<std::string> ids = {"a", "back", "through"};
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::bypass, 1000);
        h.rules = {{.match = "back", .mode = Buffering::write_back},
                   {.match = "through", .mode = Buffering::write_through}};
        set_hierarchy(pool, h);
        for (const std::string& id : ids) {
            alloc(pool, id);
            store(pool, 0, 1, id);
        }
        flush(pool);
    }
    fs::copy_file(here_ / "pool", here_ / "copy");
    const auto before = files();
    {
        Options options;
        options.mode = Mode::update;
        PMEM copy;
        copy.mmap(here_ / "copy", options);
        for (const std::string& id : ids) expect(copy, 0, 1, id);
        EXPECT_EQ(code_of([&] { store(copy, 0, 2, "a"); }, "is a copy"), Code::busy);
        expect(copy, 0, 1, "a");
        store(copy, 0, 2, "back");
        expect(copy, 0, 2, "back");
        EXPECT_EQ(code_of([&] { store(copy, 0, 2, "through"); }, "'through' is stored"), Code::busy);
        expect(copy, 0, 2, "through");
        EXPECT_EQ(code_of([&] { flush(copy); }, "is a copy"), Code::busy);
        for (const std::string& id : ids) copy.erase(id);
        copy.compact();
        EXPECT_TRUE(copy.verify().empty());
    }
    EXPECT_EQ(files(), before);
    {
        const PMEM pool = open();
        for (const std::string& id : ids) expect(pool, 0, 1, id);
        EXPECT_TRUE(pool.verify().empty());
    }
    // The pool is gone, and what is below is the other's.
    fs::rename(here_ / "pool", here_ / "gone");
    fs::copy_file(here_ / "gone", here_ / "heir");
    fs::remove(here_ / "gone");
    PMEM heir;
    heir.mmap(here_ / "heir");
    store(heir, 1, 6);
    expect(heir, 1, 6);
    for (const std::string& id : ids) expect(heir, 0, 1, id);
}

}  // namespace
}  // namespace pmemcpy
