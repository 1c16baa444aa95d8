// Power loss on what lies below a pool. A file system keeps what was synced: of a file its bytes at its last fsync, of a directory its names
// at its own; what came later may be there or not. The power goes before every call that changes something below, and what a survivor then
// finds is what was acknowledged: in a pool that loses nothing itself (DAX memory), and in one that loses all since its last sync (a page cache);
// and where the pool is lost altogether, what is made again of the flush target is what was flushed.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <pmemcpy/tiers.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "content.hpp"
#include "disk.hpp"
#include "os/calls.hpp"
#include "pmem/sides.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::crash {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t never = ~std::uint64_t{0};

bool is_long() { return std::getenv("PMEMCPY_LONG") != nullptr; }

std::vector<double> numbers(std::size_t count, double first) {
    std::vector<double> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = first + static_cast<double>(i);
    return all;
}

constexpr std::size_t row = 512;  // numbers of 4 KiB

void store_row(PMEM& pmem, const std::string& id, std::size_t at, double first) {
    pmem.store<double>(id, numbers(row, first).data(), Box{{at, 0}, {1, row}});
}

Hierarchy two_targets(const PMEM& pmem) {
    Hierarchy h;
    const std::string path = pmem.info().path;
    h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {8e9, 1e-6}},
                 {.name = "below",
                  .path = path.substr(0, path.size() - 4) + "below",
                  .write = {1e9, 10},
                  .read = {1e9, 1e-5}}};
    h.rules = {{.match = "low", .pin = "below"}, {.match = "high", .pin = "pool"}};
    h.granularity_bytes = 4096;
    h.promotion = Promotion::never;
    h.mode = Buffering::none;  // nobody but the verbs does anything
    h.flush.threads = 1;
    return h;
}

struct Verb {
    std::string name;
    std::function<void(PMEM&)> call;
};

// Each may change one thing, so that what is found is what was there before the verb or after it.
std::vector<Verb> verbs() {
    return {
        {"alloc high",
         [](PMEM& p) {
             p.alloc<double>("high", {4, row});
         }},
        {"store high", [](PMEM& p) { store_row(p, "high", 0, 0); }},
        {"store high again", [](PMEM& p) { store_row(p, "high", 1, 1000); }},
        {"sync", [](PMEM& p) { p.sync(); }},
        {"set the hierarchy", [](PMEM& p) { set_hierarchy(p, two_targets(p)); }},
        {"alloc low",
         [](PMEM& p) {
             p.alloc<double>("low", {4, row});
         }},
        {"store below", [](PMEM& p) { store_row(p, "low", 0, 5000); }},
        {"store below again", [](PMEM& p) { store_row(p, "low", 1, 6000); }},
        {"flush", [](PMEM& p) { flush(p); }},
        {"overwrite high", [](PMEM& p) { store_row(p, "high", 0, 100); }},
        {"flush the new one", [](PMEM& p) { flush(p); }},
        {"sync after flushing", [](PMEM& p) { p.sync(); }},
        {"move to the copies", [](PMEM& p) { move(p, "high", "below"); }},
        {"overwrite what lives in a copy", [](PMEM& p) { store_row(p, "high", 1, 1100); }},
        {"overwrite below", [](PMEM& p) { store_row(p, "low", 0, 5100); }},
        {"move up", [](PMEM& p) { move(p, "high", "pool"); }},
        {"move up what was below", [](PMEM& p) { move(p, "low", "pool"); }},
        {"sync after moving up", [](PMEM& p) { p.sync(); }},
        {"move down without a copy", [](PMEM& p) { move(p, "low", "below"); }},
        {"store below once more", [](PMEM& p) { store_row(p, "low", 2, 7000); }},
        {"sync what was stored below", [](PMEM& p) { p.sync(); }},
        {"store a value", [](PMEM& p) { p.store("v", std::string(6000, 'v')); }},
        {"flush with a value", [](PMEM& p) { flush(p); }},
        {"attribute", [](PMEM& p) { p.set_attribute("v", "note", std::string(3000, 'n')); }},
        {"flush with an attribute", [](PMEM& p) { flush(p); }},
        {"erase below", [](PMEM& p) { p.erase("low"); }},
        {"drop after flushing",
         [](PMEM& p) {
             Hierarchy h = two_targets(p);
             h.rules = {{.match = "high", .drop_after_flush = true}};
             set_hierarchy(p, h);
         }},
        {"flush and drop", [](PMEM& p) { flush(p); }},
        {"sync after dropping", [](PMEM& p) { p.sync(); }},
        {"step",
         [](PMEM& p) {
             p.begin(1);
             store_row(p, "high", 2, 2000);
             p.commit(1);
         }},
        {"flush the step", [](PMEM& p) { flush(p); }},
        {"move all up", [](PMEM& p) { move(p, "/", "pool"); }},
        {"remove the hierarchy", [](PMEM& p) { remove_hierarchy(p); }},
        {"sync at the end", [](PMEM& p) { p.sync(); }},
    };
}

