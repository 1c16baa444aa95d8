// Length: one promise after another of the same lost pool.
// A pool that is lost, and made again of what was flushed: of the flush target's directory alone.

#include <pmemcpy/operations.hpp>
#include <pmemcpy/tiers.hpp>

#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t width = 8192;

class rebuilding : public TwoTargets {
protected:
    PMEM open(const std::string& name = "pool", std::uint64_t max_bytes = 16 * mebibyte) const {
        Options options;
        options.max_bytes = max_bytes;
        options.chunk_bytes = 64 << 10;
        PMEM pool;
        pool.mmap(here_ / name, options);
        return pool;
    }
    Hierarchy hierarchy(Buffering mode = Buffering::none) const {
        Hierarchy h = TwoTargets::hierarchy(mode, 5);
        h.promotion = Promotion::never;
        h.flush.on = {Trigger::close};  // nothing happens in between
        return h;
    }
    static void alloc(PMEM& pool, const std::string& id = "a") { pool.alloc<double>(id, {unlimited, width}); }
    static void store(PMEM& pool, std::uint64_t i, double first, const std::string& id = "a") {
        pool.store<double>(id, numbers(first, width).data(), Box{{i, 0}, {1, width}});
    }
    static double first_of(const PMEM& pool, std::uint64_t i, const std::string& id = "a") {
        std::vector<double> found(width);
        pool.load<double>(id, found.data(), Box{{i, 0}, {1, width}});
        EXPECT_EQ(found, numbers(found[0], width)) << id << " block " << i;
        return found[0];
    }
    /// The node has died: what was in its memory is gone.
    void lose(const std::string& name = "pool") const {
        for (const auto& entry : fs::directory_iterator(here_.path())) {
            if (entry.path().filename().string().starts_with(name)) fs::remove_all(entry.path());
        }
    }
    Rebuilt rebuild(const std::string& to = "again") const {
        return pmemcpy::rebuild(below_ / "pfs", here_ / to);
    }
    PMEM rebuilt() const {
        const Rebuilt result = rebuild();
        for (const Damage& each : result.damages) ADD_FAILURE() << each.id << ": " << each.what;
        PMEM pool;
        pool.mmap(here_ / "again", {.mode = Mode::update});
        return pool;
    }
    fs::path inventory() const {
        for (const auto& entry : fs::recursive_directory_iterator(below_ / "pfs")) {
            if (entry.path().filename().string().starts_with("inventory-")) return entry.path();
        }
        return {};
    }
    static void scribble(const fs::path& path, std::streamoff at) {
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(at);
        file.write("scribble", 8);
    }
};

TEST_F(rebuilding, brings_back_groups_variables_attributes_and_blocks) {
    const std::string long_text(100'000, 'x');
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        alloc(pool, "run/a");
        for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, 100.0 * static_cast<double>(i), "run/a");
        ArrayOptions fortran;
        fortran.order = Order::fortran;
        fortran.fill_value.assign(4, std::byte{7});
        pool.alloc("run/f", Type::scalar(Kind::int32), {3, 2}, fortran);
        const std::vector<std::int32_t> column = {1, 2, 3};
        pool.store<std::int32_t>("run/f", column.data(), Box{{0, 1}, {3, 1}});
        pool.store("answer", 42);
        pool.store("text", long_text);
        pool.make_group("empty/inner");
        pool.set_attribute("run/a", "units", std::string("m/s"));
        pool.set_attribute("/", "author", std::string("li"));
        pool.set_attribute("run", "long", long_text);
        flush(pool);
        EXPECT_EQ(code_of([&] { rebuild(); }, "belongs to the pool"), Code::busy);
    }
    EXPECT_EQ(code_of([&] { rebuild(); }, "pmemcpy cp"), Code::busy) << "closed, but there";
    lose();
    const Rebuilt result = rebuild();
    EXPECT_TRUE(result.damages.empty()) << result.damages[0].id << result.damages[0].what;
    EXPECT_EQ(result.lost, here_ / "pool");
    EXPECT_EQ(result.variables, 4u);
    EXPECT_EQ(result.blocks, 5u);
    EXPECT_EQ(result.hierarchy_trouble, "");
    PMEM pool;
    pool.mmap(here_ / "again", {.mode = Mode::update});
    for (std::uint64_t i = 0; i < 4; ++i)
        EXPECT_EQ(first_of(pool, i, "run/a"), 100.0 * static_cast<double>(i));
    std::vector<std::int32_t> all(6);
    pool.load<std::int32_t>("run/f", all.data(), Box{{0, 0}, {3, 2}});
    EXPECT_EQ(all, (std::vector<std::int32_t>{0x07070707, 0x07070707, 0x07070707, 1, 2, 3}));
    EXPECT_EQ(pool.load<int>("answer"), 42);
    EXPECT_EQ(pool.load<std::string>("text"), long_text);
    EXPECT_EQ(pool.info("empty/inner").kind, VariableKind::group);
    EXPECT_EQ(pool.get_attribute<std::string>("run/a", "units"), "m/s");
    EXPECT_EQ(pool.get_attribute<std::string>("/", "author"), "li");
    EXPECT_EQ(pool.get_attribute<std::string>("run", "long"), long_text);
    EXPECT_EQ(pool.info("run/a").dims, (Dimensions{4, width}));
    EXPECT_EQ(targets(pool).size(), 2u) << "it has the hierarchy of the lost one";
    EXPECT_TRUE(pool.verify().empty());
}

