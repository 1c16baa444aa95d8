// What every engine has to do. It runs on trees of pages, and on a plain map, so that it is known to ask for no more than the promise.
// Length: one suite, and the plain engine that it runs on too.

#include "index/engine/engine.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <pmemcpy/error.hpp>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "index/engine/packed.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::index {
namespace {

struct Content {
    std::array<std::map<std::string, std::string>, table_count> tables;
    /// Key, place, whether it is a group, and id.
    using Posted = std::tuple<std::string, std::uint64_t, bool, std::string>;
    std::array<std::set<Posted>, table_count> posted;
    std::uint64_t commits = 0;
    const auto& of(Table table) const { return tables[static_cast<std::size_t>(table)]; }
    const auto& postings(Table table) const { return posted[static_cast<std::size_t>(table)]; }
    auto& postings(Table table) { return posted[static_cast<std::size_t>(table)]; }
    auto& of(Table table) { return tables[static_cast<std::size_t>(table)]; }
};

/// In memory, and seen by one process.
class Plain final : public Engine {
    template <class Promise>
    class Entries : public Promise {
    public:
        explicit Entries(std::shared_ptr<Content> now) : now_(std::move(now)), content_(*now_) {}
        std::optional<std::string_view> get(Table table, std::string_view key) const override {
            const auto found = content_.of(table).find(std::string(key));
            if (found == content_.of(table).end()) return {};
            return found->second;
        }
        void walk(Table table, std::string_view from, const Reading::Visit& visit) const override {
            const auto& entries = content_.of(table);
            for (auto at = entries.lower_bound(std::string(from)); at != entries.end(); ++at) {
                if (!visit(at->first, at->second)) return;
            }
        }
        void walk_postings(Table table, std::string_view from,
                           const Reading::VisitPosting& visit) const override {
            const auto& postings = content_.postings(table);
            for (auto at = postings.lower_bound({std::string(from), 0, false, {}}); at != postings.end();
                 ++at) {
                const auto& [key, place, is_group, id] = *at;
                if (!visit(key, {place, id, is_group})) return;
            }
        }
        void walk_packs(std::string_view from, const Reading::VisitPack& visit) const override {
            walk_postings(Table::names, from, [&](std::string_view key, const Posting& posting) {
                std::string pack;
                add_to_pack(pack, key, posting);
                return visit(pack, std::string(key) + '\0');
            });
        }
        void add_posted(Table table, std::string_view key, std::vector<Posting>& postings) const override {
            walk_postings(table, key, [&](std::string_view there, const Posting& posting) {
                if (there == key) postings.push_back(posting);
                return there == key;
            });
        }
        std::uint64_t size(Table table) const override {
            return content_.postings(table).size() + content_.of(table).size();
        }

