// A file that somebody cuts off while it is open.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <pmemcpy/error.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/operations.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/scope.hpp>
#include <pmemcpy/tiers.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

// A slab whose head is still in the file, and of whose units some are not, was counted unit by unit.
TEST(ShortenedFile, is_an_error_of_what_is_told_of_the_whole_pool) {
    const Folder folder;
    Options options;
    options.max_bytes = 32 << 20;
    for (std::uint64_t keep = 0; keep < 8 << 20; keep += 128 << 10) {
        const std::string path = folder / ("pool" + std::to_string(keep));
        {
            PMEM pmem;
            pmem.mmap(path, options);
            for (int i = 0; i < 300; ++i) pmem.store("v" + std::to_string(i), i);
            for (int i = 0; i < 300; ++i) pmem.store("g/" + std::to_string(i), std::string(7000, 'y'));
        }
        Options reading;
        reading.mode = Mode::read;
        PMEM reader;
        reader.mmap(path, reading);
        fs::resize_file(path, std::min<std::uint64_t>(keep, fs::file_size(path)));
        for (const std::function<void()>& call : std::vector<std::function<void()>>{
                 [&] { static_cast<void>(reader.info()); }, [&] { static_cast<void>(index_info(reader)); }}) {
            try {
                call();
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), Code::io_error) << keep << ": " << error.what();
            }
        }
        reader.munmap();
        fs::remove(path);
    }
}

// The state of the pool, which is written last, lay behind the end of the file.
TEST(ShortenedFile, is_left_as_it_is_by_who_closes_the_pool) {
    const Folder folder;
    Options options;
    options.max_bytes = 32 << 20;
    options.chunk_bytes = 64 << 10;
    for (const std::uint64_t keep :
         std::initializer_list<std::uint64_t>{0, 4096, 16 << 10, 64 << 10, 256 << 10}) {
        const std::string path = folder / ("pool" + std::to_string(keep));
        PMEM pmem;
        pmem.mmap(path, options);
        for (int i = 0; i < 300; ++i) pmem.store("g/" + std::to_string(i), std::string(7000, 'y'));
        ASSERT_GT(fs::file_size(path), keep);
        fs::resize_file(path, keep);
        try {
            pmem.munmap();
            ADD_FAILURE() << "closed with " << keep << " bytes left";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::io_error);
            EXPECT_NE(std::string(error.what()).find("has become shorter"), std::string::npos)
                << error.what();
        }
        EXPECT_FALSE(pmem.is_mapped());
        EXPECT_EQ(fs::file_size(path), keep);
    }
}

using Verb = std::pair<std::string, std::function<void(PMEM&)>>;

Hierarchy with_a_target(const std::string& directory) {
    Hierarchy h;
    h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
                 {.name = "low",
                  .kind = TargetKind::file,
                  .path = directory,
                  .write = {1e8, 1e-3},
                  .read = {1e8, 1e-3}}};
    h.flush.period_s = 0.01;
    return h;
}

constexpr std::uint64_t count = 20'000;
const Box whole{{0}, {count}};

/// A pool with a private side, in a process of its own.
PMEM open_pool(const Folder& folder, IndexMode mode) {
    Options options;
    options.max_bytes = 16 << 20;
    options.index = mode;
    PMEM pmem;
    pmem.mmap(folder / "pool", options);
    pmem.alloc<double>("a", {count});
    pmem.store<double>("a", std::vector<double>(count, 1).data(), whole);
    pmem.store("g/x", 1);
    pmem.set_attribute("a", "about", std::string("text"));
    pmem.store("s", std::vector<double>(count, 2));
    pmem.store("s1", 3);
    set_scope(pmem, "s", Scope::own);
    set_scope(pmem, "s1", Scope::own);
    return pmem;
}

