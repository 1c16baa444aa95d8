// Each of these was a way to lose something that had been acknowledged, by a process that was held between a look and what it did then. A
// review of the core found the first five, and the explorer the others. The turns are those of the story; the explorer chooses where.

#include "stories.hpp"

#include <bit>

#include "calls.hpp"

namespace pmemcpy::hold {

// A compact() that retires an old version is held before it reads which record that one had replaced. Another process retires and frees
// it too, and its next draft, of another value, comes into the place: what the first one followed was the value that was published.
Scenario a_claim() {
    Scenario scenario;
    scenario.name = "a claim";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto two_versions = [](PMEM& pmem) {
        pmem.store("w", 111);
        pmem.store("v", 1);
        pmem.begin(1);
        pmem.store("v", 2);
        pmem.commit(1);
    };
    scenario.actors = {{"A", {compact()}}, {"B", {compact(), store_int("w", 222)}, two_versions}};
    scenario.turns = {held(0), held(1), dies(1), ends(0)};
    return scenario;
}

// One of two erasers of an array is killed before its exchange, and a third process finishes its erase beside the winner. It is held
// before it looks at a slot; meanwhile the winner frees all, and the array that it makes next comes into the place and is sealed.
Scenario a_late_erase() {
    Scenario scenario;
    scenario.name = "a late erase";
    scenario.setup = [](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(32, 1).data(), Box{{0, 0}, {4, 8}});
    };
    // The eraser that is killed has noted what it is about to do.
    scenario.actors = {{"C", {compact()}},
                       {"B", {erase("A"), alloc("c", {8, 8}), store_box("c", {{0, 0}, {4, 8}}, 5)}},
                       {"A", {erase("A")}}};
    scenario.turns = {held_in(2, "Catalog::flag_dead"), dies(2), held(1), held(0), ends(1), ends(0)};
    return scenario;
}

