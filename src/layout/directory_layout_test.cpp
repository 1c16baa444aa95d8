// A pool in a directory, as its users and other programs see it.

#include "layout/temporary_directory.hpp"
#include "layout/payload_name.hpp"
#include "os/calls.hpp"
#include "pool/geometry.hpp"
#include "pool/pool.hpp"

#include <gtest/gtest.h>
#include <pmemcpy/pmemcpy.hpp>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>

namespace pmemcpy::layout {
namespace {

namespace fs = std::filesystem;

int calls_left = 0;

void count_down() {
    if (--calls_left == 0) ::kill(::getpid(), SIGKILL);
}

/// The kernel, which kills this process at its n-th change of a directory or file.
os::Calls deadly_calls(int n) {
    calls_left = n;
    os::Calls fake = os::system_calls();
    fake.openat = [](int at, const char* path, int flags, mode_t mode) {
        if ((flags & O_CREAT) != 0) count_down();
        return os::system_calls().openat(at, path, flags, mode);
    };
    fake.fallocate = [](int fd, int mode, off_t offset, off_t length) {
        count_down();
        return os::system_calls().fallocate(fd, mode, offset, length);
    };
    fake.ftruncate = [](int fd, off_t size) { return count_down(), os::system_calls().ftruncate(fd, size); };
    fake.linkat = [](int a, const char* from, int b, const char* to, int flags) {
        return count_down(), os::system_calls().linkat(a, from, b, to, flags);
    };
    fake.renameat = [](int a, const char* from, int b, const char* to) {
        return count_down(), os::system_calls().renameat(a, from, b, to);
    };
    fake.unlinkat = [](int a, const char* path, int flags) { return count_down(), os::system_calls().unlinkat(a, path, flags); };
    fake.mmap = [](void* at, size_t size, int protection, int flags, int fd, off_t offset) {
        return count_down(), os::system_calls().mmap(at, size, protection, flags, fd, offset);
    };
    return fake;
}

class directory_layout : public testing::Test {
  protected:
    std::string path() const { return (here_.path / "pool").string() + "/"; }
    static Options options(Mode mode = Mode::create_or_update) {
        Options chosen;
        chosen.mode = mode;
        chosen.max_bytes = 64 << 20;
        chosen.chunk_bytes = 64 << 10;
        return chosen;
    }
    void open(Mode mode = Mode::create_or_update) { pmem_.mmap(path(), options(mode)); }
    void reopen(Mode mode = Mode::create_or_update) {
        pmem_.munmap();
        open(mode);
    }
    fs::path in(const std::string& name) const { return here_.path / "pool" / name; }
    std::vector<double> doubles_of(const std::string& name) const {
        std::ifstream file(in(name), std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        const std::string bytes = text.str();
        std::vector<double> values(bytes.size() / sizeof(double));
        if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
        return values;
    }
    std::vector<fs::path> payloads() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(in(".data"))) found.push_back(entry.path());
        return found;
    }
    /// Every file below the directory but the pool's own.
    std::set<std::string> names() const {
        std::set<std::string> found;
        for (auto i = fs::recursive_directory_iterator(in("")); i != fs::recursive_directory_iterator(); ++i) {
            const std::string name = i->path().filename();
            if (name.front() == '.') i.disable_recursion_pending();
            if (name.front() != '.' && !i->is_directory()) found.insert(fs::relative(i->path(), in("")));
        }
        return found;
    }
    static std::vector<double> ramp(std::size_t count, double first = 0) {
        std::vector<double> values(count);
        std::iota(values.begin(), values.end(), first);
        return values;
    }
    void store(const std::string& id, const std::vector<double>& values, Codec codec = {}) {
        ArrayOptions array;
        array.codec = codec;
        pmem_.alloc<double>(id, Dimensions{values.size()}, array);
        pmem_.store<double>(id, values.data(), Box{{0}, {values.size()}});
    }
    std::vector<double> load(const std::string& id, std::size_t count) {
        std::vector<double> values(count);
        pmem_.load<double>(id, values.data(), Box{{0}, {count}});
        return values;
    }
    void expect_error(Code code, const std::string& word, const std::function<void()>& f) {
        try {
            f();
            ADD_FAILURE() << "no error, expected " << name_of(code);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), code) << error.what();
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    }
    /// True if the child was killed before it was done.
    static bool dies(const std::function<void()>& work) {
        const pid_t child = ::fork();
        if (child == 0) {
            try {
                work();
                ::_exit(0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "in the child: %s\n", error.what());
                ::_exit(1);
            }
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        return WIFSIGNALED(status);
    }

    TemporaryDirectory here_{fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()};
    PMEM pmem_;
};

TEST_F(directory_layout, a_trailing_slash_makes_a_directory) {
    open();
    EXPECT_EQ(pmem_.info().layout, "directory");
    EXPECT_TRUE(fs::exists(in(".pool")));
    EXPECT_TRUE(fs::exists(in(".pool.rt")));
    EXPECT_TRUE(fs::is_directory(in(".data")));
    pmem_.store("answer", 42);
    EXPECT_TRUE(payloads().empty()) << "small values lie in their records";
    pmem_.munmap();
    PMEM again;
    again.mmap((here_.path / "pool").string());
    EXPECT_EQ(again.load<int>("answer"), 42) << "a directory is known without the slash";
    EXPECT_EQ(again.info().layout, "directory");
}

TEST_F(directory_layout, the_file_of_an_array_is_the_bytes_of_the_array) {
    open();
    const auto values = ramp(1000);
    store("group/A", values);
    EXPECT_EQ(doubles_of("group/A"), values);
    const auto others = ramp(1000, 7);
    pmem_.store<double>("group/A", others.data(), Box{{0}, {1000}});
    EXPECT_EQ(doubles_of("group/A"), others);
    EXPECT_EQ(payloads().size(), 1u);
    EXPECT_EQ(load("group/A", 1000), others);
    reopen();
    EXPECT_EQ(doubles_of("group/A"), others);
    EXPECT_EQ(load("group/A", 1000), others);
}

TEST_F(directory_layout, a_program_that_has_mapped_a_file_keeps_what_it_saw) {
    open();
    store("A", ramp(1000));
    std::ifstream file(in("A"), std::ios::binary);
    store("A", ramp(1000, 7));
    double value = 0;
    file.seekg(8 * 999);
    file.read(reinterpret_cast<char*>(&value), sizeof value);
    EXPECT_EQ(value, 999);
}

TEST_F(directory_layout, names_follow_the_variable) {
    open();
    store("A", ramp(100));
    pmem_.store("text", std::string(1000, 't'));
    EXPECT_EQ(names(), (std::set<std::string>{"A", "text"}));
    pmem_.rename("A", "old/A");
    EXPECT_EQ(names(), (std::set<std::string>{"old/A", "text"}));
    EXPECT_EQ(doubles_of("old/A"), ramp(100));
    pmem_.store("text", std::string("short"));
    EXPECT_EQ(names(), std::set<std::string>{"old/A"}) << "now inline";
    pmem_.erase("old/A");
    EXPECT_TRUE(names().empty());
    EXPECT_TRUE(fs::is_directory(in("old")));
    pmem_.erase("old");
    EXPECT_FALSE(fs::exists(in("old")));
    EXPECT_TRUE(payloads().empty());
}

TEST_F(directory_layout, an_array_has_a_name_only_while_one_raw_block_is_all_of_it) {
    open();
    const auto values = ramp(100);
    pmem_.alloc<double>("A", Dimensions{100});
    pmem_.store<double>("A", values.data(), Box{{0}, {50}});
    EXPECT_TRUE(names().empty()) << "half of it";
    pmem_.store<double>("A", values.data() + 50, Box{{50}, {50}});
    EXPECT_TRUE(names().empty()) << "two blocks";
    pmem_.store<double>("A", values.data(), Box{{0}, {100}});
    EXPECT_EQ(doubles_of("A"), values) << "which the third one covers";
    pmem_.store<double>("A", values.data(), Box{{0}, {10}});
    EXPECT_TRUE(names().empty());
    EXPECT_EQ(load("A", 100), values);
}

TEST_F(directory_layout, a_compressed_array_has_no_name_and_a_file_of_its_size) {
    if (!is_available(Codec::Kind::lz4)) GTEST_SKIP() << "no Blosc in this build";
    open();
    store("A", std::vector<double>(10'000, 1.0), Codec{Codec::Kind::lz4});
    EXPECT_TRUE(names().empty());
    ASSERT_EQ(payloads().size(), 1u);
    EXPECT_LT(fs::file_size(payloads()[0]), 20'000u);
    EXPECT_EQ(load("A", 10'000), std::vector<double>(10'000, 1.0));
    reopen();
    EXPECT_EQ(load("A", 10'000), std::vector<double>(10'000, 1.0));
}

TEST_F(directory_layout, a_contiguous_array_is_filled_in_its_file) {
    open();
    ArrayOptions in_place;
    in_place.contiguous = true;
    pmem_.alloc<double>("A", Dimensions{100}, in_place);
    const auto values = ramp(50);
    pmem_.store<double>("A", values.data(), Box{{50}, {50}});
    EXPECT_EQ(doubles_of("A")[99], 49);
    EXPECT_EQ(doubles_of("A")[0], 0);
}

TEST_F(directory_layout, a_name_shows_what_is_committed) {
    open();
    store("A", ramp(100));
    pmem_.begin(1);
    const auto values = ramp(100, 5);
    pmem_.store<double>("A", values.data(), Box{{0}, {100}});
    pmem_.store("text", std::string(1000, 't'));
    EXPECT_EQ(names(), std::set<std::string>{"A"});
    EXPECT_EQ(doubles_of("A"), ramp(100));
    pmem_.commit(1);
    EXPECT_TRUE(names().contains("text"));
    store("A", ramp(100, 6));
    EXPECT_EQ(doubles_of("A"), ramp(100, 6));
}

TEST_F(directory_layout, a_view_outlives_overwrite_erase_and_munmap) {
    open();
    store("A", ramp(1000));
    const auto view = pmem_.view<double>("A", Box{{0}, {1000}});
    store("A", ramp(1000, 5));
    pmem_.erase("A");
    pmem_.munmap();
    EXPECT_EQ(view[999], 999);
}

TEST_F(directory_layout, a_symbolic_link_planted_in_it_leads_nowhere) {
    open();
    const TemporaryDirectory outside;
    fs::create_directory_symlink(outside.path, in("a"));
    store("a/b", ramp(100));
    EXPECT_TRUE(fs::is_empty(outside.path));
    EXPECT_EQ(load("a/b", 100), ramp(100));
    pmem_.erase("a/b");
    pmem_.erase("a");
    EXPECT_TRUE(fs::is_symlink(in("a")));
}

TEST_F(directory_layout, a_missing_payload_is_corrupt_and_verify_tells) {
    open();
    store("A", ramp(1000));
    pmem_.store("text", std::string(1000, 't'));
    store("fine", ramp(10));
    pmem_.munmap();
    for (const char* name : {"A", "text"}) {
        for (const fs::path& payload : payloads()) {
            if (fs::equivalent(payload, in(name))) fs::remove(payload);
        }
    }
    open();
    expect_error(Code::corrupt, "'A'", [&] { load("A", 1000); });
    expect_error(Code::corrupt, "'A'", [&] { static_cast<void>(pmem_.view<double>("A", Box{{0}, {1000}})); });
    expect_error(Code::corrupt, "'text'", [&] { pmem_.load<std::string>("text"); });
    EXPECT_EQ(load("fine", 10), ramp(10));
    std::set<std::string> damaged;
    for (const Damage& damage : pmem_.verify()) damaged.insert(damage.id);
    EXPECT_EQ(damaged, (std::set<std::string>{"A", "text"}));
    pmem_.erase("A");
    store("A", ramp(1000));
    EXPECT_EQ(load("A", 1000), ramp(1000));
}

TEST_F(directory_layout, a_truncated_payload_is_corrupt_and_no_signal) {
    open();
    store("A", ramp(10'000));
    pmem_.munmap();
    fs::resize_file(payloads()[0], 100);
    open();
    expect_error(Code::corrupt, "'A'", [&] { load("A", 10'000); });
    EXPECT_EQ(pmem_.verify().size(), 1u);
}

TEST_F(directory_layout, a_kill_at_any_call_leaves_no_orphan_after_recovery) {
    open();
    store("A", ramp(1000));
    pmem_.munmap();
    int kills = 0;
    for (int n = 1;; ++n) {
        SCOPED_TRACE(n);
        const bool died = dies([&] {
            PMEM own;
            own.mmap(path(), options());
            const os::ScopedCalls deadly(deadly_calls(n));
            const auto values = ramp(1000, 5);
            own.store<double>("A", values.data(), Box{{0}, {1000}});
            own.store("group/new", std::string(100'000, 'n'));
            own.rename("group/new", "renamed");
            own.erase("renamed");
        });
        open();
        const auto first = load("A", 1)[0];
        EXPECT_TRUE(first == 0 || first == 5);
        EXPECT_EQ(doubles_of("A"), ramp(1000, first));
        std::set<std::string> with_payload;
        for (const std::string& id : pmem_.ids()) with_payload.insert(id);
        EXPECT_EQ(names(), with_payload);
        EXPECT_EQ(payloads().size(), with_payload.size());
        EXPECT_TRUE(pmem_.verify().empty());
        std::uint64_t bytes = 0;
        for (const fs::path& payload : payloads()) bytes += fs::file_size(payload);
        EXPECT_EQ(pmem_.info().data_bytes, bytes);
        for (const std::string& id : pmem_.ids()) pmem_.erase(id);
        for (const std::string& id : pmem_.groups()) pmem_.erase(id);
        EXPECT_TRUE(payloads().empty());
        store("A", ramp(1000));
        pmem_.munmap();
        if (!died) break;
        ++kills;
    }
    EXPECT_GT(kills, 10);
}

TEST_F(directory_layout, who_is_left_removes_what_the_dead_have_left) {
    open();
    store("A", ramp(1000));
    for (int n = 1;; ++n) {
        SCOPED_TRACE(n);
        const bool died = dies([&] {
            PMEM own;
            own.mmap(path(), options());
            const os::ScopedCalls deadly(deadly_calls(n));
            const auto values = ramp(1000, 5);
            own.store<double>("A", values.data(), Box{{0}, {1000}});
            own.store("group/new", std::string(100'000, 'n'));
        });
        pmem_.compact();
        std::set<std::string> with_payload;
        for (const std::string& id : pmem_.ids()) with_payload.insert(id);
        EXPECT_EQ(payloads().size(), with_payload.size());
        if (pmem_.exists("group/new")) pmem_.erase("group/new");
        store("A", ramp(1000));
        if (!died) break;
    }
    EXPECT_EQ(payloads().size(), 1u);
    EXPECT_EQ(names(), std::set<std::string>{"A"});
}

TEST_F(directory_layout, what_another_process_has_stored_is_read_and_what_it_frees_is_gone) {
    open();
    store("A", ramp(1000));
    EXPECT_FALSE(dies([&] {
        PMEM own;
        own.mmap(path(), options());
        const auto values = ramp(1000, 5);
        own.store<double>("A", values.data(), Box{{0}, {1000}});
        own.sync();
    }));
    EXPECT_EQ(load("A", 1000), ramp(1000, 5));
    EXPECT_EQ(payloads().size(), 1u);
}

TEST_F(directory_layout, a_reader_needs_no_permission_to_write) {
    open();
    store("group/A", ramp(1000));
    pmem_.store("answer", 42);
    pmem_.munmap();
    if (::geteuid() == 0) fs::permissions(here_.path, fs::perms::all);
    EXPECT_FALSE(dies([&] {
        if (::geteuid() == 0 && ::seteuid(65534) != 0) throw std::runtime_error("cannot become nobody");
        Options read = options(Mode::read);
        PMEM reader;
        reader.mmap(path(), read);
        std::vector<double> values(1000);
        reader.load<double>("group/A", values.data(), Box{{0}, {1000}});
        if (values != ramp(1000) || reader.load<int>("answer") != 42) throw std::runtime_error("wrong data");
        if (reader.view<double>("group/A", Box{{0}, {1000}})[5] != 5) throw std::runtime_error("wrong view");
        if (!reader.verify().empty()) throw std::runtime_error("damage");
        try {
            reader.store("x", 1);
            throw std::runtime_error("could write");
        } catch (const Error& error) {
            if (error.kind() != Code::permission_denied) throw;
        }
    }));
}

TEST_F(directory_layout, the_other_layout_is_refused_with_advice) {
    open();
    store("A", ramp(10));
    pmem_.munmap();
    PMEM other;
    const std::string records = in(".pool");
    expect_error(Code::unsupported, "directory", [&] { other.mmap(records); });
    expect_error(Code::unsupported, "directory", [&] { other.mmap(records, options(Mode::replace)); });
    Options as_file = options();
    as_file.layout = Layout::file;
    expect_error(Code::unsupported, "directory", [&] { other.mmap(path(), as_file); });
    const std::string file = here_.path / "file";
    other.mmap(file, options());
    other.store("v", 1);
    other.munmap();
    Options as_directory = options();
    as_directory.layout = Layout::directory;
    expect_error(Code::unsupported, "file", [&] { other.mmap(file, as_directory); });
    expect_error(Code::unsupported, "file", [&] { other.mmap(file + "/", options()); });
    fs::create_directory(here_.path / "moved");
    fs::rename(file, here_.path / "moved/.pool");
    expect_error(Code::unsupported, "one file", [&] { other.mmap((here_.path / "moved").string(), options()); });
    open();
    EXPECT_EQ(load("A", 10), ramp(10)) << "nothing was touched";
}

TEST_F(directory_layout, unknown_features_are_unsupported) {
    open();
    pmem_.munmap();
    std::fstream file(in(".pool"), std::ios::in | std::ios::out | std::ios::binary);
    pool::Superblock super{};
    file.read(reinterpret_cast<char*>(&super), sizeof super);
    super.features |= 1ULL << 40;
    super.checksum = pool::checksum_of(super);
    file.seekp(0);
    file.write(reinterpret_cast<const char*>(&super), sizeof super);
    file.close();
    expect_error(Code::unsupported, "newer", [&] { open(); });
}

TEST_F(directory_layout, replace_begins_anew) {
    open();
    store("A", ramp(1000));
    store("group/B", ramp(1000));
    reopen(Mode::replace);
    EXPECT_TRUE(pmem_.ids().empty());
    EXPECT_TRUE(payloads().empty());
    EXPECT_TRUE(names().empty());
    store("A", ramp(10));
    EXPECT_EQ(doubles_of("A"), ramp(10));
    PMEM other;
    expect_error(Code::busy, "in use", [&] { other.mmap(path(), options(Mode::replace)); });
    expect_error(Code::already_exists, "", [&] { other.mmap(path(), options(Mode::exclusive)); });
}

TEST_F(directory_layout, a_replace_that_was_killed_leaves_nothing) {
    open();
    store("A", ramp(1000));
    pmem_.munmap();
    fs::remove(in(".pool"));
    open();
    EXPECT_TRUE(pmem_.ids().empty());
    EXPECT_TRUE(payloads().empty());
    EXPECT_TRUE(names().empty());
}

TEST_F(directory_layout, is_not_made_where_other_things_are) {
    fs::create_directory(in(""));
    std::ofstream(in("thesis.tex")) << "text";
    expect_error(Code::invalid_argument, "thesis.tex", [&] { open(); });
    expect_error(Code::not_found, "", [&] { open(Mode::read); });
    EXPECT_FALSE(fs::exists(in(".data")));
    EXPECT_TRUE(fs::exists(in("thesis.tex")));
}

TEST_F(directory_layout, a_file_that_somebody_put_there_stays) {
    open();
    std::ofstream(in("notes")) << "mine";
    pmem_.store("notes", std::string(1000, 'x'));
    pmem_.erase("notes");
    EXPECT_EQ(names(), std::set<std::string>{"notes"});
    EXPECT_EQ(fs::file_size(in("notes")), 4u);
}

TEST_F(directory_layout, a_lost_payload_directory_is_told_of) {
    open();
    store("A", ramp(1000));
    pmem_.munmap();
    fs::remove_all(in(".data"));
    expect_error(Code::corrupt, ".data", [&] { open(); });
}

TEST_F(directory_layout, keeps_to_the_permissions_of_the_pool) {
    Options own = options();
    own.permissions = 0600;
    pmem_.mmap(path(), own);
    store("group/A", ramp(1000));
    EXPECT_EQ(fs::status(in("")).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(in(".data")).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(in("group")).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(in("group/A")).permissions() & fs::perms::all, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace
}  // namespace pmemcpy::layout