    protected:
        std::shared_ptr<Content> now_;
        Content content_;
    };
    class AsItWas final : public Entries<Snapshot> {
    public:
        using Entries::Entries;
        void rest() override { content_ = {}; }
        void renew() override { content_ = *now_; }
        std::uint64_t commits() const override { return content_.commits; }
    };
    class Changing final : public Entries<Writing> {
    public:
        using Entries::Entries;
        void put(Table table, std::string_view key, std::string_view value) override {
            content_.of(table)[std::string(key)] = value;
        }
        void erase(Table table, std::string_view key) override { content_.of(table).erase(std::string(key)); }
        void post(Table table, std::string_view key, const Posting& posting) override {
            content_.postings(table).insert(posted(table, key, posting));
        }
        void unpost(Table table, std::string_view key, const Posting& posting) override {
            content_.postings(table).erase(posted(table, key, posting));
        }
        static Content::Posted posted(Table table, std::string_view key, const Posting& posting) {
            return {std::string(key), posting.place, posting.is_group,
                    std::string(table == Table::attributes ? posting.id : std::string_view())};
        }
        void commit() override {
            ++content_.commits;
            *now_ = content_;
        }
    };

public:
    std::unique_ptr<Snapshot> read() const override { return std::make_unique<AsItWas>(now_); }
    std::unique_ptr<Writing> write() override { return std::make_unique<Changing>(now_); }
    bool is_there() const override { return true; }
    void sync() override {}
    void copy_to(const std::string&) const override {}
    std::uint64_t bytes() const override { return 0; }
    bool is_full() const override { return false; }

private:
    std::shared_ptr<Content> now_ = std::make_shared<Content>();
};

constexpr std::uint64_t bytes = 64ULL << 20;
constexpr Table asked = Table::attributes;

std::string key_of(std::uint64_t place) { return {reinterpret_cast<const char*>(&place), sizeof place}; }

class engine : public ::testing::TestWithParam<bool> {
protected:
    std::shared_ptr<Engine> open() {
        if (!GetParam()) return plain_;
        return open_engine(folder_.path(), bytes, 0600);
    }
    static std::vector<std::pair<std::string, std::uint64_t>> postings(const Reading& reading,
                                                                       std::string_view from,
                                                                       Table table = asked) {
        std::vector<std::pair<std::string, std::uint64_t>> all;
        reading.walk_postings(table, from, [&](std::string_view key, const Posting& posting) {
            all.emplace_back(key, posting.place);
            return true;
        });
        return all;
    }
    Folder folder_;
    std::shared_ptr<Engine> plain_ = std::make_shared<Plain>();
};

TEST_P(engine, gives_back_what_was_committed_and_nothing_else) {
    const auto one = open();
    {
        const auto writing = one->write();
        writing->put(Table::keys, "a", "1");
        EXPECT_EQ(writing->get(Table::keys, "a"), "1");  // itself
        EXPECT_FALSE(one->read()->get(Table::keys, "a"));
    }
    EXPECT_FALSE(one->read()->get(Table::keys, "a"));
    {
        const auto writing = one->write();
        writing->put(Table::keys, "a", "1");
        writing->put(Table::keys, "a", "2");
        writing->put(Table::about, "a", "other");
        writing->erase(Table::pending, key_of(7));
        writing->commit();
    }
    EXPECT_EQ(one->read()->get(Table::keys, "a"), "2");
    EXPECT_EQ(one->read()->get(Table::about, "a"), "other");
    EXPECT_EQ(one->read()->size(Table::keys), 1U);
    EXPECT_EQ(one->read()->size(Table::pending), 0U);
}

TEST_P(engine, a_reading_stays_as_it_was) {
    const auto one = open();
    const auto before = one->read();
    {
        const auto writing = one->write();
        writing->post(asked, "k", {7});
        writing->commit();
    }
    EXPECT_TRUE(postings(*before, "").empty());
    EXPECT_EQ(postings(*one->read(), "").size(), 1U);
}

TEST_P(engine, a_snapshot_can_be_had_again_as_of_a_later_moment) {
    const auto one = open();
    const auto snapshot = one->read();
    const std::uint64_t commits = snapshot->commits();
    EXPECT_TRUE(postings(*snapshot, "").empty());
    snapshot->rest();
    snapshot->renew();
    EXPECT_EQ(snapshot->commits(), commits);
    for (std::uint64_t place = 1; place < 4; ++place) {
        const auto writing = one->write();
        writing->post(asked, "k", {2 * place});
        writing->put(Table::keys, "a", std::to_string(place));
        writing->commit();
        EXPECT_EQ(postings(*snapshot, "").size(), place - 1);
        snapshot->rest();
        snapshot->renew();
        EXPECT_NE(snapshot->commits(), commits);
        EXPECT_EQ(postings(*snapshot, "k").size(), place);
        EXPECT_EQ(snapshot->get(Table::keys, "a"), std::to_string(place));
    }
    snapshot->rest();
}

TEST_P(engine, has_the_places_under_one_posting) {
    const auto one = open();
    const auto writing = one->write();
    std::vector<std::uint64_t> wanted;
    for (std::uint64_t place = 3000; place-- > 0;) writing->post(asked, "b", {place * 64});
    for (std::uint64_t place = 0; place < 3000; ++place) wanted.push_back(place * 64);
    for (const char* other : {"a", "ba", "c"}) writing->post(asked, other, {2});
    const auto places = [](const Reading& reading, std::string_view key) {
        std::vector<Posting> postings;
        reading.add_posted(asked, key, postings);
        std::vector<std::uint64_t> all;
        all.reserve(postings.size());
        for (const Posting& posting : postings) all.push_back(posting.place);
        return all;
    };
    EXPECT_EQ(places(*writing, "b"), wanted);  // itself
    writing->commit();
    const auto snapshot = one->read();
    EXPECT_EQ(places(*snapshot, "b"), wanted);
    EXPECT_TRUE(places(*snapshot, "bb").empty());
    EXPECT_EQ(places(*snapshot, "ba"), std::vector<std::uint64_t>{2});
}

TEST_P(engine, says_with_each_posting_whether_it_is_a_groups) {
    const auto one = open();
    const auto writing = one->write();
    for (const Table table : {Table::attributes, Table::known, Table::names}) {
        writing->post(table, "k", {64, "g", true});
        writing->post(table, "k", {128, "v"});
        const auto groups = [&] {
            std::vector<std::pair<std::uint64_t, bool>> all;
            writing->walk_postings(table, "k", [&](std::string_view, const Posting& posting) {
                all.emplace_back(posting.place, posting.is_group);
                return true;
            });
            return all;
        };
        using Groups = std::vector<std::pair<std::uint64_t, bool>>;
        EXPECT_EQ(groups(), (Groups{{64, true}, {128, false}}));
        writing->unpost(table, "k", {64, "g"});  // which is not there
        writing->unpost(table, "k", {128, "v"});
        EXPECT_EQ(groups(), (Groups{{64, true}}));
        writing->unpost(table, "k", {64, "g", true});
        EXPECT_TRUE(groups().empty());
    }
}

TEST_P(engine, has_ids_with_the_postings_of_attributes) {
    const auto one = open();
    const std::string longest(longest_posted_id, 'i');
    {
        const auto writing = one->write();
        writing->post(Table::attributes, "k", {256, "run/u"});
        writing->post(Table::attributes, "k", {64, longest});
        writing->post(Table::attributes, "k", {128, {}});
        writing->post(Table::attributes, std::string(longest_key, 'k'), {64, longest});
        writing->post(Table::known, "k", {512, "run/u"});
        writing->commit();
    }
    const auto all = [&](Table table) {
        std::vector<std::pair<std::uint64_t, std::string>> found;
        one->read()->walk_postings(table, "k", [&](std::string_view key, const Posting& posting) {
            if (key == "k") found.emplace_back(posting.place, posting.id);
            return true;
        });
        return found;
    };
    using Found = std::vector<std::pair<std::uint64_t, std::string>>;
    EXPECT_EQ(all(Table::attributes), (Found{{64, longest}, {128, ""}, {256, "run/u"}}));
    EXPECT_EQ(all(Table::known), (Found{{512, ""}}));
    const auto writing = one->write();
    writing->unpost(Table::attributes, "k", {64, "another"});  // which is not there
    writing->unpost(Table::attributes, "k", {256, "run/u"});
    writing->unpost(Table::known, "k", {512, "run/u"});
    writing->commit();
    EXPECT_EQ(all(Table::attributes), (Found{{64, longest}, {128, ""}}));
    EXPECT_TRUE(all(Table::known).empty());
}

TEST_P(engine, finds_things_by_their_places) {
    const auto one = open();
    const auto writing = one->write();
    for (const std::uint64_t place : {1ULL << 40, 255ULL, 256ULL, 64ULL})
        writing->put(Table::objects, key_of(place), "id");
    EXPECT_EQ(writing->get(Table::objects, key_of(256)), "id");
    EXPECT_FALSE(writing->get(Table::objects, key_of(65)));
    writing->erase(Table::objects, key_of(256));
    writing->commit();
    EXPECT_EQ(one->read()->size(Table::objects), 3U);
}

TEST_P(engine, walks_within_a_walk) {
    const auto one = open();
    const auto writing = one->write();
    for (const char* key : {"a", "b", "c"}) writing->post(asked, key, {1});
    writing->commit();
    const auto snapshot = one->read();
    std::string seen;
    snapshot->walk_postings(asked, "a", [&](std::string_view key, const Posting&) {
        seen += key;
        for (const auto& [inner, place] : postings(*snapshot, key)) seen += inner;
        return true;
    });
    EXPECT_EQ(seen, "aabcbbccc");
}

TEST_P(engine, sorts_keys_as_bytes_and_places_as_numbers) {
    const auto one = open();
    const auto writing = one->write();
    for (const std::uint64_t place : {300ULL, 2ULL, 1ULL << 40, 254ULL, 2ULL})
        writing->post(asked, "b", {place});
    writing->post(asked, std::string("b\0", 2), {4});
    writing->post(asked, "\xff", {4});
    writing->post(asked, "a", {8});
    writing->commit();
    const std::vector<std::pair<std::string, std::uint64_t>> wanted = {
        {"b", 2}, {"b", 254}, {"b", 300}, {"b", 1ULL << 40}, {std::string("b\0", 2), 4}, {"\xff", 4}};
    EXPECT_EQ(postings(*one->read(), "b"), wanted);
    EXPECT_EQ(postings(*one->read(), "aa"), wanted);
    EXPECT_EQ(one->read()->size(asked), 7U);
}

TEST_P(engine, does_as_a_map_does) {
    const auto one = open();
    std::mt19937 random(20261123);
    const std::array<std::string, 5> names = {"", "a", std::string(longest_posted_id, 'b'), "cc", ""};
    const auto draw_key = [&] {
        std::string key;
        for (std::size_t i = 1 + random() % 3; i > 0; --i)
            key.push_back(static_cast<char>(random() % 3 * 127));
        if (random() % 50 == 0) key.resize(longest_key, 'x');
        return key;
    };
    for (const Table table : {Table::attributes, Table::names}) {
        std::set<std::pair<std::string, std::uint64_t>> wanted;
        for (int round = 0; round < 200; ++round) {
            const auto writing = one->write();
            auto next = wanted;
            // They become many, few and many again.
            const int chance = round % 50 < 25 ? 3 : 1;
            for (int i = 0; i < 40; ++i) {
                const std::string key = draw_key();
                const std::uint64_t drawn = random() % 5;
                const std::uint64_t place = 2 * drawn;
                const Posting posting{place, names[drawn], drawn == 3};
                if (random() % 4 < static_cast<unsigned>(chance)) {
                    writing->post(table, key, posting);
                    next.emplace(key, place);
                } else {
                    writing->unpost(table, key, posting);
                    next.erase({key, place});
                }
            }
            if (random() % 4 == 0) continue;  // goes without commit
            writing->commit();
            wanted = next;
            const std::string from = draw_key();
            const auto found = postings(*one->read(), from, table);
            const std::vector<std::pair<std::string, std::uint64_t>> expected(wanted.lower_bound({from, 0}),
                                                                              wanted.end());
            ASSERT_EQ(found, expected) << "round " << round;
        }
    }
}

// One behind the other, the last first, and in no order; and all of them go again.
TEST_P(engine, packs_names_in_whatever_order_they_come) {
    const auto one = open();
    constexpr std::uint64_t count = 2000;
    const auto name = [](std::uint64_t i) { return std::string(1 + i % 90, 'n') + std::to_string(i); };
    std::vector<std::uint64_t> sorted(count);
    for (std::uint64_t i = 0; i < count; ++i) sorted[i] = i;
    std::sort(sorted.begin(), sorted.end(),
              [&](std::uint64_t a, std::uint64_t b) { return name(a) < name(b); });
    std::vector<std::uint64_t> reversed(sorted.rbegin(), sorted.rend());
    std::vector<std::uint64_t> shuffled = sorted;
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(7));
    for (const auto& order : {sorted, reversed, shuffled}) {
        const auto writing = one->write();
        for (const std::uint64_t i : order) writing->post(Table::names, name(i), {2 * i});
        for (const std::uint64_t i : order) writing->post(Table::names, name(i), {2 * i});  // once is enough
        std::vector<std::pair<std::string, std::uint64_t>> wanted;
        wanted.reserve(count);
        for (const std::uint64_t i : sorted) wanted.emplace_back(name(i), 2 * i);
        EXPECT_EQ(postings(*writing, "", Table::names), wanted);
        std::vector<Posting> posted;
        writing->add_posted(Table::names, name(order[7]), posted);
        ASSERT_EQ(posted.size(), 1U);
        EXPECT_EQ(posted.front().place, 2 * order[7]);
        if (!GetParam()) continue;
        EXPECT_LT(writing->size(Table::names), count / 6);  // few entries
        for (const std::uint64_t i : order) writing->unpost(Table::names, name(i), {2 * i});
        EXPECT_EQ(writing->size(Table::names), 0U);
        EXPECT_TRUE(postings(*writing, "", Table::names).empty());
        writing->commit();
    }
}

