// What gets its name when it is whole: a new pool, one in a directory, one that repair or rebuild has made, a namespace. The
// power goes before each call that changes something; then nothing is there, or all of it, and all of it once the call has
// returned.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/repair.hpp>
#include <pmemcpy/tiers.hpp>
#include <random>
#include <string>
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

Options small_pool(Layout layout) {
    Options options;
    options.max_bytes = std::uint64_t{256} << 10;
    options.chunk_bytes = 4096;
    options.layout = layout;
    return options;
}

std::vector<double> numbers(double first) {
    std::vector<double> all(512);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = first + static_cast<double>(i);
    return all;
}

void fill(PMEM& pmem) {
    pmem.store("v", std::string(5000, 'v'));
    pmem.alloc<double>("A", Dimensions{2, 512});
    for (std::size_t i = 0; i < 2; ++i)
        pmem.store<double>("A", numbers(1000.0 * static_cast<double>(i)).data(), Box{{i, 0}, {1, 512}});
}

/// What is made, in a folder where `prepare` has put something durably before. Each part is acknowledged when it returns.
struct Making {
    std::string name;
    std::string made;  // its path there
    std::function<void(const std::string& folder)> prepare;
    std::vector<std::function<void(const std::string& folder)>> parts;
    std::size_t there_after = 1;   // so many parts it has to be there
    std::size_t filled_after = 1;  // so many parts all of its content has to be
    bool is_pool = true;
    bool is_paged = true;
};

void PrintTo(const Making& making, std::ostream* out) { *out << making.name; }

std::shared_ptr<PMEM> open_pool(const std::string& path, const Options& options) {
    auto pmem = std::make_shared<PMEM>();
    pmem->mmap(path, options);
    pmem::Sides::of(*pmem).shared()->set_on_hierarchy({});
    return pmem;
}

Making new_pool(Layout layout, bool is_paged) {
    auto pmem = std::make_shared<std::shared_ptr<PMEM>>();
    const std::string name = layout == Layout::directory ? "directory/" : "pool";
    Making making{
        std::string(layout == Layout::directory ? "directory" : "pool") +
            (is_paged ? "_behind_a_page_cache" : "_in_memory_that_loses_nothing"),
        name,
        [](const std::string&) {},
        {[=](const std::string& folder) { *pmem = open_pool(folder + "/" + name, small_pool(layout)); },
         [=](const std::string&) {
             fill(**pmem);
             (*pmem)->sync();
         },
         [=](const std::string&) { (*pmem)->munmap(); }}};
    making.filled_after = 2;
    making.is_paged = is_paged;
    return making;
}

Making repaired(Layout layout, bool is_paged) {
    const std::string end = layout == Layout::directory ? "/" : "";
    Making making{std::string("repaired_") + (layout == Layout::directory ? "directory" : "pool") +
                      (is_paged ? "_behind_a_page_cache" : "_in_memory_that_loses_nothing"),
                  "new" + end,
                  [=](const std::string& folder) {
                      const auto pmem = open_pool(folder + "/old" + end, small_pool(layout));
                      fill(*pmem);
                      pmem->munmap();
                  },
                  {[=](const std::string& folder) { repair(folder + "/old" + end, folder + "/new" + end); }}};
    making.is_paged = is_paged;
    return making;
}

Making rebuilt() {
    return {"rebuilt",
            "new",
            [](const std::string& folder) {
                const auto pmem = open_pool(folder + "/old", small_pool(Layout::file));
                Hierarchy h;
                h.targets = {
                    {.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {8e9, 1e-6}},
                    {.name = "below", .path = folder + "/target", .write = {1e9, 10}, .read = {1e9, 1e-5}}};
                h.promotion = Promotion::never;
                h.mode = Buffering::none;
                h.flush.threads = 1;
                fs::create_directory(folder + "/target");
                set_hierarchy(*pmem, h);
                fill(*pmem);
                flush(*pmem);
                pmem->munmap();
                fs::remove(folder + "/old");
            },
            {[](const std::string& folder) { rebuild(folder + "/target", folder + "/new"); }}};
}

Making made_namespace() {
    Making making{"namespace", "team", [](const std::string&) {}, {[](const std::string& folder) {
                      create_namespace("team", folder);
                  }}};
    making.is_pool = false;
    return making;
}

std::vector<Making> makings() {
    return {new_pool(Layout::file, true),
            new_pool(Layout::directory, true),
            new_pool(Layout::directory, false),
            repaired(Layout::file, true),
            repaired(Layout::directory, true),
            repaired(Layout::directory, false),
            rebuilt(),
            made_namespace()};
}

