// Every order of set_scope() on groups and their members has the result of a simple model. A group that was shared again in a private
// one was listed and not found, and erase_all() of the private one was busy for good.

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <pmemcpy/groups.hpp>
#include <random>

#include "array/id.hpp"
#include "pmem/scope_suite.hpp"
#include "pmem/sides.hpp"

using namespace pmemcpy;
using Names = std::vector<std::string>;

namespace {

/// Scopes as the documents have them.
class Model {
public:
    struct Group {
        std::optional<Scope> said{};
        int title = 0;  // 0: none
    };
    std::map<std::string, Scope> variables;
    std::map<std::string, Group> groups;

    Scope around(const std::string& id) const {
        const auto parents = array::parents(id);
        for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
            const auto group = groups.find(std::string(*parent));
            if (group != groups.end() && group->second.said) return *group->second.said;
        }
        return Scope::shared;
    }
    Scope scope(const std::string& id) const {
        if (const auto variable = variables.find(id); variable != variables.end()) return variable->second;
        const auto& said = groups.at(id).said;
        return said ? *said : around(id);
    }
    void make_groups_around(const std::string& id, Scope side) {
        for (const std::string_view parent : array::parents(id)) make_group(std::string(parent), side);
    }
    /// A group that something private makes is private.
    void make_group(const std::string& id, Scope side) {
        make_groups_around(id, side);
        if (groups.try_emplace(id).second && side == Scope::own && around(id) == Scope::shared)
            groups[id].said = Scope::own;
    }
    void set_scope(const std::string& id, Scope to) {
        if (variables.contains(id)) {
            variables[id] = to;
            return;
        }
        groups[id].said.reset();
        if (around(id) != to || to == Scope::own) groups[id].said = to;
        for (auto& [name, group] : groups) {
            if (name.starts_with(id + "/")) group.said.reset();
        }
        for (auto& [name, side] : variables) {
            if (name.starts_with(id + "/")) side = to;
        }
    }
    bool is_empty(const std::string& group) const {
        const auto lies_in = [&](const auto& one) { return one.first.starts_with(group + "/"); };
        return std::none_of(groups.begin(), groups.end(), lies_in) &&
               std::none_of(variables.begin(), variables.end(), lies_in);
    }
    bool has(const std::string& id) const { return variables.contains(id) || groups.contains(id); }
    void erase_all(const std::string& id) {
        const auto goes = [&](const auto& one) { return one.first == id || one.first.starts_with(id + "/"); };
        std::erase_if(variables, goes);
        std::erase_if(groups, goes);
    }
};

const Names variables = {"v", "a/x", "a/b/y", "a/b/c/z", "a/d/w", "e/u"};
const Names groups = {"a", "a/b", "a/b/c", "a/d", "e"};

void expect_as(const Model& model, PMEM& pool) {
    Names ids, names, shared;
    for (const auto& [id, scope] : model.variables) {
        ids.push_back(id);
        if (scope == Scope::shared) shared.push_back(id);
    }
    for (const auto& [id, group] : model.groups) {
        names.push_back(id);
        if (group.title == 0) {
            EXPECT_EQ(pool.attributes(id), Names{}) << id;
        } else {
            EXPECT_EQ(pool.get_attribute<int>(id, "title"), group.title) << id;
        }
    }
    EXPECT_EQ(pool.ids(), ids);
    EXPECT_EQ(pool.groups(), names);
    EXPECT_EQ(pmem::Sides::of(pool).shared()->ids("", false), shared);
    for (const Names& all : {variables, groups}) {
        for (const std::string& id : all) {
            ASSERT_EQ(pool.exists(id), model.has(id)) << id;
            if (!model.has(id)) continue;
            EXPECT_EQ(std::string(name_of(scope_of(pool, id))), name_of(model.scope(id))) << id;
        }
    }
}

}  // namespace

TEST_F(scope, a_group_is_shared_again_in_a_private_one_and_goes_with_it) {
    PMEM pool = open(small());
    pool.store("g/h/x", 1);
    set_scope(pool, "g", Scope::own);
    set_scope(pool, "g/h", Scope::shared);
    EXPECT_TRUE(pool.exists("g/h"));
    EXPECT_EQ(scope_of(pool, "g/h"), Scope::shared);
    EXPECT_EQ(scope_of(pool, "g"), Scope::own);
    pool.store("g/h/new", 2);
    pool.store("g/private", 3);
    EXPECT_EQ(pmem::Sides::of(pool).shared()->ids("", false), (Names{"g/h/new", "g/h/x"}));
    EXPECT_EQ(erase_all(pool, "g"), 5U);
    EXPECT_FALSE(pool.exists("g"));
    EXPECT_EQ(pool.groups(), Names{});
}

