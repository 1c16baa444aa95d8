// A pool in a directory, as its users and other programs see it.

#include "layout/directory_suite.hpp"
#include "os/calls.hpp"

namespace pmemcpy::layout {
namespace {

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
    again.mmap(here_ / "pool");
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
    pmem_.sync();
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
    pmem_.sync();
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
    if (::geteuid() == 0) fs::permissions(here_.path(), fs::perms::all);
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

TEST_F(directory_layout, keeps_to_the_permissions_of_the_pool) {
    Options own = options();
    own.permissions = 0600;
    pmem_.mmap(path(), own);
    store("group/A", ramp(1000));
    EXPECT_EQ(fs::status(in("")).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(in(".data")).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(in("group")).permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(in("group/A")).permissions() & fs::perms::all,
              fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(directory_layout, may_be_made_by_many_at_once) {
    for (int round = 0; round < 20; ++round) {
        std::vector<pid_t> children;
        for (int i = 0; i < 6; ++i) {
            children.push_back(::fork());
            if (children.back() != 0) continue;
            try {
                PMEM own;
                own.mmap(path(), options());
                own.store("group/" + std::to_string(i), std::string(1000, 'v'));
                own.munmap();
                ::_exit(0);
            } catch (const std::exception& error) {
                std::fprintf(stderr, "in the child: %s\n", error.what());
                ::_exit(1);
            }
        }
        for (const pid_t child : children) {
            int status = 0;
            ::waitpid(child, &status, 0);
            EXPECT_EQ(status, 0);
        }
        open();
        EXPECT_EQ(pmem_.ids().size(), 6u);
        pmem_.compact();  // names are derived: one that got lost between two makers is made again here
        EXPECT_EQ(names().size(), 6u);
        pmem_.munmap();
        fs::remove_all(in(""));
    }
}

std::string order;

TEST_F(directory_layout, a_sync_brings_payloads_to_the_medium_before_the_mark) {
    const Folder on_disk(fs::temp_directory_path());
    pmem_.mmap(on_disk / "pool/", options());
    if (pmem_.durability() != Durability::page) GTEST_SKIP() << "no page cache below the temporary directory";
    store("A", ramp(1000));
    os::Calls fake = os::system_calls();
    fake.syncfs = [](int fd) { return order += 's', os::system_calls().syncfs(fd); };
    fake.fdatasync = [](int fd) { return order += 'd', os::system_calls().fdatasync(fd); };
    {
        const os::ScopedCalls listening(fake);
        pmem_.sync();
    }
    EXPECT_EQ(order, "sdd");
    fake.syncfs = [](int) { return errno = EIO, -1; };
    {
        const os::ScopedCalls broken(fake);
        expect_error(Code::io_error, "syncfs", [&] { pmem_.sync(); });
    }
    expect_error(Code::io_error, "earlier sync", [&] { store("A", ramp(10)); });
    pmem_.munmap();
}

}  // namespace
}  // namespace pmemcpy::layout
