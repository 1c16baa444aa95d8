// Bad input gets a clear error: never a signal, a hang or a half-written value.

#include <sys/wait.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <string>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

PMEMCPY_SUITE(bad_ids);

TEST_P(bad_ids, are_refused_by_whatever_would_make_them) {
    open();
    const std::string nul("a\0b", 3);
    for (const std::string& id :
         {std::string(), std::string("/"), std::string("/a"), std::string("a/"), std::string("a//b"),
          std::string(".."), std::string("."), std::string("a/../b"), std::string("a/."), nul,
          std::string("\xFF\xFE"), std::string("\xC3"), std::string(4097, 'x'), std::string("a#dims")}) {
        SCOPED_TRACE("id '" + id.substr(0, 20) + "'");
        expect_error(Code::invalid_argument, [&] { pmem.store(id, 1); });
        expect_error(Code::invalid_argument, [&] { pmem.alloc<int>(id, Dimensions{4}); });
        pmem.store("v", 1);
        expect_error(Code::invalid_argument, [&] { pmem.rename("v", id); });
    }
    EXPECT_EQ(pmem.ids(), std::vector<std::string>{"v"});
    EXPECT_TRUE(pmem.groups().empty());
    expect_error(Code::invalid_argument, [&] { pmem.store("", 1); }, {"empty"});
    expect_error(Code::invalid_argument, [&] { pmem.store("a/../b", 1); }, {"`..`"});
    expect_error(Code::invalid_argument, [&] { pmem.store(std::string(4097, 'x'), 1); }, {"4097", "4096"});
}