TEST_P(engine, finds_any_number_of_objects_under_one_name) {
    const auto one = open();
    const auto writing = one->write();
    std::vector<std::pair<std::string, std::uint64_t>> wanted;
    for (std::uint64_t place = 0; place < 1000; place += 2) {
        for (const char* key : {"a", "b", "c"}) writing->post(Table::names, key, {place});
    }
    for (const char* key : {"b", "c"}) {
        for (std::uint64_t place = 0; place < 1000; place += 2) wanted.emplace_back(key, place);
    }
    EXPECT_EQ(postings(*writing, "b", Table::names), wanted);
    for (std::uint64_t place = 0; place < 1000; place += 2) writing->unpost(Table::names, "b", {place});
    EXPECT_EQ(postings(*writing, "b", Table::names).size(), 500U);
    EXPECT_EQ(postings(*writing, "a", Table::names).size(), 1000U);
}

INSTANTIATE_TEST_SUITE_P(plain, engine, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(tree, engine, ::testing::Values(true));

class tree : public ::testing::Test {
protected:
    Folder folder_;
    std::shared_ptr<Engine> open(std::uint64_t at_most = bytes) {
        return open_engine(folder_.path(), at_most, 0600);
    }
    static void post(Engine& engine, const std::string& key) {
        const auto writing = engine.write();
        writing->post(asked, key, {1});
        writing->commit();
    }
};

TEST_F(tree, is_one_for_all_who_open_it_in_a_process) {
    const auto one = open();
    {
        const auto two = open_engine_if_there(folder_.path(), bytes);
        post(*two, "a");
    }
    post(*one, "b");
    EXPECT_EQ(one->read()->size(asked), 2U);
}

TEST_F(tree, loses_nothing_that_a_killed_process_has_committed) {
    constexpr int rounds = 20;
    std::uint64_t posted = 0;
    for (int round = 0; round < rounds; ++round) {
        std::array<int, 2> said{};
        ASSERT_EQ(::pipe(said.data()), 0);
        const pid_t child = ::fork();
        if (child == 0) {
            const auto mine = open();
            for (int i = 0;; ++i) {
                post(*mine, std::to_string(round) + "." + std::to_string(i));
                const char byte = 1;
                if (::write(said[1], &byte, 1) != 1) ::_exit(1);
            }
        }
        ::close(said[1]);
        char byte = 0;
        for (int i = 0; i < 20 + round; ++i) {
            ASSERT_EQ(::read(said[0], &byte, 1), 1);
            ++posted;
        }
        ::kill(child, SIGKILL);
        while (::read(said[0], &byte, 1) == 1) ++posted;
        ::close(said[0]);
        ::waitpid(child, nullptr, 0);
        const std::uint64_t there = open()->read()->size(asked);
        ASSERT_GE(there, posted);
        ASSERT_LE(there, posted + 1);
        posted = there;
    }
}

TEST_F(tree, says_that_it_is_full_and_is_as_it_was) {
    const auto one = open(4 << 20);
    EXPECT_FALSE(one->is_full());
    post(*one, "first");
    try {
        for (int i = 0; i < 1'000'000; ++i) {
            const auto writing = one->write();
            for (int k = 0; k < 100; ++k)
                writing->put(Table::keys, std::to_string(i * 100 + k), std::string(500, 'x'));
            writing->commit();
        }
        FAIL() << "it is never full";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::no_space) << error.what();
    }
    EXPECT_TRUE(one->is_full());
    EXPECT_EQ(one->read()->size(asked), 1U);
    EXPECT_EQ(one->read()->size(Table::keys) % 100, 0U);
}

