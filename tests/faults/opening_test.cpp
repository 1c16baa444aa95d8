// Opening and closing, while the k-th call to the kernel fails, for every k and in every way that it may. The call of PMEM succeeds all the
// same or says what is wrong, without a signal; no descriptor is left; and everything that was there can be read by the next one who opens
// the pool. What was closed cleanly still is where opening it has failed: a mere reader comes in at once.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include <gtest/gtest.h>
#include <pmemcpy/pmemcpy.hpp>

#include "failing_kernel.hpp"
#include "ramp.hpp"
#include "tests/crash/content.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::faults {
namespace {

using crash::Content;
using crash::difference;
using crash::observe;
using Medium = FailingKernel::Medium;
namespace fs = std::filesystem;

enum class What { create, create_exclusive, open, open_to_read, replace, close, close_unwritten };

struct Case {
    What what;
    Medium medium;
    Layout layout;
    bool is_beside;  ///< another writer
    std::string name() const {
        static const std::map<What, std::string> names = {{What::create, "create"},
                                                          {What::create_exclusive, "create_exclusive"},
                                                          {What::open, "open"},
                                                          {What::open_to_read, "open_to_read"},
                                                          {What::replace, "replace"},
                                                          {What::close, "close"},
                                                          {What::close_unwritten, "close_unwritten"}};
        return names.at(what) + (medium == Medium::page ? "_page" : "_memory") +
               (layout == Layout::directory ? "_directory" : "_file") + (is_beside ? "_beside_a_writer" : "");
    }
    bool makes() const { return what == What::create || what == What::create_exclusive; }
    bool closes() const { return what == What::close || what == What::close_unwritten; }
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name(); }

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const What what : {What::create, What::create_exclusive, What::open, What::open_to_read,
                            What::replace, What::close, What::close_unwritten}) {
        for (const Medium medium : {Medium::memory, Medium::page}) {
            for (const Layout layout : {Layout::file, Layout::directory}) {
                for (const bool is_beside : {false, true}) {
                    const Case one{what, medium, layout, is_beside};
                    if (is_beside && (one.makes() || what == What::replace)) continue;
                    all.push_back(one);
                }
            }
        }
    }
    return all;
}

/// More ways than a verb has: here directories are changed, and files are made.
const std::vector<Fault>& ways_of(const std::string& call) {
    static const std::vector<Fault> looks = {{EIO}, {ENOMEM}};
    static const std::vector<Fault> rights = {{EPERM}, {EROFS}, {EIO}};
    static const std::vector<Fault> names = {{ENOSPC}, {EDQUOT}, {EIO}, {EROFS}, {EACCES}, {EPERM}};
    static const std::vector<Fault> syncs = {{EIO}, {ENOSPC}, {EDQUOT}};
    static const std::map<std::string, std::vector<Fault>> all = {
        {"open", {{EMFILE}, {EACCES}, {EPERM}, {EIO}, {EROFS}, {ENOSPC}, {EDQUOT}, {ENOMEM}, {EINTR}}},
        {"openat", {{EMFILE}, {EACCES}, {EPERM}, {EIO}, {EROFS}, {ENOSPC}, {EDQUOT}, {ENOMEM}, {EINTR}}},
        {"fstat", looks},
        {"fstatat", looks},
        {"fstatfs", looks},
        {"fstatvfs", looks},
        {"stat", {{EIO}, {ENOMEM}, {EACCES}}},
        {"ftruncate", {{EINTR}, {EIO}, {EFBIG}, {EROFS}, {EPERM}}},
        {"fallocate", {{EINTR}, {ENOSPC}, {EDQUOT}, {EIO}, {EROFS}, {ENOMEM}}},
        {"pread", {{EINTR}, {EIO}, {0, true}}},
        {"pwrite", {{EINTR}, {EIO}, {ENOSPC}, {EDQUOT}, {0, true}}},
        {"fsync", syncs},
        {"fdatasync", syncs},
        {"syncfs", syncs},
        {"fchmod", rights},
        {"fchown", rights},
        {"acl_get_fd", {{EIO}, {ENOMEM}, {EOPNOTSUPP}}},
        {"fcntl_lock", {{EINTR}, {ENOLCK}, {ENOMEM}}},
        {"linkat", names},
        {"unlinkat", {{EIO}, {EROFS}, {EACCES}, {EPERM}}},
        {"renameat", names},
        {"mkdirat", names},
        {"realpath", {{EACCES}, {ENOMEM}, {EIO}}},
        {"mmap", {{ENOMEM}, {EAGAIN}, {EACCES}, {EPERM}}},
    };
    const auto found = all.find(call);
    return found == all.end() ? FailingKernel::faults_of(call) : found->second;
}