TEST_P(bad_ids, do_no_harm_where_they_are_only_asked_for) {
    open();
    const std::string nul("a\0b", 3);
    for (const std::string& id : {std::string(), std::string("/a"), std::string("a//b"), std::string(".."),
                                  nul, std::string("\xFF"), std::string(100'000, 'x')}) {
        EXPECT_FALSE(pmem.exists(id));
        try {
            pmem.load<int>(id);
            ADD_FAILURE() << "something was found";
        } catch (const Error& error) {
            EXPECT_TRUE(error.kind() == Code::not_found || error.kind() == Code::invalid_argument)
                << error.what();
        }
    }
}

TEST_P(bad_ids, every_valid_id_is_taken) {
    open();
    std::string deep = "d";
    for (int i = 0; i < 200; ++i) deep += "/d";
    const std::vector<std::string> ids = {"a",
                                          "a b",
                                          "a.b",
                                          "...",
                                          "..a",
                                          "#dims/x",
                                          "a#dim",
                                          "\x01",
                                          "\xF0\x9F\x8C\x8A",
                                          "-",
                                          "~",
                                          "a\\b:c*?",
                                          std::string(255, 'y'),
                                          std::string(300, 'z'),
                                          std::string(4096, 'x'),
                                          deep};
    for (const std::string& id : ids) {
        SCOPED_TRACE(id.substr(0, 20));
        pmem.store(id, id);
        EXPECT_EQ(pmem.load<std::string>(id), id);
    }
    EXPECT_EQ(pmem.ids().size(), ids.size());
}

/// About the bytes of the one file; offsets as docs/format.md draws them.
class bad_pools : public PoolSuite {
protected:
    void SetUp() override {
        if (GetParam() != Layout::file) GTEST_SKIP() << "about the one file";
        open();
        pmem.store("v", std::string(1000, 'v'));
        pmem.munmap();
    }
    void overwrite(std::uint64_t offset, const std::string& bytes) const {
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(offset));
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    std::string read(std::uint64_t offset, std::size_t bytes) const {
        std::ifstream file(path(), std::ios::binary);
        std::string found(bytes, '\0');
        file.seekg(static_cast<std::streamoff>(offset));
        file.read(found.data(), static_cast<std::streamsize>(bytes));
        return found;
    }
    void expect_refused(Code code, std::initializer_list<std::string_view> words) {
        for (const Mode mode : {Mode::read, Mode::update, Mode::create_or_update}) {
            expect_error(
                code, [&] { pmem.mmap(path(), options(mode)); }, words);
            EXPECT_FALSE(pmem.is_mapped());
        }
    }
    static constexpr std::uint64_t spare = 4096;
};
INSTANTIATE_TEST_SUITE_P(layouts, bad_pools, layouts(), name_of_layout);

TEST_P(bad_pools, a_file_that_is_no_pool) {
    for (const std::size_t size : {0U, 1U, 4096U, 12'288U, 1U << 20}) {
        std::ofstream(path(), std::ios::binary | std::ios::trunc) << std::string(size, 'x');
        expect_refused(Code::corrupt, {path(), "no pMEMCPY pool"});
        EXPECT_EQ(std::filesystem::file_size(path()), size) << "nobody may touch what is not ours";
        expect_error(Code::corrupt, [&] { pmem.mmap(path(), options(Mode::replace)); }, {path()});
        expect_error(Code::already_exists, [&] { pmem.mmap(path(), options(Mode::exclusive)); });
    }
}

TEST_P(bad_pools, a_newer_format) {
    const std::string newer("\x63\0\0\0", 4);
    overwrite(8, newer);
    overwrite(spare + 8, newer);
    expect_refused(Code::unsupported, {path(), "version 99", "newer"});
}

TEST_P(bad_pools, the_other_byte_order) {
    const std::string swapped("\x01\x02\x03\x04", 4);
    overwrite(12, swapped);
    overwrite(spare + 12, swapped);
    expect_refused(Code::unsupported, {path(), "byte order"});
}

TEST_P(bad_pools, a_truncated_one) {
    const auto size = std::filesystem::file_size(path());
    std::filesystem::resize_file(path(), size / 2);
    expect_refused(Code::corrupt, {path(), "truncated"});
    std::filesystem::resize_file(path(), 5000);
    expect_refused(Code::corrupt, {path()});
    std::filesystem::resize_file(path(), 0);
    expect_refused(Code::corrupt, {path()});
}

TEST_P(bad_pools, a_scribbled_superblock_with_a_good_spare_opens) {
    for (const std::uint64_t offset : {0U, 8U, 20U, 40U, 48U, 100U, 600U}) {
        const std::string was = read(offset, 8);
        overwrite(offset, "scribble");
        open();
        EXPECT_EQ(pmem.load<std::string>("v"), std::string(1000, 'v'));
        pmem.munmap();
        overwrite(offset, was);
        const std::string spare_was = read(spare + offset, 8);
        overwrite(spare + offset, "scribble");
        open();
        EXPECT_EQ(pmem.load<std::string>("v"), std::string(1000, 'v'));
        pmem.munmap();
        overwrite(spare + offset, spare_was);
    }
}

TEST_P(bad_pools, both_superblocks_scribbled) {
    overwrite(40, "scribble");
    overwrite(spare + 48, "scribble");
    expect_refused(Code::corrupt, {path(), "superblocks are damaged"});
}

TEST_P(bad_pools, scribbled_records_give_errors_and_no_signals) {
    open();
    for (int i = 0; i < 200; ++i) {
        pmem.store("g/" + std::to_string(i), std::string(static_cast<std::size_t>(1 + 40 * i), 'x'));
        pmem.set_attribute("g/" + std::to_string(i), "n", i);
    }
    pmem.alloc<int>("A", Dimensions{100});
    for (std::uint64_t i = 0; i < 100; ++i) pmem.store<int>("A", std::vector<int>(1).data(), Box{{i}, {1}});
    const std::uint64_t used = pmem.info().allocated_bytes;
    pmem.munmap();
    const std::string whole = read(0, used);
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937_64 random(seed);
        // Behind the superblocks; half of the time into what a scan will read, because the pool counts as unclean.
        std::string bytes = whole;
        const int holes = 1 << (seed % 7);
        for (int i = 0; i < holes; ++i) {
            const std::uint64_t at = 8192 + random() % (used - 8192 - 64);
            const std::uint64_t words[2] = {random(), random()};
            std::memcpy(bytes.data() + at, words, sizeof words);
        }
        if (seed % 2 == 1) std::memset(bytes.data() + 8192, 0, 8);
        overwrite(0, bytes);
        // In a child, so that a signal or a hang fails this test and not all of them.
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(60);
            const auto attempt = [](const std::function<void()>& call) {
                try {
                    call();
                } catch (const Error&) {
                }
            };
            attempt([&] {
                PMEM own;
                own.mmap(path(), options());
                std::vector<std::string> ids;
                attempt([&] { ids = own.ids(); });
                for (const std::string& id : ids) {
                    attempt([&] { own.load<std::string>(id); });
                    attempt([&] { own.get_attribute<int>(id, "n"); });
                    attempt([&] { own.info(id); });
                }
                std::vector<int> data(100);
                attempt([&] { own.load<int>("A", data.data(), Box{{0}, {100}}); });
                attempt([&] { own.verify(); });
                attempt([&] { own.store("new", 1); });
                attempt([&] { own.store<int>("A", data.data(), Box{{0}, {100}}); });
                attempt([&] { own.erase("g/7"); });
                attempt([&] { own.info(); });
            });
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
            << "seed " << seed << ", status " << status;
    }
}

PMEMCPY_SUITE(bad_places);

TEST_P(bad_places, a_directory_that_is_not_there) {
    expect_error(Code::not_found, [&] { pmem.mmap(path("no/such/place"), options()); });
}

// Root may write everywhere, so that a child tries it as nobody.
void expect_denied_to_nobody(const std::filesystem::path& where, const std::function<void()>& call) {
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr unsigned nobody = 65534;
        if (::geteuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) ::_exit(3);
        try {
            call();
            ::_exit(1);
        } catch (const Error& error) {
            const bool names_it = std::string(error.what()).find(where.string()) != std::string::npos;
            ::_exit(error.kind() == Code::permission_denied && names_it ? 0 : 2);
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

TEST_P(bad_places, a_directory_without_permission) {
    const auto closed = directory_.path() / "closed";
    std::filesystem::create_directory(closed);
    std::filesystem::permissions(closed, std::filesystem::perms(0555));
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
    expect_denied_to_nobody(directory_.path(), [&] {
        PMEM own;
        own.mmap(path("closed/pool"), options());
    });
    std::filesystem::permissions(closed, std::filesystem::perms(0755));
}

TEST_P(bad_places, a_pool_without_permission) {
    open();
    pmem.munmap();
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory_.path())) {
        std::filesystem::permissions(file, std::filesystem::perms(file.is_directory() ? 0555 : 0444));
    }
    for (const Mode mode : {Mode::update, Mode::create_or_update, Mode::replace}) {
        expect_denied_to_nobody(directory_.path(), [&] {
            PMEM own;
            own.mmap(path(), options(mode));
        });
    }
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory_.path())) {
        if (file.is_directory()) std::filesystem::permissions(file, std::filesystem::perms(0755));
    }
}

