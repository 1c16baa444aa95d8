#include "members/members.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <memory>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/folder.hpp"

namespace pmemcpy::members {
namespace {

constexpr std::uint64_t bytes = body_offset + 4096;

std::uint64_t bytes_of(const Shape& shape) { return body_offset + shape[0]; }
Members create(const std::string& path) {
    return Members::create({path, Kind::buckets, {4096, 0, 0, 0}, bytes, 0600},
                           [](std::byte* base) { base[body_offset] = std::byte{7}; });
}
Members open(const std::string& path) { return Members::open(path, Kind::buckets, bytes_of); }

Code code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.kind();
    }
    return Code{};
}

void overwrite(const std::string& path, std::uint64_t offset, const std::string& bytes_there) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes_there;
}

TEST(members, a_word_keeps_what_is_put_into_it) {
    for (const Word& word : {Word{7, 3, {1023, (1U << life_bits) - 1}, 0xffffffff}, Word{1, 0, {0, 1}, 0},
                             Word{0, 2, {512, 0}, 5}, Word{}})
        EXPECT_EQ(Word::of(word.packed()), word);
    EXPECT_EQ(Word{}.packed(), 0U);
}

TEST(members, a_file_is_opened_as_it_was_set_up_and_made_once) {
    const Folder folder;
    const std::string path = folder / "f";
    const Members first = create(path);
    const Members second = open(path);
    EXPECT_EQ(second.base()[body_offset], std::byte{7});
    EXPECT_NE(first.me(), second.me());
    EXPECT_EQ(code_of([&] { create(path); }), Code::already_exists);
    EXPECT_EQ(code_of([&] { open(folder / "nothing"); }), Code::not_found);
}

TEST(members, who_has_closed_is_dead_and_who_has_not_is_not) {
    const Folder folder;
    const Members first = create(folder / "f");
    auto second = std::make_unique<Members>(open(folder / "f"));
    const Owner was = second->me();
    EXPECT_FALSE(first.is_dead(was));
    EXPECT_FALSE(first.is_dead(first.me()));
    second.reset();
    EXPECT_TRUE(first.is_dead(was));
    // The next one has the same seat, and another life.
    second = std::make_unique<Members>(open(folder / "f"));
    EXPECT_EQ(second->me().seat, was.seat);
    EXPECT_TRUE(first.is_dead(was));
    EXPECT_TRUE(second->is_dead(was));
    EXPECT_FALSE(first.is_dead(second->me()));
}

TEST(members, who_was_killed_is_dead_and_his_child_does_not_keep_him_alive) {
    const Folder folder;
    const Members here = create(folder / "f");
    int pipe_of[2], end_of[2];
    ASSERT_EQ(::pipe(pipe_of), 0);
    ASSERT_EQ(::pipe(end_of), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const Members there = open(folder / "f");
        const Owner me = there.me();
        ::close(end_of[1]);
        if (::fork() == 0) {
            static_cast<void>(!::write(pipe_of[1], &me, sizeof me));
            char none;
            ::_exit(static_cast<int>(::read(end_of[0], &none, 1)));  // lives until the test is over
        }
        ::pause();
        ::_exit(0);
    }
    ::close(pipe_of[1]);
    Owner owner;
    ASSERT_EQ(::read(pipe_of[0], &owner, sizeof owner), static_cast<ssize_t>(sizeof owner));
    EXPECT_FALSE(here.is_dead(owner));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(here.is_dead(owner));
    ::close(pipe_of[0]);
    ::close(end_of[0]);
    ::close(end_of[1]);
}

TEST(members, a_forked_child_is_told_to_open_anew) {
    const Folder folder;
    const Members here = create(folder / "f");
    const pid_t child = ::fork();
    if (child == 0) ::_exit(code_of([&] { here.check(); }) == Code::busy ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    here.check();
}

TEST(members, there_are_as_many_seats_as_said_and_then_it_is_busy) {
    const Folder folder;
    std::vector<Members> all;
    all.push_back(create(folder / "f"));
    try {
        while (all.size() < seat_count) all.push_back(open(folder / "f"));
    } catch (const Error& error) {
        GTEST_SKIP() << "too few descriptors: " << error.what();
    }
    EXPECT_EQ(code_of([&] { open(folder / "f"); }), Code::busy);
    all.pop_back();
    open(folder / "f");
}

TEST(members, what_is_no_such_file_is_refused_and_named) {
    const Folder folder;
    const std::string path = folder / "f";
    const auto refused = [&](const std::function<void()>& damage) {
        ::unlink(path.c_str());
        create(path);
        damage();
        EXPECT_EQ(code_of([&] { open(path); }), Code::corrupt);
    };
    refused([&] { EXPECT_EQ(::truncate(path.c_str(), 0), 0); });
    refused([&] { EXPECT_EQ(::truncate(path.c_str(), 4096), 0); });
    refused([&] { EXPECT_EQ(::truncate(path.c_str(), bytes - 1), 0); });
    refused([&] { EXPECT_EQ(::truncate(path.c_str(), bytes + 4096), 0); });
    refused([&] { overwrite(path, 0, "not ours"); });
    refused([&] { overwrite(path, 8, "\x01"); });   // an older version
    refused([&] { overwrite(path, 24, "\x01"); });  // another shape, and the old checksum
    refused([&] { overwrite(path, 60, "sum"); });
    ::unlink(path.c_str());
    create(path);
    EXPECT_EQ(code_of([&] { Members::open(path, Kind::messages, bytes_of); }), Code::corrupt);
    EXPECT_EQ(code_of([&] { Members::open(path, Kind::buckets, [](const Shape&) { return bytes + 1; }); }),
              Code::corrupt);
    EXPECT_EQ(code_of([&] { open(folder.path()); }), Code::invalid_argument);
}

// On a full device the first touch of what was never allocated would be a SIGBUS.
TEST(members, a_file_with_holes_gets_its_space_when_it_is_opened) {
    const Folder folder;
    const std::string path = folder / "f", copy = folder / "g";
    create(path);
    {
        std::ifstream in(path, std::ios::binary);
        std::string header(64, '\0');
        in.read(header.data(), 64);
        std::ofstream(copy, std::ios::binary) << header;
        ASSERT_EQ(::truncate(copy.c_str(), bytes), 0);
    }
    open(copy);
    EXPECT_GE(os::File::open(copy, 0).allocated_bytes(), bytes);
}

}  // namespace
}  // namespace pmemcpy::members