class WhenWhole : public ::testing::TestWithParam<Making> {
protected:
    std::string path() const { return disk_.root() + "/" + GetParam().made; }

    void begin_anew() {
        disk_.clear();
        const std::string prepared = folder_ / "prepared";
        if (!fs::exists(prepared)) {
            const os::ScopedCalls real(os::system_calls());
            GetParam().prepare(disk_.root());
            fs::copy(disk_.root(), prepared, fs::copy_options::recursive);
        } else {
            fs::copy(prepared, disk_.root(), fs::copy_options::recursive);
        }
        disk_.keep_everything();
    }

    /// Whether its power was cut.
    bool run_until(std::uint64_t call) {
        begin_anew();
        const pid_t child = ::fork();
        if (child == 0) {
            disk_.run(call);
            try {
                for (const auto& part : GetParam().parts) {
                    part(disk_.root());
                    disk_.acknowledge();
                }
                ::_exit(0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "after %zu parts: %s\n", disk_.acknowledged(), error.what());
                ::_exit(1);
            }
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != died))
            ADD_FAILURE() << "the process ended with " << status;
        return WIFEXITED(status) && WEXITSTATUS(status) == died;
    }

    /// Syncs of this process tell from where they are asked for.
    Content content() {
        PMEM pmem;
        pmem.mmap(path());
        return observe(pmem);
    }

    std::string look_at_namespace() const {
        const auto all = namespaces(disk_.root());
        if (all.empty()) return disk_.acknowledged() == 1 ? "it is gone" : "";
        return all[0].access ? "" : "nobody can look into it";
    }

    std::string look(const Content& whole) {
        if (!GetParam().is_pool) return look_at_namespace();
        const bool must_be = disk_.acknowledged() >= GetParam().there_after;
        const bool must_be_full = disk_.acknowledged() >= GetParam().filled_after;
        const std::string records = GetParam().made.ends_with('/') ? path() + ".pool" : path();
        if (!fs::exists(records)) return must_be ? "it is gone" : "";
        fs::remove(records + ".rt");
        PMEM pmem;
        pmem.mmap(path());
        const Content found = observe(pmem);
        for (const auto& [key, hash] : found) {
            if (!whole.contains(key) || (must_be_full && whole.at(key) != hash)) return key + " is another";
        }
        if (must_be_full && found.size() != whole.size()) return "something is lost";
        if (const auto damages = pmem.verify(); !damages.empty()) return "verify: " + damages[0].what;
        pmem.store("later", 1);
        return {};
    }

    std::vector<Luck> lucks(std::uint64_t call) const {
        const auto always = [](bool what) { return [what] { return what; }; };
        auto random = std::make_shared<std::mt19937_64>(call);
        const auto perhaps = [random] { return (*random)() % 2 == 0; };
        return {{"nothing that was not synced", always(false), always(false)},
                {"names, not bytes", always(true), always(false)},
                {"everything", always(true), always(true)},
                {"some of it", perhaps, perhaps}};
    }

    /// What is wrong at the first call, from `first` on, at which something is.
    std::string wrong_from(std::uint64_t first, const Content& whole, std::size_t& states) {
        run_until(never);
        const std::uint64_t calls = disk_.calls();
        for (std::uint64_t call = first; call <= calls; ++call) {
            run_until(call == calls ? never : call);
            for (const Luck& luck : lucks(call)) {
                disk_.lose_below(luck);
                std::string wrong;
                try {
                    wrong = look(whole);
                } catch (const std::exception& error) {
                    wrong = error.what();
                }
                ++states;
                if (!wrong.empty())
                    return wrong + " at call " + std::to_string(call) + " of " + std::to_string(calls) +
                           ", with " + luck.name;
                disk_.restore_below();
            }
        }
        return {};
    }

    Content whole() {
        run_until(never);
        return GetParam().is_pool ? content() : Content{};
    }

    Folder folder_;
    Disk disk_{folder_.path(), true, GetParam().is_paged};
    os::ScopedCalls calls_{Disk::calls_of_it()};
};

TEST_P(WhenWhole, there_is_nothing_or_all_of_it) {
    const Content all = whole();
    std::size_t states = 0;
    EXPECT_EQ(wrong_from(0, all, states), "");
    EXPECT_GE(states, 20U);
    std::printf("power cut in making a %s: %zu states\n", GetParam().name.c_str(), states);
}

INSTANTIATE_TEST_SUITE_P(every, WhenWhole, ::testing::ValuesIn(makings()),
                         [](const auto& making) { return making.param.name; });

}  // namespace
}  // namespace pmemcpy::crash