std::size_t count_descriptors() {
    const fs::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
}

class Opening : public ::testing::TestWithParam<Case> {
public:
    static void TearDownTestSuite() {
        std::printf("opening and closing: %zu calls failed in %zu cases: %zu errors, %zu successes\n", total_,
                    cases().size(), errors_, total_ - errors_);
    }

protected:
    Opening() : kernel_(GetParam().medium) {}

    bool is_directory() const { return GetParam().layout == Layout::directory; }
    std::string path() const { return folder_ / (is_directory() ? "pool/" : "pool"); }
    Options options(Mode mode) const {
        Options options;
        options.layout = GetParam().layout;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        options.mode = mode;
        return options;
    }

    /// A pool with something in it, which nobody has open.
    void make_pool() const {
        PMEM pmem;
        pmem.mmap(path(), options(Mode::exclusive));
        pmem.store("v", 1);
        pmem.set_attribute("v", "units", "K");
        pmem.store("w", std::string(5'000, 'w'));
        pmem.alloc<double>("A", Dimensions{8, 8});
        store_box(pmem, "A", Box{{0, 0}, {4, 8}}, 0);
        pmem.munmap();
    }
    void prepare(PMEM& pmem, PMEM& beside) const {
        fs::remove_all(folder_ / "pool");
        fs::remove(folder_ / "pool.rt");
        if (GetParam().makes()) return;
        make_pool();
        if (GetParam().is_beside) beside.mmap(path(), options(Mode::update));
        if (!GetParam().closes()) return;
        pmem.mmap(path(), options(Mode::update));
        if (GetParam().what == What::close) pmem.store("v", 1);
    }
    void act(PMEM& pmem) const {
        switch (GetParam().what) {
            case What::create:
                return pmem.mmap(path(), options(Mode::create_or_update));
            case What::create_exclusive:
                return pmem.mmap(path(), options(Mode::exclusive));
            case What::open:
                return pmem.mmap(path(), options(Mode::update));
            case What::open_to_read:
                return pmem.mmap(path(), options(Mode::read));
            case What::replace:
                return pmem.mmap(path(), options(Mode::replace));
            case What::close:
            case What::close_unwritten:
                return pmem.munmap();
        }
    }

    /// What a device refused to make durable may be gone: only `repair` believes such a pool.
    static bool is_sync(const std::string& call) { return call.find("sync") != std::string::npos; }
    static std::string complaint_of(const std::string& who, const std::string& wrong) {
        return wrong.empty() ? wrong : who + ": " + wrong;
    }
    /// What somebody who opens the pool finds wrong.
    std::string look(Mode mode, const Content& wanted) const {
        PMEM pmem;
        pmem.mmap(path(), options(mode));
        std::string wrong = difference(observe(pmem), wanted);
        if (wrong.empty() && !pmem.verify().empty()) wrong = pmem.verify()[0].what;
        pmem.munmap();
        return complaint_of(mode == Mode::read ? "a reader" : "a writer", wrong);
    }

    /// What is wrong after the call of that number failed so; empty: nothing.
    std::string judge(std::uint64_t number, const Fault& fault, const Content& full) {
        std::string wrong;
        std::string said;
        std::string call;
        const std::size_t before = count_descriptors();
        {
            PMEM beside;
            PMEM pmem;
            prepare(pmem, beside);
            kernel_.arm(number, fault);
            try {
                act(pmem);
            } catch (const Error& error) {
                said = error.what();
                if (said.empty()) wrong = "an error without words";
            }
            kernel_.disarm();
            call = FailingKernel::seen().at(number - 1);
            const bool is_new = GetParam().makes() || GetParam().what == What::replace;
            if (pmem.is_mapped())
                wrong = complaint_of("the opened", difference(observe(pmem), is_new ? Content{} : full));
            if (pmem.is_mapped()) pmem.munmap();
            if (beside.is_mapped() && wrong.empty()) {
                wrong = complaint_of("the other writer", difference(observe(beside), full));
                try {
                    if (wrong.empty()) wrong = look(Mode::read, full);
                    beside.munmap();
                } catch (const Error& error) {
                    if (error.kind() != Code::io_error || said.empty() || !is_sync(call)) throw;
                }
            }
        }
        if (!said.empty()) ++errors_;
        const std::string then = said.empty() ? ", succeeded" : ", '" + said + "'";
        if (count_descriptors() != before) wrong = "a descriptor is left";
        if (wrong.empty()) wrong = look_again(!said.empty(), call, full);
        return wrong.empty() ? wrong : wrong + then;
    }

    std::string look_again(bool has_failed, const std::string& call, const Content& full) const {
        const Case& one = GetParam();
        const bool is_there = fs::exists(is_directory() ? path() + ".pool" : path());
        if (one.makes() || one.what == What::replace) return look_at_new(has_failed, call, is_there, full);
        std::string wrong;
        try {
            // Who fails while he closes a pool has died in it, as far as others can tell.
            if (!one.closes() || !has_failed) wrong = look(Mode::read, full);
            if (wrong.empty()) wrong = look(Mode::update, full);
            if (wrong.empty()) wrong = look(Mode::read, full);
        } catch (const Error& error) {
            const bool is_latched = error.kind() == Code::io_error && has_failed && is_sync(call);
            if (!is_latched) wrong = std::string("opened again: ") + error.what();
        }
        return wrong;
    }

    // A new pool is there whole or not at all. Of one that was to be replaced nobody wants anything any more.
    std::string look_at_new(bool has_failed, const std::string& call, bool is_there,
                            const Content& full) const {
        const bool replaces = GetParam().what == What::replace;
        if (!has_failed && !is_there) return "no pool is there";
        try {
            std::string wrong;
            if (is_there && !replaces) wrong = look(Mode::update, {});
            // The payloads of a directory go first, so that there is room for those of the new pool.
            if (is_there && replaces && !is_directory()) {
                wrong = look(Mode::update, {});
                if (!wrong.empty() && has_failed && look(Mode::update, full).empty()) wrong.clear();
            }
            if (!wrong.empty()) return wrong;
        } catch (const Error& error) {
            if (error.kind() != Code::io_error || !has_failed || !is_sync(call)) throw;
        }
        PMEM pmem;
        pmem.mmap(path(), options(Mode::replace));
        pmem.store("later", 1);
        pmem.munmap();
        pmem.mmap(path(), options(Mode::read));
        return pmem.load<int>("later") == 1 ? "" : "the next pool is another";
    }

    static inline std::size_t total_ = 0;
    static inline std::size_t errors_ = 0;
    FailingKernel kernel_;
    Folder folder_{"/dev/shm"};  // which the failing kernel makes look like a disk where it is to
};

TEST_P(Opening, and_closing_under_faults_is_an_error_or_succeeds_and_loses_nothing) {
    Content full;
    std::vector<std::string> calls;
    for (const bool is_counted : {false, true}) {  // what is done once in a process is done the first time
        PMEM beside;
        PMEM pmem;
        prepare(pmem, beside);
        if (is_counted) kernel_.arm(0);
        act(pmem);
        kernel_.disarm();
        if (is_counted) calls = FailingKernel::seen();
        if (GetParam().closes()) pmem.mmap(path(), options(Mode::update));
        if (!GetParam().makes() && GetParam().what != What::replace) full = observe(pmem);
    }
    if (GetParam().what == What::replace) {
        fs::remove_all(folder_ / "pool");
        fs::remove(folder_ / "pool.rt");
        make_pool();
        PMEM pmem;
        pmem.mmap(path(), options(Mode::read));
        full = observe(pmem);
    }
    std::size_t failures = 0;
    std::size_t tried = 0;
    for (std::uint64_t number = 1; number <= calls.size(); ++number) {
        for (const Fault& fault : ways_of(calls[number - 1])) {
            ++tried;
            std::string wrong;
            try {
                wrong = judge(number, fault, full);
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
    total_ += tried;
    const std::size_t least = GetParam().closes() ? 6 : GetParam().what == What::open_to_read ? 50 : 150;
    EXPECT_GE(tried, least) << "what was to fail was not asked for";
}

INSTANTIATE_TEST_SUITE_P(every, Opening, ::testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name(); });

}  // namespace
}  // namespace pmemcpy::faults