// The note of the group went with it and came back behind it: what was stored in between became private, and a death in between left it so.
TEST_F(scope, a_group_that_is_shared_again_in_a_private_one_has_its_note_all_the_time) {
    PMEM pool = open(small());
    pool.store("g/h/i/x", 1);
    pool.set_attribute("g/h", "title", 1);
    set_scope(pool, "g", Scope::own);
    const auto own = pmem::Sides::of(pool).own_store();
    const Oid noted = own->oid("g/h");
    for (int times = 0; times < 2; ++times) {
        set_scope(pool, "g/h", Scope::shared);
        EXPECT_EQ(own->oid("g/h"), noted);
        EXPECT_EQ(private_side(pool).groups(), (Names{"g", "g/h"}));
        EXPECT_EQ(private_side(pool).attributes("g/h"), Names{});
        EXPECT_EQ(pool.get_attribute<int>("g/h", "title"), 1);
    }
    pool.set_attribute("g/h", "title", 2);
    set_scope(pool, "g", Scope::own);
    EXPECT_EQ(pool.get_attribute<int>("g/h", "title"), 2);
}

// A group that is on both sides went from one of them.
TEST_F(scope, a_group_with_something_private_is_not_kept) {
    PMEM pool = open(small());
    for (const char* id : {"out/1/x", "out/1/y", "out/2/x"}) pool.store(id, 1);
    set_scope(pool, "out/1/x", Scope::own);
    EXPECT_EQ(keep_newest(pool, "out", 1), Names{"1"});
    EXPECT_EQ(pool.groups(), (Names{"out", "out/2"}));
}

TEST_F(scope, nothing_lies_in_a_variable_of_the_other_side) {
    PMEM pool = open(small());
    pool.store("mine", 1);
    set_scope(pool, "mine", Scope::own);
    pool.store("ours", 1);
    pool.store("more", 1);
    expect_error(Code::already_exists, [&] { pool.store("mine/x", 1); });
    expect_error(Code::already_exists, [&] { pool.rename("more", "mine/x"); });
    expect_error(Code::already_exists, [&] { pool.rename("mine", "ours/x"); });
    EXPECT_EQ(pool.ids(), (Names{"mine", "more", "ours"}));
    EXPECT_EQ(pool.groups(), Names{});
}

TEST_F(scope, of_groups_and_members_in_any_order_is_what_a_model_says) {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        const auto one_of = [&](const Names& names) { return names[random() % names.size()]; };
        const Folder folder;
        PMEM pool;
        pool.mmap(folder / "p", small(true));
        Model model;
        for (int i = 1; i <= 120 && !HasFailure(); ++i) {
            const bool is_group = random() % 2 == 0;
            const std::string id = one_of(is_group ? groups : variables);
            const auto verb = random() % 12;
            std::string did;
            if (verb < 4) {
                if (is_group) {
                    did = "make " + id;
                    pool.make_group(id);
                    model.make_group(id, model.around(id));
                    did = "title " + id;
                    pool.set_attribute(id, "title", i);
                    model.groups[id].title = i;
                } else {
                    did = "store " + id;
                    pool.store(id, i);
                    if (!model.has(id)) {
                        const Scope side = model.around(id);
                        model.make_groups_around(id, side);
                        model.variables[id] = side;
                    }
                }
            } else if (verb < 9 && model.has(id)) {
                const Scope to = random() % 2 == 0 ? Scope::own : Scope::shared;
                did = std::string(name_of(to)) + " " + id;
                set_scope(pool, id, to);
                model.set_scope(id, to);
                EXPECT_TRUE(to == Scope::shared || !pmem::Sides::of(pool).shared()->exists(id)) << id;
            } else if (verb < 10 && model.variables.contains(id)) {
                const std::string to = one_of(variables);
                if (model.has(to)) continue;
                did = "rename " + id + " " + to;
                const Scope side = model.variables[id];
                if (side == Scope::shared && model.around(to) == Scope::own) {
                    expect_error(Code::unsupported, [&] { pool.rename(id, to); });
                } else {
                    pool.rename(id, to);
                    model.variables.erase(id);
                    model.make_groups_around(to, side);
                    model.variables[to] = side;
                }
            } else if (verb < 11 && model.has(id)) {
                did = "erase " + id;
                if (is_group && !model.is_empty(id)) {
                    expect_error(Code::busy, [&] { pool.erase(id); });
                } else {
                    pool.erase(id);
                    model.erase_all(id);
                }
            } else if (random() % 3 == 0 && model.has(id)) {
                did = "erase all of " + id;
                erase_all(pool, id);
                model.erase_all(id);
            } else if (random() % 8 == 0) {
                did = "reopen";
                pool.munmap();
                pool.mmap(folder / "p", small());
            }
            SCOPED_TRACE(std::to_string(i) + ": " + did);
            expect_as(model, pool);
        }
        EXPECT_TRUE(pool.verify().empty());
    }
}
