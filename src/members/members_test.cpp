#include "members/members.hpp"

#include <array>
#include <atomic>
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

// Words, one behind the other.
Body body_of(const Shape& shape) {
    return {body_offset + shape[0], body_offset, sizeof(std::uint64_t), shape[0] / sizeof(std::uint64_t)};
}
Members create(const std::string& path) {
    return Members::create({path, Kind::buckets, {4096, 0, 0, 0}, body_of({4096, 0, 0, 0}), 0600},
                           [](std::byte* base) { base[body_offset] = std::byte{7}; });
}
Members open(const std::string& path) { return Members::open(path, Kind::buckets, body_of); }

std::atomic_ref<std::uint64_t> number_at(const Members& members, std::uint64_t offset) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(members.base() + offset));
}
std::atomic_ref<std::uint64_t> word(const Members& members, std::uint64_t i) {
    return number_at(members, body_offset + i * 8);
}
/// As if a seat had had so many lives.
void count_lives(const Members& members, std::uint32_t seat, std::uint64_t lives) {
    number_at(members, lives_offset + seat * 8) = lives;
}

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

constexpr std::uint64_t lives_with_a_tag = std::uint64_t{1} << life_bits;

// A word has 17 bits of a life. The member that had the same ones 2^17 lives later was taken for the dead owner, and nobody recovered the dead
// owner's messages as long as the member was there. It took nine seconds of openings.
TEST(members, that_have_the_tag_of_a_dead_one_find_no_word_that_names_it) {
    const Folder folder;
    const Members here = create(folder / "f");
    for (const std::uint32_t round : {1U, 2U, 77U}) {
        count_lives(here, 1, round * lives_with_a_tag - 2);
        const Owner dead = open(folder / "f").me();
        EXPECT_EQ(dead.life, lives_with_a_tag - 1);
        const Word held{3, 1, {1, 1}, 9}, of_another{3, 1, {2, 1}, 9}, of_here{2, 2, here.me(), 5};
        const Word last{4, 0, dead, 7}, free{0, 0, {1, 1}, 3};
        const std::array all = {held, of_another, of_here, last, free};
        for (std::size_t i = 0; i < all.size(); ++i) word(here, i) = all.at(i).packed();
        word(here, 511) = held.packed();
        const Members next = open(folder / "f");
        EXPECT_EQ(next.me(), (Owner{1, 1})) << "no process has life 0";
        EXPECT_EQ(next.lives(1), round * lives_with_a_tag + 1);
        const Word nobodys{3, 1, nobody, 9};
        EXPECT_EQ(Word::of(word(here, 0)), nobodys);
        EXPECT_EQ(Word::of(word(here, 511)), nobodys);
        EXPECT_EQ(Word::of(word(here, 3)), (Word{4, 0, nobody, 7}));
        for (const std::size_t i : {1U, 2U, 4U}) EXPECT_EQ(Word::of(word(here, i)), all.at(i)) << i;
        EXPECT_TRUE(here.is_dead(nobody));
        EXPECT_FALSE(here.is_dead(next.me()));
    }
}

TEST(members, that_die_while_they_look_for_old_names_leave_that_to_the_next) {
    const Folder folder;
    const Members here = create(folder / "f");
    count_lives(here, 1, lives_with_a_tag);  // as it is while a member looks for them
    EXPECT_TRUE(here.is_dead({1, 0}));
    word(here, 0) = Word{3, 1, {1, 1}, 9}.packed();
    const Members next = open(folder / "f");
    EXPECT_EQ(next.me(), (Owner{1, 1}));
    EXPECT_EQ(Word::of(word(here, 0)), (Word{3, 1, nobody, 9}));
}

// A process may be held between two questions for as long as a seat takes to have the same tag again.
TEST(members, an_answer_is_not_kept_for_a_later_life_of_the_seat) {
    const Folder folder;
    const Members here = create(folder / "f");
    Roll roll(here);
    EXPECT_TRUE(roll.is_dead(nobody));
    const Owner dead = open(folder / "f").me();
    EXPECT_TRUE(roll.is_dead(dead));
    count_lives(here, dead.seat, lives_with_a_tag + dead.life - 1);
    const Members later = open(folder / "f");
    ASSERT_EQ(later.me(), dead);
    EXPECT_FALSE(roll.is_dead(later.me()));
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
    EXPECT_EQ(code_of([&] { Members::open(path, Kind::messages, body_of); }), Code::corrupt);
    EXPECT_EQ(
        code_of([&] { Members::open(path, Kind::buckets, [](const Shape&) { return Body{bytes + 1}; }); }),
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