class PowerLossBelow : public ::testing::TestWithParam<bool> {
protected:
    /// What is left of it.
    enum class Pool { whole, as_synced, gone };
    std::vector<std::pair<Pool, std::string>> pools() const {
        std::vector<std::pair<Pool, std::string>> all = {{Pool::whole, "whole"}, {Pool::gone, "gone"}};
        if (is_paged()) all.emplace_back(Pool::as_synced, "as it was synced");
        return all;
    }
    bool is_paged() const { return GetParam(); }

    Options options() const {
        Options options;
        options.max_bytes = std::uint64_t{256} << 10;
        options.chunk_bytes = 4096;
        return options;
    }
    void open(PMEM& pmem) const {
        pmem.mmap(disk_.pool(), options());
        pmem::Sides::of(pmem).shared()->set_on_hierarchy({});  // no thread beside
    }

    /// Whether its power was cut.
    bool run_until(std::uint64_t call) {
        disk_.clear();
        const pid_t child = ::fork();
        if (child == 0) {
            disk_.run(call);
            try {
                PMEM pmem;
                open(pmem);
                for (const Verb& verb : verbs_) {
                    verb.call(pmem);
                    disk_.acknowledge();
                }
                pmem.munmap();
                ::_exit(0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "after %zu verbs: %s\n", disk_.acknowledged(), error.what());
                ::_exit(1);
            }
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != died))
            ADD_FAILURE() << "the process ended with " << status;
        return WIFEXITED(status) && WEXITSTATUS(status) == died;
    }

    /// What there is after each verb; of none, nothing.
    std::vector<Content> contents() {
        disk_.clear();
        std::vector<Content> all(1);
        PMEM pmem;
        open(pmem);
        for (const Verb& verb : verbs_) {
            verb.call(pmem);
            all.push_back(observe(pmem, Grain::element));
            if (hierarchy_of(pmem)) all.back()["the hierarchy"] = 0;
        }
        return all;
    }

    /// How many verbs were acknowledged when the last that is called so was.
    std::size_t since(const std::string& beginning) const {
        std::size_t count = disk_.acknowledged();
        while (count > 0 && !verbs_[count - 1].name.starts_with(beginning)) --count;
        return count;
    }

    /// What is wrong with what a survivor finds; empty if nothing is.
    std::string survive(const std::vector<Content>& all, Pool pool) {
        fs::remove(disk_.pool() + ".rt");
        if (pool == Pool::gone) return make_again(all);
        const std::size_t acknowledged = disk_.acknowledged();
        const std::size_t first = is_paged() ? since("sync") : acknowledged;
        const std::size_t last = (pool == Pool::as_synced ? disk_.synced() : acknowledged) + 1;
        PMEM survivor;
        open(survivor);
        Content found = observe(survivor, Grain::element);
        if (hierarchy_of(survivor)) found["the hierarchy"] = 0;
        if (std::string wrong = judge(found, all, first, std::min(last, all.size() - 1)); !wrong.empty())
            return wrong;
        if (const auto damages = survivor.verify(); !damages.empty()) return "verify: " + damages[0].what;
        if (hierarchy_of(survivor)) {
            flush(survivor);
            if (unflushed(survivor).of_blocks != 0) return "something cannot be flushed";
        }
        if (survivor.exists("high")) store_row(survivor, "high", 3, 9000);
        survivor.munmap();
        open(survivor);
        for (const auto& [key, hash] : observe(survivor, Grain::element)) {
            if (key != "high[3]" && (!found.contains(key) || found.at(key) != hash))
                return key + " is another then";
        }
        if (const auto damages = survivor.verify(); !damages.empty())
            return "verify then: " + damages[0].what;
        return {};
    }

    std::string make_again(const std::vector<Content>& all) {
        const std::size_t flushed = since("flush");
        const std::size_t last = std::min(disk_.acknowledged() + 1, all.size() - 1);
        // Who takes the hierarchy away takes away what was flushed.
        if (flushed == 0 || !all[last].contains("the hierarchy")) return {};
        const std::string again = folder_ / "again";
        fs::rename(disk_.pool(), folder_ / "lost");
        std::string wrong;
        try {
            rebuild(disk_.root(), again);
            PMEM pmem;
            pmem.mmap(again);
            Content found = observe(pmem, Grain::element);
            if (hierarchy_of(pmem)) found["the hierarchy"] = 0;
            wrong = judge(found, all, flushed, last);
            if (const auto damages = pmem.verify(); wrong.empty() && !damages.empty())
                wrong = "verify: " + damages[0].what;
        } catch (const std::exception& error) {
            wrong = error.what();
        }
        for (const char* ending : {"", ".rt", ".heat"}) fs::remove(again + ending);
        fs::rename(folder_ / "lost", disk_.pool());
        return wrong.empty() ? wrong : "made again: " + wrong;
    }

    // Each thing as it was after one of these verbs; behind a page cache what came after a sync may be there in part.
    static std::string judge(const Content& found, const std::vector<Content>& all, std::size_t first,
                             std::size_t last) {
        for (const auto& [key, hash] : found) {
            bool is_known = false;
            for (std::size_t i = first; i <= last; ++i) {
                const auto then = all[i].find(key);
                is_known = is_known || (then != all[i].end() && then->second == hash);
            }
            if (!is_known) return key + " is as it never was";
        }
        for (const auto& [key, hash] : all[first]) {
            bool is_always = true;
            for (std::size_t i = first; i <= last; ++i) is_always = is_always && all[i].contains(key);
            if (is_always && !found.contains(key)) return key + " is gone";
        }
        return {};
    }

    std::vector<Luck> lucks(std::uint64_t call) {
        const auto always = [](bool what) { return [what] { return what; }; };
        std::vector<Luck> all = {{"nothing that was not synced", always(false), always(false)},
                                 {"names, not bytes", always(true), always(false)},
                                 {"everything", always(true), always(true)}};
        auto random = std::make_shared<std::mt19937_64>(call);
        const auto perhaps = [random] { return (*random)() % 2 == 0; };
        for (int i = 0; i < (is_long() ? 5 : 1); ++i)
            all.push_back({"some of it, " + std::to_string(i), perhaps, perhaps});
        return all;
    }

    Folder folder_;
    Disk disk_{folder_.path(), GetParam()};
    os::ScopedCalls calls_{Disk::calls_of_it()};
    const std::vector<Verb> verbs_ = verbs();
};