TEST_P(bad_places, an_empty_path) {
    expect_error(Code::invalid_argument, [&] { pmem.mmap("", options()); }, {"empty"});
}

TEST_P(bad_places, a_file_system_that_is_not_allowed) {
    const std::string name = std::string("/proc/pmemcpy_pool") + (GetParam() == Layout::directory ? "/" : "");
    try {
        pmem.mmap(name, options());
        ADD_FAILURE() << "a pool in /proc";
    } catch (const Error& error) {
        EXPECT_TRUE(error.kind() == Code::unsupported || error.kind() == Code::permission_denied ||
                    error.kind() == Code::not_found)
            << error.what();
    }
    if (GetParam() != Layout::file) return;
    expect_error(Code::unsupported, [&] { pmem.mmap("/dev/null", options(Mode::update)); });
}

TEST_P(bad_places, sizes_that_make_no_sense) {
    Options odd = options();
    odd.chunk_bytes = 3000;
    expect_error(Code::invalid_argument, [&] { pmem.mmap(path(), odd); }, {"3000"});
    odd.chunk_bytes = 2048;
    expect_error(Code::invalid_argument, [&] { pmem.mmap(path(), odd); }, {"2048"});
    odd = options();
    odd.max_bytes = 100'000;
    expect_error(Code::invalid_argument, [&] { pmem.mmap(path(), odd); }, {"100000"});
    odd.max_bytes = 1ULL << 45;
    expect_error(Code::invalid_argument, [&] { pmem.mmap(path(), odd); }, {"16 TiB"});
    expect_error(Code::not_found, [&] { pmem.mmap(path(), options(Mode::read)); });
}

TEST_P(bad_places, more_at_once_than_the_device_has) {
    Options large = options();
    large.max_bytes = 8ULL << 40;
    large.initial_bytes = 8ULL << 40;
    expect_error(Code::no_space, [&] { pmem.mmap(path(), large); });
    expect_error(Code::not_found, [&] { pmem.mmap(path(), options(Mode::read)); });
}

PMEMCPY_SUITE(forked);

TEST_P(forked, a_child_gets_a_clear_error_until_it_opens_its_own) {
    open();
    pmem.store("v", 1);
    pmem.alloc<int>("A", Dimensions{4});
    const pid_t child = ::fork();
    if (child == 0) {
        int wrong = 0;
        const auto expect_busy = [&](const std::function<void()>& call) {
            try {
                call();
                ++wrong;
            } catch (const Error& error) {
                if (error.kind() != Code::busy) ++wrong;
            }
        };
        int data[4] = {};
        expect_busy([&] { pmem.store("v", 2); });
        expect_busy([&] { pmem.load<int>("v"); });
        expect_busy([&] { pmem.load<int>("A", data, Box{{0}, {4}}); });
        expect_busy([&] { pmem.ids(); });
        expect_busy([&] { pmem.info(); });
        expect_busy([&] { pmem.erase("v"); });
        expect_busy([&] { (void)pmem.view<int>("A"); });
        pmem.munmap();
        try {
            PMEM own;
            own.mmap(path(), options());
            own.store("of the child", own.load<int>("v") + 1);
        } catch (const Error&) {
            ++wrong;
        }
        ::_exit(wrong);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0) << "so many calls in the child did not do what they should";
    EXPECT_EQ(pmem.load<int>("of the child"), 2);
    pmem.store("v", 3);
    EXPECT_EQ(pmem.info().attached, 1u);
}

}  // namespace
}  // namespace pmemcpy::conformance
