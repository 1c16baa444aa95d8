// What a tree with checksums promises beyond what any engine does: damage is noticed, lies end nobody, and space is used again, whoever dies.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <pmemcpy/error.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "index/engine/engine.hpp"
#include "index/engine/format.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::index {
namespace {

constexpr std::uint64_t bytes = 64ULL << 20;

std::string name_of(std::uint64_t i) { return "a name that many have " + std::to_string(i * 7919 % 10'007); }

class tree_of_pages : public ::testing::Test {
protected:
    std::shared_ptr<Engine> open() const { return open_engine(folder_.path(), bytes, 0600); }
    std::string file() const { return folder_ / tree_file; }
    std::vector<char> content() const {
        std::ifstream in(file(), std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write(const std::vector<char>& content) const {
        std::filesystem::remove(file());
        std::ofstream(file(), std::ios::binary)
            .write(content.data(), static_cast<std::streamsize>(content.size()));
    }
    /// Some of everything: several levels, values that take pages, names that lie packed.
    static void fill(Engine& engine, std::uint64_t count) {
        const auto writing = engine.write();
        for (std::uint64_t i = 0; i < count; ++i) {
            writing->post(Table::attributes, name_of(i), {64 * i, "id" + std::to_string(i)});
            writing->post(Table::known, "kind", {64 * i});
            writing->post(Table::names, name_of(i), {64 * i});
            writing->put(Table::keys, name_of(i), std::to_string(i));
        }
        writing->put(Table::posted, std::string(8, 'p'), std::string(20'000, 'v'));
        writing->commit();
    }
    static std::string all_in(const Reading& reading) {
        std::string all;
        for (const Table table : {Table::attributes, Table::known, Table::names}) {
            reading.walk_postings(table, "", [&](std::string_view key, const Posting& posting) {
                all.append(key).append(std::to_string(posting.place)).append(posting.id);
                return true;
            });
        }
        for (const Table table : {Table::about, Table::keys, Table::objects, Table::posted, Table::pending}) {
            reading.walk(table, "", [&](std::string_view key, std::string_view value) {
                all.append(key).append(value);
                return true;
            });
        }
        return all;
    }
    template <class F>
    static int in_another(F&& f) {
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(60);
            f();
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return status;
    }
    Folder folder_;
};

TEST_F(tree_of_pages, is_read_as_it_was_or_not_at_all_whatever_bit_of_it_is_another) {
    {
        const auto engine = open();
        fill(*engine, 200);
        fill(*engine, 100);  // so that there are free pages
    }
    const std::vector<char> whole = content();
    const std::string wanted = all_in(*open()->read());
    std::mt19937 random(1);
    constexpr std::size_t step = 96;
    int noticed = 0;
    int unnoticed = 0;
    for (std::size_t at = 0; at < whole.size(); at += step) {
        std::vector<char> damaged = whole;
        char& byte = damaged[std::min(at + random() % step, whole.size() - 1)];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
        write(damaged);
        try {
            const auto engine = open();
            ASSERT_EQ(all_in(*engine->read()), wanted) << "at " << at;
            ++unnoticed;
        } catch (const Error& error) {
            ASSERT_EQ(error.kind(), Code::corrupt) << error.what() << " at " << at;
            ++noticed;
        }
    }
    std::printf("%d flips noticed, %d in what nobody reads\n", noticed, unnoticed);
    EXPECT_GT(noticed, 300);
    EXPECT_GT(unnoticed, 300);  // slots, and pages that are free
}

// Damage that one process finds is found by those who would never come there, or the index would never be made anew.
TEST_F(tree_of_pages, that_is_damaged_is_refused_from_then_on_to_whoever_opens_it) {
    fill(*open(), 2000);
    std::vector<char> damaged = content();
    damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
    damaged[first_page * page_bytes + 2 * page_bytes + 2000] ^= 1;
    write(damaged);
    const auto engine = open();
    const auto snapshot = engine->read();
    EXPECT_THROW(all_in(*snapshot), Error);
    EXPECT_THROW(open(), Error);
    EXPECT_THROW(engine->read(), Error);
}

TEST_F(tree_of_pages, whose_copy_is_damaged_says_so_too) {
    const auto engine = open();
    fill(*engine, 500);
    engine->copy_to(folder_ / "copy");
    EXPECT_EQ(all_in(*open_copy(folder_ / "copy")->read()), all_in(*engine->read()));
    std::fstream copy(folder_ / "copy", std::ios::in | std::ios::out | std::ios::binary);
    copy.seekp((first_page + 3) * page_bytes + page_bytes - 2);
    copy.put('\x7f');
    copy.close();
    EXPECT_THROW(all_in(*open_copy(folder_ / "copy")->read()), Error);
}

// Whoever may write an index can give it any bytes with right checksums. That gives wrong answers, or errors, but it ends nobody.
TEST_F(tree_of_pages, that_lies_ends_nobody) {
    fill(*open(), 1500);
    const std::vector<char> whole = content();
    const auto sum_of = [](const char* of, std::size_t size) { return base::xxh3_64(of, size); };
    std::mt19937 random(3);
    int refused = 0;
    constexpr int trials = 300;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<char> lying = whole;
        std::uint64_t published = 0;
        std::memcpy(&published, lying.data(), sizeof published);
        const std::size_t at = metas_at + (published >> 16) % 2 * meta_stride;
        Meta meta;
        std::memcpy(static_cast<void*>(&meta), &lying[at], sizeof meta);
        Root& root = meta.roots[random() % tree_count];
        if (root.link.page == 0) continue;
        char* const page = &lying[root.link.page * page_bytes];
        const std::size_t within = random() % 2 == 0 ? 64 : page_bytes;
        for (std::size_t i = 1 + random() % 8; i > 0; --i)
            page[random() % within] = static_cast<char>(random());
        root.link.sum = sum_of(page, page_bytes);
        if (random() % 8 == 0) root.link.levels = static_cast<std::uint32_t>(random() % 3);
        meta.sum = sum_of(reinterpret_cast<const char*>(&meta), offsetof(Meta, sum));
        std::memcpy(&lying[at], static_cast<const void*>(&meta), sizeof meta);
        write(lying);
        const int status = in_another([&] {
            bool is_refused = false;
            const auto tried = [&](const std::function<void()>& f) {
                try {
                    f();
                } catch (const Error&) {
                    is_refused = true;
                }
            };
            std::shared_ptr<Engine> engine;
            tried([&] { engine = open(); });
            if (engine) {
                tried([&] { all_in(*engine->read()); });
                tried([&] { engine->copy_to(folder_ / ("copy" + std::to_string(trial))); });
                for (std::uint64_t i = 0; i < 40; ++i) {
                    tried([&] {
                        const auto writing = engine->write();
                        writing->post(Table::attributes, name_of(i), {64 * i, "another"});
                        writing->unpost(Table::known, "kind", {64 * i});
                        writing->post(Table::names, name_of(i) + "x", {64 * i});
                        writing->put(Table::posted, std::string(8, 'p'), std::string(i * 1000, 'w'));
                        writing->erase(Table::keys, name_of(i));
                        writing->commit();
                    });
                }
            }
            ::_exit(is_refused ? 1 : 0);
        });
        ASSERT_FALSE(WIFSIGNALED(status)) << "signal " << WTERMSIG(status) << " in trial " << trial;
        refused += WEXITSTATUS(status);
    }
    EXPECT_GT(refused, trials / 4);
}

TEST_F(tree_of_pages, uses_space_again) {
    const auto engine = open();
    fill(*engine, 2000);
    const auto change = [&](std::uint64_t i) {
        const auto writing = engine->write();
        for (std::uint64_t k = 0; k < 20; ++k) {
            writing->put(Table::keys, name_of(i * 20 + k), std::to_string(i));
            writing->unpost(Table::attributes, name_of(i), {64 * i, "id" + std::to_string(i)});
            writing->post(Table::attributes, name_of(i), {64 * i, "id" + std::to_string(i)});
        }
        writing->put(Table::posted, std::string(8, 'p'),
                     std::string(20'000, static_cast<char>('a' + i % 26)));
        writing->commit();
    };
    for (std::uint64_t i = 0; i < 300; ++i) change(i % 100);
    const std::uint64_t settled = engine->bytes();
    for (std::uint64_t i = 0; i < 2000; ++i) change(i % 100);
    EXPECT_LE(engine->bytes(), settled + settled / 4);
    {
        const auto reader = engine->read();
        const std::string before = all_in(*reader);
        for (std::uint64_t i = 0; i < 300; ++i) change(i % 100);
        EXPECT_EQ(all_in(*reader), before) << "nothing of what it reads was used again";
    }
    const std::uint64_t beside_a_reader = engine->bytes();
    EXPECT_GT(beside_a_reader, settled);
    for (std::uint64_t i = 0; i < 2000; ++i) change(i % 100);
    EXPECT_LE(engine->bytes(), beside_a_reader + settled / 4);
}

TEST_F(tree_of_pages, keeps_nothing_for_a_reader_that_was_killed) {
    const auto engine = open();
    fill(*engine, 1000);
    std::array<int, 2> said{};
    ASSERT_EQ(::pipe(said.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto mine = open();
        const auto reader = mine->read();
        const char byte = 1;
        if (::write(said[1], &byte, 1) != 1) ::_exit(1);
        for (;;) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(said[0], &byte, 1), 1);
    const auto grown_by = [&] {
        const std::uint64_t before = engine->bytes();
        for (std::uint64_t i = 0; i < 1500; ++i) {
            const auto writing = engine->write();
            writing->put(Table::keys, name_of(i % 900), std::to_string(i));
            writing->commit();
        }
        return engine->bytes() - before;
    };
    EXPECT_GT(grown_by(), 4ULL << 20) << "it keeps all that has come after what it reads";
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_LT(grown_by(), 1ULL << 20);
    ::close(said[0]);
    ::close(said[1]);
}

// Each commit gives all entries one number. Writers are killed anywhere; whoever reads, in whatever process, never meets two.
TEST_F(tree_of_pages, is_whole_to_readers_of_other_processes_while_writers_are_killed) {
    constexpr std::uint64_t entries = 400;
    const auto change_all = [&](Engine& engine, std::uint64_t number) {
        const auto writing = engine.write();
        for (std::uint64_t i = 0; i < entries; ++i)
            writing->put(Table::keys, name_of(i), std::to_string(number));
        writing->put(Table::posted, std::string(8, 'p'),
                     std::string(9000, static_cast<char>('a' + number % 26)));
        writing->commit();
    };
    change_all(*open(), 0);
    std::vector<pid_t> readers;
    for (int r = 0; r < 2; ++r) {
        readers.push_back(::fork());
        if (readers.back() != 0) continue;
        ::alarm(120);
        const auto engine = open();
        const auto snapshot = engine->read();
        for (std::uint64_t looks = 0, last = 0;; ++looks) {
            snapshot->rest();
            snapshot->renew();
            std::string first;
            std::uint64_t seen = 0;
            bool are_same = true;
            snapshot->walk(Table::keys, "", [&](std::string_view, std::string_view value) {
                if (seen++ == 0) first = value;
                are_same = are_same && value == first;
                return true;
            });
            const auto text = snapshot->get(Table::posted, std::string(8, 'p'));
            const std::uint64_t number = std::stoull(first);
            const bool is_good = are_same && seen == entries && number >= last && text &&
                                 *text == std::string(9000, static_cast<char>('a' + number % 26));
            if (!is_good) ::_exit(2);
            last = number;
            if (number == 1'000'000) ::_exit(looks > 5 ? 0 : 3);
        }
    }
    std::mt19937 random(5);
    std::uint64_t next = 1;
    for (int round = 0; round < 60 || next <= 60; ++round) {
        const pid_t writer = ::fork();
        if (writer == 0) {
            const auto engine = open();
            for (std::uint64_t number = next;; ++number) change_all(*engine, number);
        }
        ::usleep(static_cast<useconds_t>(random() % 20'000));
        ::kill(writer, SIGKILL);
        ::waitpid(writer, nullptr, 0);
        const auto engine = open();
        const auto reading = engine->read();
        const auto there = reading->get(Table::keys, name_of(0));
        ASSERT_TRUE(there.has_value());
        next = std::stoull(std::string(*there)) + 1;
    }
    change_all(*open(), 1'000'000);
    for (const pid_t reader : readers) {
        int status = 0;
        ::waitpid(reader, &status, 0);
        EXPECT_EQ(status, 0) << (WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    }
}

}  // namespace
}  // namespace pmemcpy::index