// The organizer has found nothing to do in this mode, and written down that all there was to do is done. What is flushed after that
// was not in any inventory then, and never came into one: it was lost with the pool, and was not handed to a command either.
TEST_F(rebuilding, brings_back_what_was_flushed_after_an_inventory_that_had_nothing_of_it) {
    const std::string long_text(100'000, 'x');
    const auto wait_until = [](const std::function<bool()>& is_so) {
        for (int i = 0; i < 1000 && !is_so(); ++i) std::this_thread::sleep_for(10ms);
        ASSERT_TRUE(is_so());
    };
    Hierarchy by_itself = hierarchy();
    by_itself.flush.on = {Trigger::period};
    by_itself.flush.period_s = 0.05;
    by_itself.flush.command = "true {file}";  // so that there is something to do in the background
    for (const bool is_asked_for : {true, false}) {
        {
            PMEM pool = open();
            alloc(pool);
            store(pool, 0, 7);
            pool.store("text", long_text);
            set_hierarchy(pool, by_itself);
            wait_until([&] { return !inventory().empty(); });
            if (is_asked_for) {
                flush(pool);
            } else {
                const fs::path before = inventory();
                Hierarchy other = by_itself;
                other.mode = Buffering::write_back;
                set_hierarchy(pool, other);
                wait_until([&] { return unflushed(pool).of_blocks == 0 && inventory() != before; });
            }
        }
        lose();
        {
            const PMEM pool = rebuilt();
            EXPECT_EQ(first_of(pool, 0), 7) << is_asked_for;
            EXPECT_EQ(pool.load<std::string>("text"), long_text);
        }
        lose("again");
        fs::remove_all(below_ / "pfs");
        fs::create_directory(below_ / "pfs");
    }
}

TEST_F(rebuilding, shows_of_what_is_overwritten_what_was_flushed) {
    const pid_t child = fork();
    if (child == 0) {
        PMEM pool = open();
        Hierarchy h = hierarchy(Buffering::write_back);
        h.flush.period_s = 0.05;
        set_hierarchy(pool, h);
        alloc(pool);
        alloc(pool, "gone");
        store(pool, 0, 10);
        store(pool, 1, 11);
        store(pool, 0, 5, "gone");
        pool.store("n", 1);
        flush(pool);
        store(pool, 0, 20);
        pool.erase("gone");
        pool.store("n", 2);
        move(pool, "a", "pfs");  // where the copy of block 1 becomes its place
        store(pool, 0, 30);
        store(pool, 1, 31);
        pool.erase("a");
        while (!files().empty())
            std::this_thread::sleep_for(1ms);  // nothing of it is needed by the pool any more
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    lose();
    PMEM pool = rebuilt();
    EXPECT_EQ(first_of(pool, 0), 10);
    EXPECT_EQ(first_of(pool, 1), 11);
    EXPECT_EQ(first_of(pool, 0, "gone"), 5);
    EXPECT_EQ(pool.load<int>("n"), 1);
}

TEST_F(rebuilding, needs_no_more_space_than_two_states) {
    PMEM pool = open();
    Hierarchy h = hierarchy(Buffering::bypass);
    h.flush.period_s = 0.05;
    set_hierarchy(pool, h);
    alloc(pool);
    for (std::uint64_t i = 0; i < 3; ++i) store(pool, i, 1);
    flush(pool);
    const auto count = [&] {
        std::size_t n = 0;
        for (const auto& entry : fs::recursive_directory_iterator(below_ / "pfs"))
            n += entry.is_regular_file() ? 1U : 0U;
        return n;
    };
    const std::size_t before = count();
    for (int again = 0; again < 10; ++again) {
        for (std::uint64_t i = 0; i < 3; ++i) store(pool, i, again);
    }
    pool.sync();
    // Those of the inventory, and those that are stored now.
    for (int i = 0; i < 3000 && count() > before + 3; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_LE(count(), before + 3);
    flush(pool);
    for (int i = 0; i < 3000 && count() > before; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(count(), before);
}

TEST_F(rebuilding, has_a_step_whole_or_not_at_all) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(Buffering::write_back));
        alloc(pool, "u");
        alloc(pool, "v");
        pool.begin(1);
        store(pool, 0, 1, "u");
        store(pool, 0, 1, "v");
        pool.store("time", 1.0);
        pool.commit(1);
        flush(pool);
        pool.begin(2);
        store(pool, 0, 2, "u");
        store(pool, 0, 2, "v");
        pool.store("time", 2.0);
        pool.commit(2);
        flush(pool, "u");  // v of step 2 is not there
        pool.begin(3);
        store(pool, 0, 3, "u");
        PMEM other = open();
        flush(other);
        pool.abandon();
    }
    lose();
    PMEM pool = rebuilt();
    EXPECT_EQ(pool.info().committed_step, 2u);
    EXPECT_EQ(first_of(pool, 0, "u"), 2);
    EXPECT_EQ(first_of(pool, 0, "v"), 2);
    EXPECT_EQ(pool.load<double>("time"), 2.0);
    EXPECT_EQ(pool.blocks("u").back().step, 2u);
}

TEST_F(rebuilding, of_a_step_half_of_which_was_flushed_shows_the_one_before) {
    const pid_t child = fork();
    if (child == 0) {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(Buffering::write_back));
        alloc(pool, "u");
        alloc(pool, "v");
        for (const std::uint64_t step : {1U, 2U}) {
            pool.begin(step);
            store(pool, 0, static_cast<double>(step), "u");
            store(pool, 0, static_cast<double>(step), "v");
            pool.store("time", static_cast<double>(step));
            pool.commit(step);
            flush(pool, step == 1 ? "/" : "u");
        }
        store(pool, 1, 7, "u");  // in no step
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    lose();
    PMEM pool = rebuilt();
    EXPECT_EQ(pool.info().committed_step, 1u);
    EXPECT_EQ(first_of(pool, 0, "u"), 1);
    EXPECT_EQ(first_of(pool, 0, "v"), 1);
    EXPECT_EQ(pool.load<double>("time"), 1.0);
}

TEST_F(rebuilding, names_what_is_damaged_or_missing_and_brings_back_the_rest) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        alloc(pool);
        alloc(pool, "b");
        for (std::uint64_t i = 0; i < 2; ++i) store(pool, i, static_cast<double>(i));
        store(pool, 0, 9, "b");
        flush(pool);
    }
    lose();
    auto all = files();
    ASSERT_EQ(all.size(), 3u);
    std::sort(all.begin(), all.end());  // by version: as they were stored
    scribble(all[0], 100);
    fs::remove(all[1]);
    const Rebuilt result = rebuild();
    ASSERT_EQ(result.damages.size(), 2u);
    EXPECT_EQ(result.damages[0].id, "a");
    EXPECT_EQ(result.damages[0].box, Selection(Box{{0, 0}, {1, width}}));
    EXPECT_NE(result.damages[0].what.find("another checksum"), std::string::npos) << result.damages[0].what;
    EXPECT_NE(result.damages[1].what.find("missing"), std::string::npos) << result.damages[1].what;
    PMEM pool;
    pool.mmap(here_ / "again", {.mode = Mode::update});
    EXPECT_EQ(first_of(pool, 0, "b"), 9);
    EXPECT_TRUE(pool.blocks("a").empty());
    EXPECT_TRUE(pool.verify().empty());
}