TEST_P(PowerLossBelow, leaves_everything_acknowledged) {
    const std::vector<Content> all = contents();
    {
        PMEM pmem;
        open(pmem);
        ASSERT_EQ(pmem.durability(), is_paged() ? Durability::page : Durability::line);
    }
    ASSERT_FALSE(run_until(never));
    const std::uint64_t calls = disk_.calls();
    ASSERT_GT(calls, 100U) << "somebody has looked at other calls than those that there are";
    std::size_t images = 0;
    for (std::uint64_t call = 0; call < calls; ++call) {
        ASSERT_TRUE(run_until(call)) << "at call " << call;
        const std::size_t verb = disk_.acknowledged();
        if (is_paged() && !disk_.is_pool_synced()) continue;  // of such a pool nothing is promised yet
        const std::string pool = bytes_of(disk_.pool());
        for (const auto& [how, name] : pools()) {
            for (const Luck& luck : lucks(call)) {
                if (how == Pool::as_synced) disk_.lose_pool();
                disk_.lose_below(luck);
                std::string wrong;
                try {
                    wrong = survive(all, how);
                } catch (const std::exception& error) {
                    wrong = error.what();
                }
                ++images;
                EXPECT_EQ(wrong, "") << "call " << call << " of '"
                                     << (verb < verbs_.size() ? verbs_[verb].name : "closing") << "', with "
                                     << luck.name << ", the pool " << name;
                if (HasFailure()) return;
                disk_.restore_below();
                disk_.restore_pool(pool);
            }
        }
    }
    std::printf("power cut at %llu calls, %zu images\n", static_cast<unsigned long long>(calls), images);
}

INSTANTIATE_TEST_SUITE_P(every, PowerLossBelow, ::testing::Bool(), [](const auto& is_paged) {
    return std::string(is_paged.param ? "behind_a_page_cache" : "in_memory_that_loses_nothing");
});

}  // namespace
}  // namespace pmemcpy::crash
