// Length: each promise of scopes to one user of one pool.
#include <pmemcpy/scope.hpp>
#include <pmemcpy/tiers.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "pmem/move.hpp"
#include "pmem/scope_suite.hpp"
#include "pmem/sides.hpp"
#include "tests/inside.hpp"

using namespace pmemcpy;
namespace fs = std::filesystem;

namespace {

store::Store& shared_store(PMEM& pool) { return *pmem::Sides::of(pool).shared(); }
store::Store& own_side(PMEM& pool) { return *pmem::Sides::of(pool).own_store(); }

/// What another user stores, who sees nothing private.
void store_as_another(PMEM& pool, const std::string& id) {
    shared_store(pool).store_value(id, Type::string(), SerializerType::bp4,
                                   *make_encoder(SerializerType::bp4, std::string("theirs")));
}

}  // namespace

TEST_F(scope, what_is_private_is_in_no_file_that_others_may_read) {
    PMEM pool = open(small());
    set_index_mode(pool, IndexMode::sync);
    pool.store("secretname", std::string("secretvalue"));
    pool.set_attribute("secretname", "secretkey", "secretattribute");
    pool.store("large", repeated("secretlarge", 100'000));
    pool.store("large", repeated("secretlarger", 200'000));  // the older one is free space by now
    pool.store("middle", repeated("secretmiddle", 3'000));
    pool.alloc<char>("array", Dimensions{300'000});
    const std::string elements = repeated("secretelements", 300'000);
    pool.store("array", elements.data(), Box{{0}, {300'000}});
    pool.store("public", std::string("publicvalue"));
    for (const char* id : {"secretname", "large", "middle", "array"}) {
        EXPECT_EQ(scope_of(pool, id), Scope::shared);
        set_scope(pool, id, Scope::own);
        EXPECT_EQ(scope_of(pool, id), Scope::own);
    }
    expect_nowhere("secret");
    EXPECT_FALSE(files_with("publicvalue").empty());
    EXPECT_EQ(pool.load<std::string>("secretname"), "secretvalue");
    EXPECT_EQ(pool.get_attribute<std::string>("secretname", "secretkey"), "secretattribute");
    EXPECT_EQ(pool.load<std::string>("large"), repeated("secretlarger", 200'000));
    std::string loaded(300'000, ' ');
    pool.load("array", loaded.data(), Box{{0}, {300'000}});
    EXPECT_EQ(loaded, elements.substr(0, 300'000));
    EXPECT_EQ(pool.ids(), (std::vector<std::string>{"array", "large", "middle", "public", "secretname"}));
    pool.munmap();
    expect_nowhere("secret");
    pool = open(small());
    EXPECT_EQ(pool.load<std::string>("secretname"), "secretvalue");
    EXPECT_TRUE(pool.verify().empty());
    struct stat own {};
    ASSERT_EQ(::stat(own_path().c_str(), &own), 0);
    EXPECT_EQ(own.st_mode & 0777U, 0600U);
}

TEST_F(scope, what_is_stored_later_stays_on_its_side) {
    PMEM pool = open(small());
    pool.store("a", 1);
    set_scope(pool, "a", Scope::own);
    pool.store("a", 2);
    pool.set_attribute("a", "units", "secretunits");
    EXPECT_EQ(pool.load<int>("a"), 2);
    EXPECT_EQ(scope_of(pool, "a"), Scope::own);
    expect_nowhere("secretunits");
    private_side(pool).store("notes", std::string("secretnotes"));
    EXPECT_EQ(pool.load<std::string>("notes"), "secretnotes");
    expect_nowhere("secretnotes");
    pool.rename("notes", "g/notes");
    EXPECT_EQ(scope_of(pool, "g/notes"), Scope::own);
    pool.erase("a");
    EXPECT_FALSE(pool.exists("a"));
    pool.store("a", 3);
    EXPECT_EQ(scope_of(pool, "a"), Scope::shared);
}

TEST_F(scope, a_group_is_private_with_what_is_in_it_and_what_comes) {
    PMEM pool = open(small());
    pool.store("g/x", std::string("secretx"));
    pool.store("g/h/y", std::string("secrety"));
    pool.set_attribute("g", "title", "secrettitle");
    pool.store("other", 1);
    set_scope(pool, "g", Scope::own);
    pool.store("g/z", std::string("secretz"));
    pool.store("g/h/deep/z", std::string("secretdeep"));
    EXPECT_EQ(scope_of(pool, "g"), Scope::own);
    EXPECT_EQ(scope_of(pool, "g/h"), Scope::own);
    EXPECT_EQ(scope_of(pool, "g/h/deep/z"), Scope::own);
    expect_nowhere("secret");
    EXPECT_EQ(pool.groups(), (std::vector<std::string>{"g", "g/h", "g/h/deep"}));
    EXPECT_EQ(pool.get_attribute<std::string>("g", "title"), "secrettitle");
    EXPECT_EQ(pool.attributes("g"), std::vector<std::string>{"title"});
    expect_error(Code::unsupported, [&] { pool.rename("other", "g/other"); });
    set_scope(pool, "g", Scope::shared);
    for (const char* id : {"g", "g/h", "g/x", "g/h/y", "g/z", "g/h/deep/z"})
        EXPECT_EQ(scope_of(pool, id), Scope::shared) << id;
    EXPECT_EQ(pool.get_attribute<std::string>("g", "title"), "secrettitle");
    EXPECT_EQ(private_side(pool).ids(), std::vector<std::string>{});
    pool.store("g/again", 1);
    EXPECT_EQ(scope_of(pool, "g/again"), Scope::shared);
}

TEST_F(scope, one_of_a_group_may_be_private) {
    PMEM pool = open(small());
    pool.store("g/x", 1);
    pool.store("g/y", 2);
    pool.set_attribute("g", "title", "shared title");
    set_scope(pool, "g/x", Scope::own);
    EXPECT_EQ(scope_of(pool, "g"), Scope::shared);
    EXPECT_EQ(pool.get_attribute<std::string>("g", "title"), "shared title");
    EXPECT_EQ(pool.groups(), std::vector<std::string>{"g"});
    pool.store("g/new", 3);
    EXPECT_EQ(scope_of(pool, "g/new"), Scope::shared);
    expect_error(Code::busy, [&] { pool.erase("g"); });
    for (const char* id : {"g/x", "g/y", "g/new"}) pool.erase(id);
    pool.erase("g");
    EXPECT_FALSE(pool.exists("g"));
    EXPECT_EQ(pool.groups(), std::vector<std::string>{});
}

TEST_F(scope, a_move_creates_nothing) {
    Options options = small();
    options.program = "solver";
    options.ranks = 8;
    open(options).store("g/u", 1);
    PMEM pool = open(small());
    const std::uint64_t created = pool.creation("g/u").created_ns;
    const std::uint64_t group_created = pool.creation("g").created_ns;
    for (const Scope to : {Scope::own, Scope::shared}) {
        set_scope(pool, "g", to);
        EXPECT_EQ(pool.creation("g/u").program, "solver");
        EXPECT_EQ(pool.creation("g/u").ranks, 8U);
        EXPECT_EQ(pool.creation("g/u").created_ns, created);
        EXPECT_EQ(pool.creation("g").created_ns, group_created);
    }
}

TEST_F(scope, a_query_finds_both_sides_and_shares) {
    for (const IndexMode mode : {IndexMode::none, IndexMode::sync}) {
        PMEM pool = open(small());
        set_index_mode(pool, mode);
        for (int i = 0; i < 6; ++i) {
            const std::string id = "v" + std::to_string(i);
            pool.store(id, i);
            pool.set_attribute(id, "k", i);
        }
        EXPECT_EQ(share(pool, "k >= 3", Scope::own), 3U);
        std::vector<std::string> found;
        for (const Found& one : query(pool, "k > 1 order by k desc")) found.push_back(one.id);
        EXPECT_EQ(found, (std::vector<std::string>{"v5", "v4", "v3", "v2"}));
        EXPECT_EQ(count(pool, "k >= 0").front().objects, 6U);
        EXPECT_EQ(share(pool, "k >= 4"), 2U);
        EXPECT_EQ(share(pool, "k >= 4"), 0U);
        EXPECT_EQ(scope_of(pool, "v3"), Scope::own);
        EXPECT_EQ(scope_of(pool, "v4"), Scope::shared);
        set_scope(pool, "v3", Scope::shared);
        for (const std::string& id : pool.ids()) pool.erase(id);
    }
}

TEST_F(scope, others_of_the_same_user_hear_of_it) {
    Options options = small(true);
    PMEM first = open(options);
    PMEM second = open(options);
    first.store("x", 1);
    EXPECT_EQ(second.load<int>("x"), 1);
    set_scope(first, "x", Scope::own);
    EXPECT_EQ(second.load<int>("x"), 1);
    second.store("x", 2);
    EXPECT_EQ(scope_of(first, "x"), Scope::own);
    EXPECT_EQ(first.load<int>("x"), 2);
    set_scope(second, "x", Scope::shared);
    EXPECT_EQ(scope_of(first, "x"), Scope::shared);
    EXPECT_EQ(first.load<int>("x"), 2);
}

TEST_F(scope, begins_to_wipe_when_nobody_else_is_there) {
    PMEM pool = open(small());
    EXPECT_FALSE(pool.info().wipes);
    pool.store("old", repeated("secretold", 5'000));
    pool.erase("old");
    pool.store("x", 1);
    {
        PMEM other = open(small());
        expect_error(Code::busy, [&] { set_scope(pool, "x", Scope::own); });
        EXPECT_EQ(scope_of(pool, "x"), Scope::shared);
        EXPECT_EQ(other.load<int>("x"), 1);
    }
    set_scope(pool, "x", Scope::own);
    EXPECT_TRUE(pool.info().wipes);
    expect_nowhere("secretold");
    PMEM other = open(small());
    EXPECT_TRUE(other.info().wipes);
    other.store("y", repeated("secrety", 5'000));
    other.erase("y");
    expect_nowhere("secrety");
}

// It said "open for writing elsewhere; close it there", and there was no elsewhere.
TEST_F(scope, says_that_a_thread_of_this_process_has_the_pool_open_too) {
    const auto expect_reason = [](const std::function<void()>& call, const std::string& reason) {
        try {
            call();
            ADD_FAILURE() << "expected busy";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::busy);
            EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
        }
    };
    fs::create_directory(path() + ".below");
    Hierarchy hierarchy;
    hierarchy.targets = {
        {.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
        {.name = "below",
         .kind = TargetKind::file,
         .path = path() + ".below",
         .write = {1e8, 1e-3},
         .read = {1e8, 1e-3}}};
    hierarchy.mode = Buffering::write_back;
    {
        PMEM pool = open(small());
        pool.store("x", 1);
        set_hierarchy(pool, hierarchy);
        while (pool.info().attached < 2) ::usleep(1000);
        expect_reason([&] { set_scope(pool, "x", Scope::own); }, "serves its hierarchy");
        expect_reason([&] { share(pool, "name = 'x'", Scope::own); }, "serves its hierarchy");
        remove_hierarchy(pool);
    }
    PMEM pool = open(small());
    set_scope(pool, "x", Scope::own);
    set_hierarchy(pool, hierarchy);
    pool.store("y", 1);
    set_scope(pool, "y", Scope::own);
    EXPECT_EQ(scope_of(pool, "y"), Scope::own);
}

TEST_F(scope, a_view_keeps_what_it_shows_and_the_same_call_again_wipes_it) {
    PMEM pool = open(small(true));
    pool.store("x", repeated("secretx", 100'000));
    {
        const Pinned view = pool.view_bytes("x");
        expect_error(Code::busy, [&] { set_scope(pool, "x", Scope::own); });
        EXPECT_EQ(scope_of(pool, "x"), Scope::own);
        EXPECT_FALSE(files_with("secretx").empty());
        EXPECT_EQ(
            std::string(reinterpret_cast<const char*>(view.bytes().data()) + view.bytes().size() - 7, 7),
            repeated("secretx", 100'000)
                .substr(100'007 - 7 - (100'007 - repeated("secretx", 100'000).size())));
    }
    set_scope(pool, "x", Scope::own);
    expect_nowhere("secretx");
}

// What a process leaves that dies while it moves something, in either direction: it is on both sides.
TEST_F(scope, what_is_on_both_sides_is_private) {
    PMEM pool = open(small(true));
    pool.store("x", std::string("secretx"));
    set_scope(pool, "x", Scope::own);
    pmem::Sides& sides = pmem::Sides::of(pool);
    sides.shared()->store_value("x", Type::string(), SerializerType::bp4,
                                *make_encoder(SerializerType::bp4, std::string("secretother")));
    sides.shared()->store_value(".moving-7", Type::string(), SerializerType::bp4,
                                *make_encoder(SerializerType::bp4, std::string("secretdraft")));
    pmem::Moving{pmem::Moving::Verb::give, "x", sides.shared()->oid("x"), ".moving-7"}.note_in(
        *sides.own_store(), *sides.shared());
    EXPECT_EQ(pool.load<std::string>("x"), "secretx");
    pool.munmap();
    EXPECT_FALSE(files_with("secretdraft").empty());
    pool = open(small());
    EXPECT_EQ(pool.load<std::string>("x"), "secretx");
    expect_nowhere("secret");
    EXPECT_EQ(pool.ids(), std::vector<std::string>{"x"});
    EXPECT_FALSE(pmem::Sides::of(pool).own_store()->note("/", pmem::moving_note));
}

// Whatever was on both sides was taken for what a death had left in a move; but a shared one of that name may be another user's, who sees
// nothing private. A referee lost it by a move that was refused, and by a death in the move of something else.
TEST_F(scope, what_another_user_has_under_the_name_of_something_private_stays) {
    PMEM pool = open(small(true));
    for (const char* id : {"x", "y"}) {
        pool.store(id, std::string("mine"));
        set_scope(pool, id, Scope::own);
    }
    const auto is_shared = [&](const std::string& id) { return shared_store(pool).exists(id); };
    store_as_another(pool, "x");
    try {
        set_scope(pool, "x", Scope::shared);
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::already_exists) << error.what();
    }
    pool.munmap();
    pool = open(small());
    EXPECT_TRUE(is_shared("x")) << "by the next opening, which finishes moves";
    // A process dies while it gives y.
    pmem::Sides& sides = pmem::Sides::of(pool);
    pmem::Moving{pmem::Moving::Verb::give, "y", {}, ".moving-7"}.note_in(*sides.own_store(), *sides.shared());
    pool.munmap();
    pool = open(small());
    EXPECT_TRUE(is_shared("x"));
    EXPECT_FALSE(is_shared("y"));
    EXPECT_EQ(pool.load<std::string>("x"), "mine");
    set_scope(pool, "y", Scope::shared);
    EXPECT_TRUE(is_shared("x"));
    EXPECT_TRUE(is_shared("y"));
}

// In a group that is made private, a name that is private already was taken for one that a death had left on both sides.
TEST_F(scope, another_users_member_of_a_group_stays_when_it_becomes_private) {
    PMEM pool = open(small(true));
    pool.store("g/x", std::string("mine"));
    pool.store("g/y", std::string("mine"));
    set_scope(pool, "g/x", Scope::own);
    store_as_another(pool, "g/x");
    set_scope(pool, "g", Scope::own);
    EXPECT_EQ(pmem::Sides::of(pool).shared()->ids("", false), std::vector<std::string>{"g/x"});
    EXPECT_EQ(pool.load<std::string>("g/x"), "mine");
    EXPECT_EQ(scope_of(pool, "g/y"), Scope::own);
    // A process dies while it takes a member of the group, which it has copied and not yet erased.
    store_as_another(pool, "g/y");
    const Oid copied = pmem::Sides::of(pool).shared()->oid("g/y");
    pmem::Moving{pmem::Moving::Verb::take_group, "g", copied}.note_in(*pmem::Sides::of(pool).own_store(),
                                                                      *pmem::Sides::of(pool).shared());
    pool.munmap();
    pool = open(small());
    EXPECT_EQ(pmem::Sides::of(pool).shared()->ids("", false), std::vector<std::string>{"g/x"});
    EXPECT_FALSE(pmem::Sides::of(pool).own_store()->note("/", pmem::moving_note));
    // And one that has not begun with any.
    pmem::Moving{pmem::Moving::Verb::take_group, "g"}.note_in(*pmem::Sides::of(pool).own_store(),
                                                              *pmem::Sides::of(pool).shared());
    pool.munmap();
    pool = open(small());
    EXPECT_EQ(pmem::Sides::of(pool).shared()->ids("", false), std::vector<std::string>{"g/x"});
}

// A death behind the note alone: each opening for writing would have failed.
TEST_F(scope, a_group_that_nothing_was_taken_of_is_forgotten_where_something_has_its_name) {
    PMEM pool = open(small(true));
    pool.store("g/x", 1);
    private_side(pool).store("g", 2);
    pmem::Moving{pmem::Moving::Verb::take_group, "g"}.note_in(*pmem::Sides::of(pool).own_store(),
                                                              *pmem::Sides::of(pool).shared());
    pool.munmap();
    pool = open(small());
    EXPECT_FALSE(pmem::Sides::of(pool).own_store()->note("/", pmem::moving_note));
    EXPECT_EQ(pmem::Sides::of(pool).shared()->ids("", false), std::vector<std::string>{"g/x"});
    EXPECT_EQ(pool.load<int>("g"), 2);
}

// A death behind the copy, when another user has stored something else under the name since.
TEST_F(scope, what_has_come_since_into_the_place_of_what_was_moved_stays) {
    PMEM pool = open(small(true));
    pool.store("x", std::string("mine"));
    pmem::Sides& sides = pmem::Sides::of(pool);
    const Oid moved = sides.shared()->oid("x");
    set_scope(pool, "x", Scope::own);
    store_as_another(pool, "x");
    pmem::Moving{pmem::Moving::Verb::take, "x", moved}.note_in(*sides.own_store(), *sides.shared());
    pool.munmap();
    pool = open(small());
    EXPECT_TRUE(pmem::Sides::of(pool).shared()->exists("x"));
    EXPECT_EQ(pool.load<std::string>("x"), "mine");
}

// A process looked at what was shared, and waited while another process of its user made that private. When its turn came, it erased without
// a copy what another user had stored under the name since.
TEST_F(scope, what_another_user_stores_while_a_process_waits_for_its_turn_stays) {
    PMEM pool = open(small(true));
    for (const char* id : {"x", "y"}) pool.store(id, std::string("mine"));
    set_scope(pool, "x", Scope::own);
    store_as_another(pool, "x");
    {
        pmem::Move move(pmem::Sides::of(pool), Scope::own);
        move.variable("x");
        move.finish();
    }
    EXPECT_TRUE(shared_store(pool).exists("x"));
    EXPECT_EQ(pool.load<std::string>("x"), "mine");
    // And back: another process of this user has shared y, or has put something else under its name.
    {
        pmem::Move move(pmem::Sides::of(pool), Scope::shared);
        move.variable("y");
        expect_error(Code::busy, [&] { move.group("y"); });
        pool.erase("y");
        expect_error(Code::busy, [&] { move.variable("y"); });
        pool.make_group("y");
        expect_error(Code::busy, [&] { move.variable("y"); });
    }
    EXPECT_FALSE(own_side(pool).note("/", pmem::moving_note));
}

// A private group was taken for the copy of another user's variable of its name, which was erased.
TEST_F(scope, another_users_variable_with_the_name_of_a_private_group_stays) {
    PMEM pool = open(small(true));
    private_side(pool).store("x/y", std::string("mine"));
    store_as_another(pool, "x");
    expect_error(Code::already_exists, [&] { set_scope(pool, "x", Scope::own); });
    EXPECT_TRUE(shared_store(pool).exists("x"));
    pool.munmap();
    pool = open(small());
    EXPECT_TRUE(shared_store(pool).exists("x")) << "by the next opening, which finishes moves";
    EXPECT_EQ(private_side(pool).load<std::string>("x/y"), "mine");
    // And in a group that becomes private.
    private_side(pool).store("g/x/y", std::string("mine"));
    store_as_another(pool, "g/x");
    set_scope(pool, "g", Scope::own);
    EXPECT_TRUE(shared_store(pool).exists("g/x"));
}

TEST_F(scope, a_file_that_others_may_open_is_refused) {
    open(small()).munmap();
    {
        PMEM planted;
        Options options = small();
        options.permissions = 0644;
        planted.mmap(own_path(), options);
    }
    if (struct stat own{}; ::stat(own_path().c_str(), &own) == 0 && (own.st_mode & 0077U) == 0)
        GTEST_SKIP() << "the umask leaves others nothing";
    expect_error(Code::permission_denied, [&] { open(small()); });
}

TEST_F(scope, tells_what_is_not_there_and_not_possible) {
    PMEM pool = open(small());
    expect_error(Code::not_found, [&] { set_scope(pool, "nothing", Scope::own); });
    expect_error(Code::not_found, [&] { static_cast<void>(scope_of(pool, "nothing")); });
    expect_error(Code::unsupported, [&] { set_scope(pool, "/", Scope::own); });
    pool.store("x", 1);
    set_scope(pool, "x", Scope::shared);  // nothing happens
    EXPECT_FALSE(fs::exists(own_path()));
    pool.munmap();
    Options reading = small();
    reading.mode = Mode::read;
    pool = open(reading);
    expect_error(Code::not_found, [&] { private_side(pool); });
    expect_error(Code::permission_denied, [&] { set_scope(pool, "x", Scope::own); });
    expect_error(Code::invalid_argument, [&] { parse_scope("secret"); });
}

TEST_F(scope, a_pool_in_a_directory_wipes_and_has_a_private_side_too) {
    PMEM pool;
    pool.mmap(folder_ / "run.pmem/", small());
    pool.store("x", repeated("secretx", 100'000));
    pool.store("small", std::string("secretsmall"));
    set_scope(pool, "x", Scope::own);
    set_scope(pool, "small", Scope::own);
    std::vector<std::string> found;
    for (const std::string& file : files_with("secret")) {
        if (file.find(".private-") == std::string::npos) found.push_back(file);
    }
    EXPECT_EQ(found, std::vector<std::string>{});
    EXPECT_EQ(pool.load<std::string>("small"), "secretsmall");
    pool.munmap();
    pool.mmap(folder_ / "run.pmem/", small());
    EXPECT_EQ(pool.load<std::string>("x"), repeated("secretx", 100'000));
}

TEST_F(scope, every_byte_that_is_free_is_zero_in_a_pool_that_wipes) {
    PMEM pool = open(small(true));
    pool.alloc<double>("u", {unlimited, 100});
    std::vector<double> row(100);
    for (std::size_t i = 0; i < 200; ++i) {
        std::iota(row.begin(), row.end(), static_cast<double>(i));
        pool.store("u", row.data(), Box{{i, 0}, {1, 100}});
        pool.store("t" + std::to_string(i % 7), repeated("text", 10 + i * i));
        if (i % 5 == 4) pool.erase("t" + std::to_string(i % 7));
        if (i % 50 == 49) pool.store("u", std::vector<double>(i * 100).data(), Box{{0, 0}, {i, 100}});
    }
    pool.compact();
    pool.munmap();
    Inside inside(path());
    EXPECT_FALSE(inside.heap().find_unwiped());
    EXPECT_EQ(inside.audit().complaints, std::vector<std::string>{});
}

TEST_F(scope, the_shared_side_alone_is_what_others_see) {
    PMEM pool = open(small());
    pool.store("g/open", std::int64_t{1});
    private_side(pool).store("g/secret", std::int64_t{2});
    PMEM seen = shared_side(pool);
    expect_error(Code::permission_denied, [&] { seen.store("more", std::int64_t{3}); });
    EXPECT_EQ(seen.ids(), std::vector<std::string>{"g/open"});
    EXPECT_EQ(scope_of(seen, "g/open"), Scope::shared);
    EXPECT_FALSE(seen.exists("g/secret"));
    set_scope(pool, "g/open", Scope::own);
    EXPECT_FALSE(seen.exists("g/open"));
    expect_error(Code::not_found, [&] { scope_of(seen, "g/open"); });
    expect_error(Code::invalid_argument, [&] { shared_side(private_side(pool)); });
    expect_error(Code::invalid_argument, [&] { shared_side(seen); });
}