TEST_F(rebuilding, names_what_was_never_flushed) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy();
        h.rules = {{.match = "tmp", .mode = Buffering::scratch}};
        set_hierarchy(pool, h);
        alloc(pool);
        store(pool, 0, 1);
        alloc(pool, "c");
        store(pool, 0, 1, "c");
        alloc(pool, "tmp");
        store(pool, 0, 1, "tmp");
        flush(pool, "a");
    }
    lose();
    const Rebuilt result = rebuild();
    ASSERT_EQ(result.damages.size(), 1u);
    EXPECT_EQ(result.damages[0].id, "c");
    EXPECT_NE(result.damages[0].what.find("never flushed"), std::string::npos) << result.damages[0].what;
    PMEM pool;
    pool.mmap(here_ / "again", {.mode = Mode::update});
    EXPECT_EQ(first_of(pool, 0), 1);
    EXPECT_TRUE(pool.exists("c"));
    EXPECT_FALSE(pool.exists("tmp"));
}

TEST_F(rebuilding, keeps_a_pool_that_is_smaller_than_its_data_small) {
    {
        PMEM pool = open("pool", mebibyte);
        set_hierarchy(pool, hierarchy(Buffering::write_back));
        alloc(pool);
        for (std::uint64_t i = 0; i < 40; ++i) store(pool, i, static_cast<double>(i));
        flush(pool);
    }
    lose();
    PMEM pool = rebuilt();
    EXPECT_LE(pool.info().max_bytes, 2 * mebibyte);
    for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(first_of(pool, i), static_cast<double>(i));
}