TEST_F(tree, notices_that_it_was_removed) {
    const auto one = open();
    EXPECT_TRUE(one->is_there());
    std::filesystem::remove(folder_ / tree_file);
    EXPECT_FALSE(one->is_there());
}

TEST_F(tree, refuses_what_is_none) {
    std::ofstream(folder_ / tree_file) << std::string(100'000, 'x');
    try {
        open();
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::corrupt) << error.what();
    }
}

TEST_F(tree, says_so_when_a_pack_of_names_makes_no_sense) {
    const auto one = open();
    const auto writing = one->write();
    writing->post(Table::names, "name", {2});
    const std::string whole(writing->get(Table::names, std::string_view("\0", 1)).value());
    for (const std::string& pack : {whole.substr(0, whole.size() - 1), whole.substr(0, 9), whole + "x"}) {
        writing->put(Table::names, std::string_view("\0", 1), pack);
        try {
            writing->walk_postings(Table::names, "", [](std::string_view, const Posting&) { return true; });
            FAIL();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::corrupt) << error.what();
        }
    }
}

TEST_F(tree, a_copy_never_changes_and_needs_no_lock) {
    const auto one = open();
    post(*one, "a");
    one->copy_to(folder_ / "copy");
    post(*one, "b");
    std::filesystem::permissions(folder_ / "copy", std::filesystem::perms{0400});
    const auto copy = open_copy(folder_ / "copy");
    EXPECT_EQ(copy->read()->size(asked), 1U);
    EXPECT_EQ(one->read()->size(asked), 2U);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "copy-lock"));
}

TEST_F(tree, many_threads_read_while_one_writes) {
    const auto one = open();
    std::atomic<bool> stops = false;
    std::vector<std::thread> readers;
    readers.reserve(3);
    for (int t = 0; t < 3; ++t) {
        readers.emplace_back([&] {
            std::uint64_t last = 0;
            while (!stops) {
                const std::uint64_t now = one->read()->size(asked);
                ASSERT_GE(now, last);
                last = now;
            }
        });
    }
    for (int i = 0; i < 2000; ++i) post(*one, std::to_string(i));
    stops = true;
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(one->read()->size(asked), 2000U);
}

}  // namespace
}  // namespace pmemcpy::index
