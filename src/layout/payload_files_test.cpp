#include "layout/payload_files.hpp"

#include "layout/payload_name.hpp"
#include "layout/place.hpp"
#include "os/calls.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <utility>
#include <vector>

namespace pmemcpy::layout {
namespace {

namespace fs = std::filesystem;
using heap::Extent;

int syncs = 0;

class payload_files : public testing::Test {
protected:
    struct NoLife final : pool::Lifecycle {
        void rebuild() override {}
        bool scavenge(std::uint64_t) override { return true; }
        bool leave() override { return true; }
    };
    payload_files() {
        NewDirectories({here_ / ".pool", here_.path()}, 0640).keep();
        pool::Shape shape;
        shape.max_bytes = 1 << 20;
        shape.chunk_bytes = 4096;
        shape.mode = 0640;
        shape.features = pool::feature_directory_layout;
        pool::Pool::create(here_ / ".pool", shape);
        pool_.emplace(here_ / ".pool", false, MapSync::automatic);
        heap_.emplace(*pool_);
        pool_->attach(life_);
        data_ = os::File::open(here_ / ".data", O_RDONLY | O_DIRECTORY);
        files_.emplace(*heap_, data_);
    }
    ~payload_files() override { pool_->detach(life_); }
    Extent store(const std::string& text) {
        const Extent extent = files_->allocate(text.size());
        std::memcpy(files_->map(extent, true).data, text.data(), text.size());
        return extent;
    }
    fs::path path(const Extent& extent) const { return here_ / (".data/" + name_of_payload(extent.offset)); }
    std::string read(const heap::Bytes& bytes, const Extent& extent) const {
        return {reinterpret_cast<const char*>(bytes.data), extent.length};
    }
    /// Another process: without what this one has mapped.
    heap::Bytes map_elsewhere(const Extent& extent) { return PayloadFiles(*heap_, data_).map(extent, false); }