/// What ends f, and the close after it, before they are done: a signal, or an exit status; 0: nothing.
int signal_of(const std::function<void(PMEM&, const Folder&)>& f, IndexMode mode) {
    const Folder folder;
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        PMEM pmem = open_pool(folder, mode);
        for (const auto& call :
             std::vector<std::function<void()>>{[&] { f(pmem, folder); }, [&] { pmem.munmap(); }}) {
            try {
                call();
            } catch (const Error&) {  // what it says is the matter of other tests
            }
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    // A sanitizer's own handler makes an exit status of a signal.
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

// A thread in the background that is in the middle of its work when the file is cut off may meet the signal that law 12 leaves; three
// times of three that is not what it was.
bool always_ends_by_signal(const std::function<void(PMEM&, const Folder&)>& f) {
    for (int tries = 0; tries < 3; ++tries) {
        if (signal_of(f, IndexMode::async) == 0) return false;
    }
    return true;
}

std::vector<std::string> files() {
    const std::string own = ".private-" + std::to_string(::geteuid());
    return {"", ".rt", ".feed", own, own + ".rt"};
}

// Only the pool's own file was looked at before a verb. `cp` of a backup over the files of an open pool cuts all of them off.
TEST(ShortenedFile, of_a_pool_and_of_what_lies_beside_it_ends_no_verb_by_a_signal) {
    const std::vector<Verb> verbs = {
        {"load", [](PMEM& p) { p.load<double>("a", std::vector<double>(count).data(), whole); }},
        {"load private", [](PMEM& p) { static_cast<void>(p.load<std::vector<double>>("s")); }},
        {"store", [](PMEM& p) { p.store("n", std::vector<double>(count)); }},
        {"overwrite", [](PMEM& p) { p.store<double>("a", std::vector<double>(count).data(), whole); }},
        {"overwrite private", [](PMEM& p) { p.store("s", std::vector<double>(count)); }},
        {"set_attribute", [](PMEM& p) { p.set_attribute("a", "k", 1); }},
        {"set_attribute private", [](PMEM& p) { p.set_attribute("s", "k", 1); }},
        {"erase", [](PMEM& p) { p.erase("g/x"); }},
        {"erase private", [](PMEM& p) { p.erase("s"); }},
        {"rename", [](PMEM& p) { p.rename("g/x", "g/y"); }},
        {"ids", [](PMEM& p) { static_cast<void>(p.ids()); }},
        {"exists", [](PMEM& p) { static_cast<void>(p.exists("a")); }},
        {"info", [](PMEM& p) { static_cast<void>(p.info()); }},
        {"find", [](PMEM& p) { static_cast<void>(ids(p, "value > 1")); }},
        {"verify", [](PMEM& p) { static_cast<void>(p.verify()); }},
        {"begin", [](PMEM& p) { p.begin(1); }},
        {"sync", [](PMEM& p) { p.sync(); }},
        {"trim", [](PMEM& p) { p.trim(); }},
        {"compact", [](PMEM& p) { p.compact(); }},
        {"set_scope private", [](PMEM& p) { set_scope(p, "a", Scope::own); }},
        {"set_scope shared", [](PMEM& p) { set_scope(p, "s", Scope::shared); }},
        {"munmap", [](PMEM& p) { p.munmap(); }}};
    for (const std::string& file : files()) {
        // Only somebody who follows makes a feed.
        const IndexMode mode = file == ".feed" ? IndexMode::async : IndexMode::none;
        for (const std::uint64_t keep : {std::uint64_t{0}, std::uint64_t{4096}}) {
            for (const auto& [name, verb] : verbs) {
                const auto cut_off = [&, &its = verb](PMEM& pmem, const Folder& folder) {
                    if (mode != IndexMode::none) {
                        flush_index(pmem);
                        ::usleep(100'000);  // the thread that keeps it is idle then
                    }
                    fs::resize_file(folder / ("pool" + file), keep);
                    its(pmem);
                };
                EXPECT_EQ(signal_of(cut_off, mode), 0)
                    << name << ", pool" << file << " of " << keep << " bytes";
            }
        }
    }
}

// Threads of the library in the background go by no verb.
TEST(ShortenedFile, of_a_pool_and_of_what_lies_beside_it_ends_no_thread_in_the_background) {
    for (const std::string& file : files()) {
        const auto cut_off = [&](PMEM& pmem, const Folder& folder) {
            fs::create_directory(folder / "below");
            set_hierarchy(pmem, with_a_target(folder / "below"));
            hint(pmem, "a", {operation::maximum});
            wait_for_operations(pmem);
            flush(pmem);
            ::usleep(50'000);
            fs::resize_file(folder / ("pool" + file), 0);
            ::usleep(300'000);
        };
        EXPECT_FALSE(always_ends_by_signal(cut_off)) << "pool" << file;
    }
}

}  // namespace
}  // namespace pmemcpy