TEST_F(rebuilding, without_the_directories_of_its_hierarchy_has_all_in_the_pool) {
    {
        PMEM pool = open("pool", mebibyte);
        set_hierarchy(pool, hierarchy(Buffering::write_back));
        alloc(pool);
        for (std::uint64_t i = 0; i < 40; ++i) store(pool, i, static_cast<double>(i));
        flush(pool);
    }
    lose();
    fs::rename(below_ / "pfs", below_ / "archive");
    const Rebuilt result = pmemcpy::rebuild(below_ / "archive", here_ / "again");
    EXPECT_NE(result.hierarchy_trouble.find("there is no directory"), std::string::npos);
    PMEM pool;
    pool.mmap(here_ / "again", {.mode = Mode::read});
    for (std::uint64_t i = 0; i < 40; ++i) EXPECT_EQ(first_of(pool, i), static_cast<double>(i));
}

TEST_F(rebuilding, can_be_done_again_of_what_was_flushed_of_the_rebuilt_pool) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        alloc(pool);
        store(pool, 0, 1);
        flush(pool);
    }
    lose();
    {
        PMEM pool = rebuilt();
        store(pool, 1, 2);
        flush(pool);
    }
    lose("again");
    EXPECT_EQ(code_of([&] { rebuild(); }, "of 2 pools"), Code::invalid_argument);
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator(below_ / "pfs")) {
        if (!entry.is_directory()) continue;
        const std::string name = "again" + std::to_string(found++);
        const Rebuilt result = pmemcpy::rebuild(entry.path(), here_ / name);
        PMEM pool;
        pool.mmap(here_ / name, {.mode = Mode::read});
        EXPECT_EQ(pool.info("a").dims[0], result.lost == here_ / "pool" ? 1u : 2u);
    }
    EXPECT_EQ(found, 2u);
}

// Both histories count as far, so whatever is matched by a count is taken for the other's.
TEST_F(rebuilding, of_a_pool_that_was_restored_from_a_backup_brings_back_nothing_that_was_given_up) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        alloc(pool);
        store(pool, 0, 1);
        pool.store("answer", 1);
    }
    fs::copy_file(here_ / "pool", here_ / "backup");
    const auto go_on = [&](double first) {
        PMEM pool = open();
        store(pool, 1, first);
        pool.store("answer", static_cast<int>(first));
        flush(pool);
        EXPECT_EQ(flushed(pool), 2U);
    };
    go_on(100);
    lose();
    fs::copy_file(here_ / "backup", here_ / "pool");
    go_on(200);
    lose();
    PMEM pool = rebuilt();
    EXPECT_EQ(first_of(pool, 0), 1);
    EXPECT_EQ(first_of(pool, 1), 200);
    EXPECT_EQ(pool.load<int>("answer"), 200);
}

TEST_F(rebuilding, what_is_compressed_after_it_was_flushed_is_as_it_was_or_as_it_is) {
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        alloc(pool);
        store(pool, 0, 3);
        flush(pool);
        run_operations(pool, "a", {.mask = operation::compress});
        ASSERT_EQ(pool.blocks("a")[0].codec, Codec::Kind::lz4);
    }
    lose();
    PMEM pool = rebuilt();
    EXPECT_EQ(first_of(pool, 0), 3);
}