// A process frees a unit of a slab that nobody owns, and is held between the word of the unit and its bit. Another adopts the slab,
// uses and empties it, gives its chunk back, and stores an array there, of which the first one then clears a bit.
Scenario a_late_hint() {
    Scenario scenario;
    scenario.name = "a late hint";
    scenario.options.chunk_bytes = std::uint64_t{64} << 10;  // of smaller ones no slab for data has bits
    scenario.options.max_bytes = std::uint64_t{1} << 20;
    scenario.setup = [](PMEM& pmem) {
        pmem.alloc<double>("c", Dimensions{unlimited, 8192});
        pmem.store("a", std::string(700, 'v'));
    };
    const Call fill = {"fill c", [](PMEM& pmem) {
                           const std::vector<double> ones(8192, std::bit_cast<double>(~std::uint64_t{0}));
                           for (std::size_t i = 0; i < 4; ++i)
                               pmem.store<double>("c", ones.data(), Box{{i, 0}, {1, 8192}});
                           return std::string("ok");
                       }};
    scenario.actors = {{"A", {erase("a")}}, {"B", {store_text("n", 700, 'n'), erase("n"), trim(), fill}}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

// A process that begins a step has looked whether it is broken, and is held before it says that it is in it. A death breaks the step;
// another begins it anew, sees nobody in it, and drops what the first one has stored by then.
Scenario a_step_begun_anew() {
    Scenario scenario;
    scenario.name = "a step begun anew";
    scenario.setup = [](PMEM& pmem) { pmem.store("v", std::string(700, 'v')); };
    const auto half = [](PMEM& pmem) {
        pmem.begin(1);
        pmem.store("half", 1);
    };
    scenario.actors = {{"A", {begin(1), store_text("x", 100, 'x')}},
                       {"B", {open_pool(), begin(1), commit(1)}, {}, true},
                       {"D", {}, half}};
    scenario.turns = {held(0), dies(2), held(1), ends(0), ends(1)};
    return scenario;
}

// A store without a step takes the place of a version that a step has not committed, and its process dies before it has retired the
// version before that one, to which nothing leads then.
Scenario an_older_version() {
    Scenario scenario;
    scenario.name = "an older version";
    scenario.setup = [](PMEM& pmem) { pmem.store("v", std::string(700, 'v')); };
    const auto first = [](PMEM& pmem) { pmem.store("v", std::string(700, 'o')); };
    const auto in_step = [](PMEM& pmem) {
        pmem.begin(1);
        pmem.store("v", std::string(700, 's'));
    };
    scenario.actors = {{"A", {store_text("v", 700, 'a')}, first}, {"B", {load_text("v")}, in_step}};
    scenario.turns = {held(0), dies(0), ends(1)};
    return scenario;
}

// The same where the version before belongs to a process that lives: to the one in the step, or to a third. No cleaning up after the dead one
// comes by it. The review had the first, behind the page cache.
std::vector<Scenario> older_versions_of_the_living() {
    const Scenario of_the_dead = an_older_version();
    const Actor &killed = of_the_dead.actors[0], &in_step = of_the_dead.actors[1];
    std::vector<Scenario> all;
    for (const Call& last : {abandon(), commit(1)}) {
        for (const crash::Model model : {crash::Model::line, crash::Model::page}) {
            Scenario own = of_the_dead;
            own.name = "an older version of its own, " + last.name;
            own.model = model;
            own.actors = {{"A", killed.calls}, {"B", {last}, [=](PMEM& pmem) {
                                                    killed.prepare(pmem);
                                                    in_step.prepare(pmem);
                                                }}};
            all.push_back(own);
            Scenario of_a_third = of_the_dead;
            of_a_third.name = "an older version of a third, " + last.name;
            of_a_third.model = model;
            of_a_third.actors = {
                {"C", {load_text("v")}, killed.prepare}, {"A", killed.calls}, {"B", {last}, in_step.prepare}};
            of_a_third.turns = {held(1), dies(1), ends(2), ends(0)};
            all.push_back(of_a_third);
        }
    }
    return all;
}

// The last process out recovers the pool, for another had died; and took the dead one's pins, in the slot whose name recovery works
// under, for its own. What they kept was then freed under another name than it was retired by, which is not at all.
Scenario a_pin_of_the_dead() {
    Scenario scenario;
    scenario.name = "a pin of the dead";
    scenario.setup = set_up_everything;
    scenario.actors = {{"A", {load_text("v")}}, {"B", {begin(1), store_text("v", 700, 's'), commit(1)}}};
    scenario.turns = {held(0), ends(1), dies(0)};
    return scenario;
}

// An erase that had found a variable by its name took it away after it had got another name; and a rename gave a name to what was
// erased just then.
Scenario an_erase_of_what_is_renamed() {
    Scenario scenario;
    scenario.name = "erase / rename";
    scenario.setup = set_up_everything;
    scenario.actors = {{"A", {erase("v")}}, {"B", {rename("v", "z")}}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

Scenario a_rename_of_what_is_erased() {
    Scenario scenario = an_erase_of_what_is_renamed();
    scenario.name = "rename / erase";
    std::swap(scenario.actors[0], scenario.actors[1]);
    return scenario;
}

// A process that was in no step committed one, of which all had left, while another dropped what a death in a later step had left behind,
// and with it what no step had committed yet: half of the step was there then. A model of tests/model found it.
Scenario a_commit_beside_a_drop() {
    Scenario scenario;
    scenario.name = "a commit beside a drop";
    scenario.setup = [](PMEM& pmem) { pmem.store("v", std::string(700, 'v')); };
    const auto whole_step = [](PMEM& pmem) {
        pmem.begin(1);
        pmem.store("x", 1);
        pmem.store("y", 2);
        pmem.store("z", 3);
        pmem.munmap();
    };
    const auto next_step = [](PMEM& pmem) {
        pmem.begin(2);
        pmem.store("d", 1);
    };
    scenario.actors = {{"A", {commit(1)}},
                       {"B", {}, whole_step},
                       {"C", {open_pool(), begin(2)}, {}, true},
                       {"D", {}, next_step}};
    scenario.turns = {dies(3), held(2), held(0), ends(2), ends(0)};
    return scenario;
}

// The same by a process whose own step another has committed: it counted as one that is in a step, and was in none. A referee found this one
// and the next.
Scenario a_commit_of_one_left_behind() {
    Scenario scenario;
    scenario.name = "a commit of one left behind";
    scenario.setup = [](PMEM& pmem) { pmem.store("v", std::string(700, 'v')); };
    const auto in_step = [](PMEM& pmem) {
        pmem.begin(1);
        pmem.store("q", 1);
    };
    const auto by_another = [](PMEM& pmem) { pmem.commit(1); };
    const auto next_step = [](PMEM& pmem) {
        pmem.begin(2);
        pmem.store("x", 1);
        pmem.store("y", 2);
        pmem.store("z", 3);
    };
    scenario.actors = {{"Q", {commit(2)}, in_step},
                       {"R", {}, by_another},
                       {"P", {}, next_step},
                       {"D", {open_pool(), begin(2)}, {}, true}};
    scenario.turns = {held(0), dies(2), held(3), ends(0), ends(3)};
    return scenario;
}

// Two steps are open, and the later one is broken. A process drops that, and is held; meanwhile one dies in the earlier step,
// and a newcomer tells of it. The first said then that none is broken, and half of the earlier step was committed. A referee
// found this one and the next two.
Scenario a_death_in_an_earlier_step() {
    Scenario scenario;
    scenario.name = "a death in an earlier step";
    scenario.setup = [](PMEM& pmem) { pmem.store("v", std::string(700, 'v')); };
    const auto half_of_4 = [](PMEM& pmem) {
        pmem.begin(4);
        pmem.store("half", 1);
    };
    // It stays broken as long as another is in a step.
    const auto gave_up_5 = [](PMEM& pmem) {
        pmem.begin(5);
        pmem.store("q", 1);
        pmem.abandon();
    };
    scenario.actors = {{"D", {}, half_of_4},
                       {"C", {commit(4)}, gave_up_5},
                       {"F", {begin(5)}},
                       {"S", {open_pool()}, {}, true}};
    scenario.turns = {held_in(2, "Pool::turn_away_entering"), dies(0), held(2), ends(3), ends(2), ends(1)};
    return scenario;
}

// Behind the page cache a process that drops a step hides from recovery what is left of it. Another has erased that, and is
// held before it retires it: what was hidden looked freed to it, and nobody gave the space back.
Scenario an_erase_of_what_is_dropped() {
    Scenario scenario;
    scenario.name = "an erase of what is dropped";
    scenario.model = crash::Model::page;
    const Box whole{{0, 0}, {8, 8}};
    scenario.setup = [=](PMEM& pmem) {
        pmem.store("v", std::string(700, 'v'));
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(64, 1).data(), whole);
    };
    const auto in_step = [=](PMEM& pmem) {
        pmem.begin(1);
        pmem.store("v", std::string(700, 's'));
        pmem.store<double>("A", numbers(64, 100).data(), whole);
    };
    scenario.actors = {{"E", {erase("v"), erase("A")}},
                       {"D", {}, in_step},
                       {"B", {open_pool(), begin(1), commit(1)}, {}, true}};
    scenario.turns = {held(0), dies(1), ends(2), ends(0)};
    return scenario;
}

// A process that drops a step looked for it along the names, and is held. A variable that another renames meanwhile was in none
// of the chains that it walked, and so half of the step was left, for the next commit to show; or behind the page cache was
// hidden though it was published.
std::vector<Scenario> renames_of_what_is_dropped() {
    std::vector<Scenario> all;
    for (const crash::Model model : {crash::Model::line, crash::Model::page}) {
        Scenario scenario;
        scenario.name = "a rename of what is dropped";
        scenario.model = model;
        scenario.setup = set_up_everything;
        const auto in_step = [](PMEM& pmem) {
            pmem.begin(1);
            pmem.store("v", std::string(700, 's'));
        };
        scenario.actors = {{"A", {abandon(), begin(1), commit(1)}, in_step}, {"B", {rename("v", "z")}}};
        scenario.turns = {held(0), ends(1), ends(0)};
        all.push_back(scenario);
    }
    return all;
}

// The last process out recovers the pool, for another had died, and is killed in that. One that waited for its lock joined the
// session then, in a pool that was half rebuilt.
Scenario a_session_that_is_half_rebuilt() {
    Scenario scenario;
    scenario.name = "a session that is half rebuilt";
    scenario.setup = set_up_everything;
    const auto value = [](PMEM& pmem) { pmem.store("d", std::string(700, 'd')); };
    scenario.actors = {
        {"D", {}, value}, {"L", {close_pool()}}, {"W", {open_pool(), store_text("n", 700, 'n')}, {}, true}};
    scenario.turns = {dies(0), held_within(1, "Heap::set_chunk"), held_within(2, "os::lock("), dies(1),
                      ends(2)};
    return scenario;
}

// A process has looked whether its step is whole, and is held before it commits it. Another abandons the step, and is told that it has.
Scenario a_commit_of_what_is_abandoned() {
    Scenario scenario;
    scenario.name = "a commit of what is abandoned";
    scenario.setup = [](PMEM& pmem) { pmem.store("v", std::string(700, 'v')); };
    Call abandons = abandon();
    abandons.may_be_busy = true;
    Call commits = commit(1);
    commits.may_be_busy = true;
    const auto half = [](const std::string& id) {
        return [id](PMEM& pmem) {
            pmem.begin(1);
            pmem.store(id, 1);
        };
    };
    scenario.actors = {{"Q", {commits}, half("q")}, {"P", {abandons}, half("p")}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

// The maker of a group is held before it reads the word of the entry that it has made; meanwhile an eraser of the group above flags that
// entry, and is held before it takes it out of its chain. The maker took the flagged word for that of an entry without a value, and so
// made a group that was in no chain a moment later. The thread sanitizer was slow enough to meet it.
Scenario a_group_made_of_what_is_erased() {
    Scenario scenario;
    scenario.name = "a group made of what is erased";
    scenario.setup = [](PMEM& pmem) { pmem.make_group("g"); };
    scenario.actors = {{"A", {make_group("g/h")}}, {"B", {erase("g")}}};
    scenario.turns = {held_within(0, "Catalog::current_word"), held_in(1, "Catalog::clean_up_erased"),
                      ends(0), ends(1)};
    return scenario;
}

// A rename was refused, because something was there under the new name, and then nothing was: a store had made the entry and no value yet.
Scenario a_rename_to_what_is_being_stored() {
    Scenario scenario;
    scenario.name = "a rename to what is being stored";
    scenario.setup = set_up_everything;
    scenario.actors = {{"A", {store_int("n", 1)}},
                       {"B", {never_busy(rename("r", "n")), never_busy(rename("n", "z"))}}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

// The same of what the dead have left: an entry without a value, and a name that a rename had made and not given yet.
std::vector<Scenario> renames_to_what_the_dead_have_left() {
    Scenario store = a_rename_to_what_is_being_stored();
    store.name += ", by one that dies";
    store.turns = {held(0), dies(0), ends(1)};
    Scenario rename_too = store;
    rename_too.name = "a rename to what is being renamed, by one that dies";
    rename_too.actors[0].calls = {rename("w", "n")};
    return {store, rename_too};
}

std::vector<Scenario> stories() {
    return {a_claim(),
            a_late_erase(),
            a_late_hint(),
            a_step_begun_anew(),
            an_older_version(),
            a_pin_of_the_dead(),
            an_erase_of_what_is_renamed(),
            a_rename_of_what_is_erased(),
            a_commit_beside_a_drop(),
            a_commit_of_one_left_behind(),
            a_commit_of_what_is_abandoned(),
            a_death_in_an_earlier_step(),
            an_erase_of_what_is_dropped(),
            a_session_that_is_half_rebuilt(),
            a_group_made_of_what_is_erased(),
            a_rename_to_what_is_being_stored()};
}

}  // namespace pmemcpy::hold