    // As a rule on a disk: behind a page cache there is something to sync.
    Folder here_{fs::temp_directory_path()};
    NoLife life_;
    std::optional<pool::Pool> pool_;
    std::optional<heap::Heap> heap_;
    os::File data_;
    std::optional<PayloadFiles> files_;
};

TEST_F(payload_files, exist_from_the_first_mapping_on) {
    const Extent extent = files_->allocate(100);
    EXPECT_EQ(extent.target, 1u);
    EXPECT_FALSE(fs::exists(path(extent)));
    EXPECT_EQ(files_->map(extent, false).data, nullptr);
    EXPECT_NE(files_->map(extent, true).data, nullptr);
    EXPECT_EQ(fs::file_size(path(extent)), 100u);
}

TEST_F(payload_files, are_as_long_as_their_bytes_and_as_open_as_the_pool) {
    const Extent extent = store("some text");
    EXPECT_EQ(fs::file_size(path(extent)), 9u);
    EXPECT_EQ(os::look_in(data_, name_of_payload(extent.offset))->mode_bits, 0640u | payload_mark);
    EXPECT_EQ(read(map_elsewhere(extent), extent), "some text");
    EXPECT_EQ(files_->used_bytes(), 9u);
}

TEST_F(payload_files, never_have_the_number_of_another_one) {
    const Extent a = store("a");
    files_->free(a);
    EXPECT_NE(store("b").offset, a.offset);
}

TEST_F(payload_files, that_are_freed_live_as_long_as_somebody_sees_them) {
    const Extent extent = store("some text");
    const heap::Bytes held = files_->map(extent, false);
    files_->free(extent);
    EXPECT_FALSE(fs::exists(path(extent)));
    EXPECT_EQ(files_->map(extent, false).data, nullptr);
    EXPECT_EQ(read(held, extent), "some text");
    EXPECT_EQ(files_->used_bytes(), 0u);
    files_->free(extent);
    EXPECT_EQ(files_->used_bytes(), 0u) << "freed twice, counted once";
}

TEST_F(payload_files, that_are_short_or_no_files_count_as_missing) {
    const Extent extent = store(std::string(10'000, 'x'));
    fs::resize_file(path(extent), 9'999);
    EXPECT_EQ(map_elsewhere(extent).data, nullptr);
    fs::remove(path(extent));
    EXPECT_EQ(map_elsewhere(extent).data, nullptr);
    const Extent other = store("other");
    fs::create_symlink(path(other), path(extent));
    EXPECT_EQ(map_elsewhere({1, 0, extent.offset, 5}).data, nullptr) << "no symbolic link is followed";
    fs::remove(path(extent));
    fs::create_directory(path(extent));
    EXPECT_EQ(map_elsewhere(extent).data, nullptr);
    EXPECT_EQ(map_elsewhere({1, 0, other.offset, std::uint64_t{1} << 60}).data, nullptr);
}

TEST_F(payload_files, shrink_to_what_they_hold) {
    Extent extent = store(std::string(10'000, 'x'));
    files_->shrink(extent, 100);
    EXPECT_EQ(extent.length, 100u);
    EXPECT_EQ(fs::file_size(path(extent)), 100u);
    EXPECT_EQ(read(files_->map(extent, false), extent), std::string(100, 'x'));
    EXPECT_EQ(files_->used_bytes(), 100u);
}

TEST_F(payload_files, leave_nothing_behind_where_there_is_no_space) {
    EXPECT_THROW(store(std::string(2 << 20, 'x')), Error);
    EXPECT_EQ(files_->used_bytes(), 0u);
    os::Calls fake = os::system_calls();
    fake.fallocate = [](int, int, off_t, off_t) { return errno = ENOSPC, -1; };
    {
        const os::ScopedCalls full(fake);
        try {
            store("some text");
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::no_space);
        }
    }
    EXPECT_TRUE(os::names_in(data_).empty());
    EXPECT_EQ(files_->used_bytes(), 0u);
}

TEST_F(payload_files, what_the_dead_have_counted_and_not_stored_does_not_fill_the_pool) {
    const Extent extent = store(std::string(100'000, 'x'));
    pool_->state().payload_bytes.value = 1'040'000;
    store(std::string(100'000, 'y'));
    EXPECT_EQ(files_->used_bytes(), 200'000u);
    files_->free(extent);
    EXPECT_EQ(files_->used_bytes(), 100'000u);
}

TEST_F(payload_files, that_no_record_names_go_in_recovery) {
    const Extent a = store("a");
    const Extent b = store("bb");
    std::filesystem::create_hard_link(path(b), here_ / (".data/" + passing_name_of(b.offset)));
    EXPECT_FALSE(files_->take_names_are_stale());
    files_->keep_only({a});
    EXPECT_TRUE(fs::exists(path(a)));
    EXPECT_EQ(os::names_in(data_).size(), 1u);
    EXPECT_EQ(files_->used_bytes(), 1u);
    EXPECT_TRUE(files_->take_names_are_stale());
    EXPECT_FALSE(files_->take_names_are_stale());
}

// Between the end of a file and the subtraction of its bytes another process may count those that there are. The count of a target was
// then 16 KiB less than nothing, and so more than any target may have.
TEST_F(payload_files, are_counted_anew_where_one_was_taken_off_twice) {
    const Extent a = store("aaaa");
    const Extent b = store("bb");
    pool_->state().payload_bytes.value -= a.length;  // who has counted found only b
    files_->free(b);
    EXPECT_EQ(files_->used_bytes(), 0u);
    files_->free(a);
    EXPECT_EQ(files_->used_bytes(), 0u);
    pool_->state().payload_bytes.value -= 7;
    EXPECT_EQ(files_->used_bytes(), 0u);
    EXPECT_EQ(store("c").length, 1u);
    const Extent d = store("dd");
    files_->free(d);
    EXPECT_EQ(files_->used_bytes(), 1u);
}

/// What another process does in the middle of a call.
std::function<void()> meanwhile;

// Whoever makes a payload has counted it before its file is there. Another process that counted all files meanwhile took it off again.
TEST_F(payload_files, that_are_just_being_made_stay_counted) {
    PayloadFiles others(*heap_, data_);
    meanwhile = [&] { others.remove_torn_copies(); };  // which counts
    os::Calls calls = os::system_calls();
    calls.openat = [](int at, const char* path, int flags, mode_t mode) {
        if ((flags & O_CREAT) != 0) {
            if (const auto act = std::exchange(meanwhile, nullptr)) act();
        }
        return os::system_calls().openat(at, path, flags, mode);
    };
    const os::ScopedCalls scoped(calls);
    const Extent extent = store("some text");
    EXPECT_EQ(files_->used_bytes(), 9u);
    meanwhile = [&] { others.remove_torn_copies(); };
    store("more");
    EXPECT_EQ(files_->used_bytes(), 13u);
    files_->free(extent);
    EXPECT_EQ(files_->used_bytes(), 4u);
}

// And one that counted between the end of a file and the subtraction of its bytes had them subtracted twice.
TEST_F(payload_files, that_are_just_being_removed_are_subtracted_once) {
    const Extent extent = store("some text");
    store("a longer text than that");
    PayloadFiles others(*heap_, data_);
    meanwhile = [&] { others.remove_torn_copies(); };
    os::Calls calls = os::system_calls();
    calls.unlinkat = [](int at, const char* path, int flags) {
        const int result = os::system_calls().unlinkat(at, path, flags);
        if (const auto act = std::exchange(meanwhile, nullptr)) act();
        return result;
    };
    const os::ScopedCalls scoped(calls);
    files_->free(extent);
    EXPECT_EQ(files_->used_bytes(), 23u);
}

// Its names were counted before it lost the one by which others give it more: a name that came in between kept its space.
TEST_F(payload_files, that_get_a_name_while_they_are_freed_have_the_names_looked_at) {
    const Extent extent = store("some text");
    meanwhile = [&] { fs::create_hard_link(path(extent), here_ / "a name"); };
    os::Calls calls = os::system_calls();
    calls.unlinkat = [](int at, const char* path, int flags) {
        if (const auto act = std::exchange(meanwhile, nullptr)) act();
        return os::system_calls().unlinkat(at, path, flags);
    };
    const os::ScopedCalls scoped(calls);
    files_->free(extent);
    EXPECT_TRUE(files_->take_names_are_stale());
}

// Owners' numbers come again: what a process of an earlier session had left was taken for that of the living one with its number.
TEST_F(payload_files, what_the_dead_have_left_of_names_goes_and_what_a_user_has_there_stays) {
    const Extent extent = store("some text");
    const std::uint64_t session = pool_->session_began_at();
    const std::uint64_t living = passing_number(pool_->owner(), session, 0);
    const std::uint64_t dead =
        passing_number(pool_->owner() ^ (1U << 13), session, 0);  // before in the same slot
    const std::uint64_t earlier = passing_number(pool_->owner(), session - 1, 0);
    for (const std::uint64_t number : {living, dead, earlier})
        fs::create_hard_link(path(extent), here_ / (".data/" + passing_name_of(number)));
    std::ofstream(here_ / (".data/" + passing_name_of(dead + 1))) << "mine";
    files_->sweep_passing();
    EXPECT_TRUE(fs::exists(here_ / (".data/" + passing_name_of(living))));
    EXPECT_FALSE(fs::exists(here_ / (".data/" + passing_name_of(dead))));
    EXPECT_FALSE(fs::exists(here_ / (".data/" + passing_name_of(earlier))));
    files_->keep_only({extent});
    EXPECT_FALSE(fs::exists(here_ / (".data/" + passing_name_of(living))));
    EXPECT_TRUE(fs::exists(here_ / (".data/" + passing_name_of(dead + 1))));
}

// Power went after a file below the pool was made and before its record and the number that was drawn were on the
// medium. Recovery kept the file, for all it knew another process had just drawn its number; the next store that drew
// it failed with "already exists".
TEST_F(payload_files, that_lost_their_record_and_their_number_give_way) {
    const Extent lost = store(std::string(1000, 'x'));
    files_->keep_only({}, lost.offset);
    ASSERT_TRUE(fs::exists(path(lost)));
    const Extent again{lost.target, 0, lost.offset, 10};
    std::memcpy(files_->map(again, true).data, "0123456789", 10);
    EXPECT_EQ(read(map_elsewhere(again), again), "0123456789");
    EXPECT_EQ(fs::file_size(path(again)), 10u);
    EXPECT_EQ(files_->used_bytes(), 10u);
}

TEST_F(payload_files, removed_elsewhere_do_not_stay_mapped) {
    const Extent gone = store("gone");
    fs::remove(path(gone));
    for (int i = 0; i < 4; ++i) store("x");
    EXPECT_EQ(files_->map(gone, false).data, nullptr);
}

TEST_F(payload_files, copies_are_written_in_calls_as_large_as_their_target_wants) {
    static std::vector<std::pair<std::uint64_t, std::size_t>> calls;
    os::Calls recording = os::system_calls();
    recording.pwrite = [](int fd, const void* bytes, size_t size, off_t offset) {
        calls.emplace_back(offset, size);
        return os::system_calls().pwrite(fd, bytes, size, offset);
    };
    const std::vector<std::byte> block(600'000, std::byte{7});
    for (const std::size_t at_once : {64U << 10, 256U << 10, 1U << 20}) {
        SCOPED_TRACE(at_once);
        const CopyMark mark{.version = pool_->draw_version(), .bytes = block.size(), .written_ns = 1};
        {
            const os::ScopedCalls scoped(recording);
            calls.clear();
            EXPECT_TRUE(files_->make_copy(mark, block.data(), {}, PayloadFiles::IfBusy::wait, at_once));
        }
        ASSERT_EQ(calls.size(), (block.size() + at_once - 1) / at_once + 1)
            << "and what stands behind the bytes";
        for (std::size_t i = 0; i + 1 < calls.size(); ++i) {
            EXPECT_EQ(calls[i].first, i * at_once);
            EXPECT_EQ(calls[i].second, std::min(at_once, block.size() - i * at_once));
        }
        EXPECT_TRUE(files_->has_copy(mark));
        files_->remove_copy(mark.version);
    }
}

// A copy that is being made is locked, and a child of who makes it had the lock too: who died had it "in the making" for as long as the child
// lived, and others waited for the child.
TEST_F(payload_files,
       copies_that_a_process_has_begun_are_nobodys_when_it_dies_though_its_forked_child_lives) {
    const std::vector<std::byte> block(1000, std::byte{7});
    const CopyMark mark{.version = 99, .bytes = block.size()};
    int to_test[2];
    int to_child[2];
    ASSERT_EQ(::pipe(to_test), 0);
    ASSERT_EQ(::pipe(to_child), 0);
    const pid_t maker = ::fork();
    if (maker == 0) {
        pool::Pool pool(here_ / ".pool", false, MapSync::automatic);
        heap::Heap heap(pool);
        pool.attach(life_);
        const os::File data = os::File::open(here_ / ".data", O_RDONLY | O_DIRECTORY);
        PayloadFiles files(heap, data);
        const auto die_with_a_child = [&](std::uint64_t) {
            if (::fork() == 0) {
                char byte = 'c';
                ::close(to_child[1]);
                if (::write(to_test[1], &byte, 1) != 1 || ::read(to_child[0], &byte, 1) != 0) ::_exit(1);
                ::_exit(0);  // the test has ended
            }
            ::pause();
            return true;
        };
        files.make_copy(mark, block.data(), die_with_a_child, PayloadFiles::IfBusy::wait, 64U << 10);
        ::_exit(1);
    }
    char byte = 0;
    ASSERT_EQ(::read(to_test[0], &byte, 1), 1);
    ::kill(maker, SIGKILL);
    ::waitpid(maker, nullptr, 0);
    const std::uint64_t until = os::monotonic_ns() + 10'000'000'000;
    EXPECT_TRUE(files_->make_copy(
        mark, block.data(), [&](std::uint64_t) { return os::monotonic_ns() < until; },
        PayloadFiles::IfBusy::wait, 64U << 10));
    for (const int fd : {to_test[0], to_test[1], to_child[0], to_child[1]}) ::close(fd);
}

TEST_F(payload_files, are_synced_with_their_file_system_where_a_sync_is_needed) {
    store("some text");
    os::Calls fake = os::system_calls();
    syncs = 0;
    fake.syncfs = [](int fd) { return ++syncs, os::system_calls().syncfs(fd); };
    const os::ScopedCalls counted(fake);
    files_->make_durable();
    EXPECT_EQ(syncs, pool_->probe().needs_sync ? 1 : 0);
}

}  // namespace
}  // namespace pmemcpy::layout