TEST_F(rebuilding, of_a_target_behind_which_the_pool_was_killed_shows_a_flush) {
    for (int kill_after_ms : {0, 30, 90}) {
        const pid_t child = fork();
        if (child == 0) {
            PMEM pool = open();
            Hierarchy h = hierarchy(Buffering::write_back);
            h.flush.on = {Trigger::period};
            h.flush.period_s = 0.01;
            set_hierarchy(pool, h);
            alloc(pool);
            for (double step = 1;; ++step) {
                store(pool, 0, step);
                store(pool, 1, step);
            }
        }
        const auto begun = [&] { return !inventory().empty(); };
        for (int i = 0; i < 3000 && !begun(); ++i) std::this_thread::sleep_for(10ms);
        ASSERT_TRUE(begun());
        std::this_thread::sleep_for(std::chrono::milliseconds(kill_after_ms));
        kill(child, SIGKILL);
        int status = 0;
        waitpid(child, &status, 0);
        lose();
        {
            PMEM pool = rebuilt();
            // Block 1 is stored after block 0, and one of the two may be of the step before.
            if (pool.exists("a") && pool.info("a").dims[0] == 2u) {
                const double zero = first_of(pool, 0);
                const double one = first_of(pool, 1);
                EXPECT_TRUE(zero == one || zero == one + 1) << zero << " and " << one;
            }
        }
        lose("again");
        fs::remove_all(below_ / "pfs");
        fs::create_directory(below_ / "pfs");
    }
}

// A half one had filled its place in the flush target, which nobody gave back.
TEST_F(rebuilding, that_was_killed_leaves_no_pool_and_can_be_done_again) {
    {
        PMEM pool = open();
        Hierarchy h = hierarchy();
        h.rules = {{.match = "a", .pin = "pfs"}};
        set_hierarchy(pool, h);
        alloc(pool);
        for (std::uint64_t i = 0; i < 4; ++i) store(pool, i, 1);
        flush(pool);
    }
    lose();
    const pid_t child = fork();
    if (child == 0) {
        RebuildOptions options;
        options.progress = [](const FlushProgress& p) {
            if (p.blocks == 3) kill(getpid(), SIGKILL);
        };
        pmemcpy::rebuild(below_ / "pfs", here_ / "again", options);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_FALSE(fs::exists(here_ / "again"));
    EXPECT_EQ(files().size(), 4u + 3u);
    EXPECT_EQ(rebuild().blocks, 4u);
    EXPECT_EQ(files().size(), 4u + 4u);
    for (const auto& entry : fs::directory_iterator(here_.path()))
        EXPECT_EQ(entry.path().filename().string().find("rebuilding"), std::string::npos) << entry.path();
}

TEST_F(rebuilding, needs_a_directory_with_an_inventory_and_a_new_name) {
    EXPECT_EQ(code_of([&] { rebuild(); }, "nothing was flushed"), Code::not_found);
    EXPECT_EQ(code_of([&] { pmemcpy::rebuild(below_ / "none", here_ / "again"); }, "there is no directory"),
              Code::not_found);
    EXPECT_EQ(code_of([&] { pmemcpy::rebuild("", here_ / "again"); }, "empty"), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { pmemcpy::rebuild(below_ / "pfs", ""); }, "empty"), Code::invalid_argument);
    {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy());
        pool.store("n", 1);
        flush(pool);
    }
    lose();
    std::ofstream(here_ / "again") << "something";
    EXPECT_EQ(code_of([&] { rebuild(); }, "already"), Code::already_exists);
    fs::remove(here_ / "again");
    scribble(inventory(), 200);
    EXPECT_EQ(code_of([&] { rebuild(); }, "is damaged"), Code::corrupt);
    EXPECT_FALSE(fs::exists(here_ / "again"));
    fs::remove(inventory());
    EXPECT_EQ(code_of([&] { rebuild(); }, "holds no inventory"), Code::not_found);
}

TEST_F(rebuilding, gives_the_pool_no_more_rights_than_the_lost_one_had) {
    {
        PMEM pool;
        Options options;
        options.max_bytes = 8 * mebibyte;
        options.chunk_bytes = 64 << 10;
        options.permissions = 0600;
        pool.mmap(here_ / "pool", options);
        set_hierarchy(pool, hierarchy());
        pool.store("n", 1);
        flush(pool);
    }
    lose();
    rebuild();
    EXPECT_EQ(fs::status(here_ / "again").permissions() & fs::perms::all, fs::perms(0600));
}

}  // namespace
}  // namespace pmemcpy
