// The k-th call to the kernel fails, for every k and in every way that it may, during every verb. The verb succeeds all the
// same or says what is wrong; then everything is as before, no space is lost, and the pool goes on working, unless
// a sync failed: that latches it.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/repair.hpp>

#include "failing_kernel.hpp"
#include "ramp.hpp"
#include "tests/crash/content.hpp"
#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::faults {
namespace {

using crash::Content;
using crash::difference;
using crash::observe;
using Medium = FailingKernel::Medium;

struct Verb {
    std::string name;
    std::function<void(PMEM&)> call;
    bool closes = false;  ///< the pool is not open afterwards
    bool opens = false;   ///< nor before
    bool hides = false;   ///< the process itself sees more than others do until it is done
};

struct Case {
    Medium medium;
    Layout layout;
    Verb verb;
    std::string name() const {
        return verb.name + (medium == Medium::page ? "_page" : "_memory") +
               (layout == Layout::directory ? "_directory" : "_file");
    }
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name(); }

std::vector<Verb> verbs() {
    return {
        {"store_new", [](PMEM& p) { p.store("n", 2); }},
        {"store_new_long", [](PMEM& p) { p.store("n", std::string(9'000, 'n')); }},
        {"store_growing", [](PMEM& p) { p.store("n", std::string(200'000, 'n')); }},
        {"store_in_group", [](PMEM& p) { p.store("h/n", 2); }},
        {"overwrite", [](PMEM& p) { p.store("v", 2); }},
        {"overwrite_long", [](PMEM& p) { p.store("w", std::string(7'000, 'x')); }},
        {"erase", [](PMEM& p) { p.erase("w"); }},
        {"rename", [](PMEM& p) { p.rename("w", "g/x"); }},
        {"set_attribute", [](PMEM& p) { p.set_attribute("v", "note", std::string(3'000, 'n')); }},
        {"remove_attribute", [](PMEM& p) { p.remove_attribute("v", "units"); }},
        {"alloc",
         [](PMEM& p) {
             p.alloc<double>("B", Dimensions{8, 8});
         }},
        {"alloc_contiguous",
         [](PMEM& p) {
             ArrayOptions options;
             options.contiguous = true;
             p.alloc<double>("B", Dimensions{64, 64}, options);
         }},
        {"store_box",
         [](PMEM& p) {
             store_box(p, "A", Box{{4, 4}, {4, 4}}, 300);
         }},
        {"cover_boxes",
         [](PMEM& p) {
             store_box(p, "A", Box{{0, 0}, {8, 8}}, 300);
         }},
        {"erase_array", [](PMEM& p) { p.erase("A"); }},
        {"step",
         [](PMEM& p) {
             p.begin(1);
             p.store("v", 2);
             p.commit(1);
         },
         false, false, true},
        {"view_and_load",
         [](PMEM& p) {
             const auto view = p.view<double>("A", Box{{0, 0}, {4, 8}});
             static_cast<void>(p.load<std::string>("w"));
         }},
        {"compact", [](PMEM& p) { p.compact(); }},
        {"trim", [](PMEM& p) { p.trim(); }},
        {"prepare", [](PMEM& p) { p.prepare(300'000); }},
        {"sync", [](PMEM& p) { p.sync(); }},
        {"verify", [](PMEM& p) { EXPECT_TRUE(p.verify().empty()); }},
        {"munmap", [](PMEM& p) { p.munmap(); }, true},
        {"mmap", [](PMEM&) {}, false, true},
    };
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const Verb& verb : verbs()) {
        for (const Medium medium : {Medium::memory, Medium::page}) {
            for (const Layout layout : {Layout::file, Layout::directory})
                all.push_back({medium, layout, verb});
        }
    }
    return all;
}

class Faults : public ::testing::TestWithParam<Case> {
public:
    static void TearDownTestSuite() {
        std::printf("faults: %zu calls failed in %zu verbs, on two media and in two layouts\n", total_,
                    verbs().size());
    }

protected:
    Faults() : kernel_(GetParam().medium) {}

    std::string path() const { return folder_ / (GetParam().layout == Layout::directory ? "pool/" : "pool"); }
    std::string records() const { return GetParam().layout == Layout::directory ? path() + ".pool" : path(); }
    Options options() const {
        Options options;
        options.layout = GetParam().layout;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        return options;
    }

    /// A pool with something in it, open in `pmem`.
    void make_pool(PMEM& pmem) {
        std::filesystem::remove_all(folder_ / "pool");
        std::filesystem::remove(folder_ / "pool.rt");
        pmem.mmap(path(), options());
        pmem.store("v", 1);
        pmem.set_attribute("v", "units", "K");
        pmem.store("w", std::string(5'000, 'w'));
        pmem.store("g/u", 3);
        pmem.alloc<double>("A", Dimensions{8, 8});
        store_box(pmem, "A", Box{{0, 0}, {4, 8}}, 0);
        store_box(pmem, "A", Box{{4, 0}, {4, 4}}, 100);
        pmem.sync();
        if (GetParam().verb.opens) pmem.munmap();
    }
    void run(PMEM& pmem) {
        GetParam().verb.opens ? pmem.mmap(path(), options()) : GetParam().verb.call(pmem);
    }

    /// What is wrong after the call of that number failed so; empty: nothing.
    std::string judge(std::uint64_t number, const Fault& fault, const Content& before, const Content& after) {
        PMEM pmem;
        make_pool(pmem);
        kernel_.arm(number, fault);
        std::string said;
        try {
            run(pmem);
        } catch (const Error& error) {
            said = error.what();
            if (said.empty()) return "an error without words";
        } catch (const std::exception& error) {
            return std::string("another exception than Error: ") + error.what();
        }
        kernel_.disarm();
        const bool is_sync = FailingKernel::seen()[number - 1].find("sync") != std::string::npos;
        const std::string then = said.empty() ? ", succeeded" : ", '" + said + "'";
        if (pmem.is_mapped()) {
            const std::string wrong =
                difference_but_groups(observe(pmem), said.empty() ? after : before, before);
            const bool is_in_step = GetParam().verb.hides && !said.empty();
            if (!wrong.empty() && !is_in_step) return wrong + then;
            try {
                pmem.store("later", std::string(2'000, 'l'));
                if (pmem.load<std::string>("later") != std::string(2'000, 'l'))
                    return "the next store is lost" + then;
                // What the device refused may be gone, and asked again it says yes.
                if (is_sync && !said.empty()) return "a failed sync is not latched" + then;
                if (!is_in_step) pmem.erase("later");
            } catch (const Error& error) {
                if (!is_sync || error.kind() != Code::io_error)
                    return std::string("the next store: ") + error.what() + then;
            }
            pmem.munmap();
        }
        try {
            pmem.mmap(path(), options());
        } catch (const Error& error) {
            if (!is_sync) return std::string("opened again: ") + error.what() + then;
            return check_repair(before, after);
        }
        const std::string wrong = difference_but_groups(observe(pmem), said.empty() ? after : before, before);
        if (!wrong.empty()) return "opened again, " + wrong + then;
        if (const auto damages = pmem.verify(); !damages.empty()) return "verify: " + damages[0].what + then;
        pmem.munmap();
        const catalog::Audit audit = Inside(records()).audit();
        if (!audit.complaints.empty()) return "audit: " + audit.complaints.front() + then;
        return {};
    }

    /// A group that the verb made before it failed is a unit of its own, and may be there.
    static std::string difference_but_groups(Content found, Content wanted, const Content& before) {
        const auto is_new_group = [&](const auto& entry) {
            return crash::is_group(entry.first) && !before.contains(entry.first);
        };
        std::erase_if(found, is_new_group);
        std::erase_if(wanted, is_new_group);
        return difference(found, wanted);
    }

    std::string check_repair(const Content& before, const Content& after) {
        const std::string fresh = path().substr(0, path().rfind("pool")) + "repaired" +
                                  (GetParam().layout == Layout::directory ? "/" : "");
        std::filesystem::remove_all(folder_ / "repaired");
        repair(path(), fresh);
        PMEM pmem;
        pmem.mmap(fresh);
        const Content found = observe(pmem);
        if (difference(found, before).empty() || difference(found, after).empty()) return {};
        return "repaired, " + difference(found, before);
    }

    static inline std::size_t total_ = 0;
    FailingKernel kernel_;
    Folder folder_{"/dev/shm"};  // which the failing kernel makes look like a disk where it is to
};

TEST_P(Faults, are_errors_that_leave_everything_as_it_was) {
    PMEM pmem;
    make_pool(pmem);
    Content before;
    if (pmem.is_mapped()) before = observe(pmem);
    kernel_.arm(0);
    run(pmem);
    kernel_.disarm();
    const std::vector<std::string> calls = FailingKernel::seen();
    if (!pmem.is_mapped()) pmem.mmap(path(), options());
    const Content after = observe(pmem);
    if (GetParam().verb.opens) before = after;
    pmem.munmap();
    std::size_t failures = 0;
    for (std::uint64_t number = 1; number <= calls.size(); ++number) {
        for (const Fault& fault : FailingKernel::faults_of(calls[number - 1])) {
            ++total_;
            std::string wrong;
            try {
                wrong = judge(number, fault, before, after);
            } catch (const std::exception& error) {
                wrong = std::string("afterwards: ") + error.what();
            }
            kernel_.disarm();
            if (wrong.empty()) continue;
            ADD_FAILURE() << "call " << number << " of " << calls.size() << ", " << calls[number - 1]
                          << ", fails with " << (fault.is_short ? "half of it" : std::strerror(fault.error))
                          << ": " << wrong;
            if (++failures == 5) return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(every, Faults, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace pmemcpy::faults
