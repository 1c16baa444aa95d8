// What each second look is for: a process is held right before it, and what it has looked at is freed, and the very place used again for
// something that can be taken for it. A process finds the unit that it has freed last of a size first; so whether a record
// comes into the place of another is a matter of sizes: a name of one letter has 192 bytes, and a long one 256; an array and a small number
// 192, a text of 300 bytes more, an attribute's name 128.

#include "calls.hpp"
#include "stories.hpp"

namespace pmemcpy::hold {
namespace {

Call text(const std::string& id, char fill) { return store_text(id, 300, fill); }

Call count_attributes(const std::string& id) {
    return {"count " + id + "'s attributes",
            [=](PMEM& pmem) { return std::to_string(pmem.info(id).attributes); }};
}

/// A process is held at any access that it makes in `function`, while another, to which all places belong, does what it does.
Scenario at_any_access_of(const char* function, const std::string& name, const Call& call,
                          const Actor& other) {
    Scenario scenario;
    scenario.name = name;
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    scenario.actors = {other, {"A", {call}}};
    scenario.turns = {held_within(1, function), ends(0), ends(1)};
    return scenario;
}

}  // namespace

// A reader has compared a name, and is held before it reads the word of the entry, where another name's value is by then.
Scenario a_name_of_another() {
    const auto values = [](PMEM& pmem) { pmem.store("v", std::string(300, 'v')); };
    return at_any_access_of("try_find_in_chain", "a name of another", load_text("v"),
                            {"B", {erase("v"), text("n", 'n')}, values});
}

// The same of a variable that has been renamed, between its new name and its value.
Scenario a_renamed_one_of_another() {
    const auto values = [](PMEM& pmem) {
        pmem.store("v", std::string(300, 'v'));
        pmem.rename("v", "z");
    };
    return at_any_access_of("try_find_in_chain", "a renamed one of another", load_text("z"),
                            {"B", {erase("z"), text("n", 'n')}, values});
}

const auto two_attributes = [](PMEM& pmem) {
    pmem.store("w", 1);
    pmem.store("v", 2);
    pmem.set_attribute("v", "units", "K");
    pmem.set_attribute("v", "other", "x");
};

// A reader passes an attribute on its way along the chain, and is held before it reads where the chain leads on: along another's chain then.
Scenario a_chain_of_another() {
    const Call get = {"get v@units",
                      [](PMEM& pmem) { return pmem.get_attribute<std::string>("v", "units"); }};
    return at_any_access_of(
        "try_find_in_chain", "a chain of another", get,
        {"B", {remove_attribute("v", "other"), set_attribute("w", "extra", "y")}, two_attributes});
}
Scenario a_count_along_a_chain_of_another() {
    return at_any_access_of(
        "try_count_attributes", "a count along a chain of another", count_attributes("v"),
        {"B", {remove_attribute("v", "other"), set_attribute("w", "extra", "y")}, two_attributes});
}

Scenario a_walk_along_a_chain_of_another() {
    const Call all = {"attributes of v", [](PMEM& pmem) {
                          std::string names;
                          for (const std::string& name : pmem.attributes("v")) names += name + " ";
                          return names;
                      }};
    return at_any_access_of(
        "Catalog::walk", "a walk along a chain of another", all,
        {"B", {remove_attribute("v", "other"), set_attribute("w", "extra", "y")}, two_attributes});
}

// A process that erases a group is held before it reads what its entry says, where another group's entry is by then.
Scenario a_group_of_another() {
    const std::string old_name(60, 'o'), new_name(60, 'n');
    const auto group = [=](PMEM& pmem) { pmem.make_group(old_name); };
    return at_any_access_of("Catalog::current_word", "a group of another", never_busy(erase(old_name)),
                            {"B", {never_busy(erase(old_name)), make_group(new_name)}, group});
}

// A process that renames a number looks whether that is a group, and is held before it reads the record, where a group is by then.
Scenario a_number_that_looks_like_a_group() {
    const auto values = [](PMEM& pmem) {
        pmem.store("w", 1);
        pmem.make_group(std::string(60, 'h'));  // so that there are places for long names
    };
    return at_any_access_of("racy_copy", "a number that looks like a group", rename("w", "z"),
                            {"B", {store_int("w", 2), make_group(std::string(60, 'g'))}, values});
}

// A process that stores over a committed version is held before it reads which one that had replaced. Another is faster, and its draft
// in a step comes into the place; and names the value of another variable as the one before it, which readers still need.
Scenario a_version_before_that_of_another() {
    const auto versions = [](PMEM& pmem) {
        pmem.store("w", 111);
        pmem.store("v", std::string(300, 'v'));
        pmem.begin(1);
        pmem.store("v", 2);
        pmem.commit(1);
    };
    return at_any_access_of("Catalog::retire_versions_before", "a version before that of another",
                            store_int("v", 9),
                            {"B", {store_int("v", 3), begin(2), store_int("w", 222)}, versions});
}

// The same, one version further: of the one before it is read what it had replaced.
Scenario an_older_version_of_another() {
    const auto versions = [](PMEM& pmem) {
        pmem.store("w", 111);
        pmem.store("v", 1);
        pmem.begin(1);
        pmem.store("v", std::string(300, 'v'));
        pmem.commit(1);
    };
    return at_any_access_of("older_of", "an older version of another", store_int("v", 9),
                            {"B", {store_int("v", 3), begin(2), store_int("w", 222)}, versions});
}

// A process stores over a number, and is held before it reads what the entry says, where another number's entry is by then.
Scenario a_store_over_another() {
    const auto value = [](PMEM& pmem) { pmem.store("v", 1); };
    return at_any_access_of("Store::publish_value", "a store over another", store_int("v", 9),
                            {"B", {erase("v"), store_int("n", 2)}, value});
}

// A reader looks at the slots of an array, and is held. By then they are those of another array, in none of which there is a block of its own.
Scenario a_directory_of_another() {
    const Box box{{0, 0}, {4, 8}};
    const auto array = [=](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(32, 1).data(), box);
    };
    return at_any_access_of("Directory::", "a directory of another", load_box("A", box),
                            {"B", {erase("A"), alloc("c", {8, 8}), store_box("c", box, 5)}, array});
}

// A reader copies a block, and is held, wherever that is. By then its bytes are those of another array.
Scenario a_block_of_another() {
    Scenario scenario = a_directory_of_another();
    scenario.name = "a block of another";
    scenario.turns = {held(1), ends(0), ends(1)};
    return scenario;
}

// One of two erasers of an array is killed before its exchange, and a third process finishes its erase beside the winner. It is held
// before it reads where the array's directory begins; meanwhile the winner frees all, and makes an array in the place, of which the
// beginning is sealed then. Nothing can be stored in it any more.
Scenario an_array_that_is_sealed_for_another() {
    const std::string old_name(60, 'o'), new_name(60, 'n');
    Scenario scenario;
    scenario.name = "an array that is sealed for another";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto array = [=](PMEM& pmem) { pmem.alloc<double>(old_name, Dimensions{8, 8}); };
    const Call erases = never_busy(erase(old_name));
    scenario.actors = {{"B", {erases, alloc(new_name, {8, 8})}, array},
                       {"D", {erases}},
                       {"C", {compact()}},
                       {"E", {store_box(new_name, {{0, 0}, {4, 8}}, 5)}}};
    scenario.turns = {held_in(1, "Catalog::flag_dead"),
                      dies(1),
                      held_in(0, "Catalog::clean_up_erased"),
                      held_within(2, "Catalog::retire_array"),
                      ends(0),
                      ends(2),
                      ends(3)};
    return scenario;
}

// Of two erasers of a variable one is held before its exchange, which fails, for the other is faster. By then another variable's entry is in the
// place, and has a value that could be taken for a newer one of the first.
Scenario an_erase_that_finds_another() {
    const auto value = [](PMEM& pmem) { pmem.store("v", std::string(300, 'v')); };
    return at_any_access_of("Catalog::flag_dead", "an erase that finds another", never_busy(erase("v")),
                            {"B", {never_busy(erase("v")), text("n", 'n')}, value});
}

// An eraser is killed before its exchange, and another process finishes its erase beside the winner of the two. It is held before it reads
// what the entry says, or before it has the lock for names; by then another variable's entry is in the place.
Scenario an_erase_that_is_finished_for_another(const char* function) {
    Scenario scenario;
    scenario.name = std::string("an erase that is finished for another, ") + function;
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto value = [](PMEM& pmem) { pmem.store("v", std::string(300, 'v')); };
    const Call erases = never_busy(erase("v"));
    scenario.actors = {{"B", {erases, text("n", 'n')}, value}, {"D", {erases}}, {"C", {compact()}}};
    scenario.turns = {held_in(1, "Catalog::flag_dead"), dies(1), held_in(0, "Catalog::clean_up_erased"),
                      held_within(2, function),         ends(0), ends(2)};
    return scenario;
}

// An eraser of a group has found something without a value in it, and is held before it flags that. By then it has got its value and is erased, and in
// its place is the entry of something outside, which has no value yet either.
Scenario a_flag_for_another() {
    Scenario scenario;
    scenario.name = "a flag for another";
    scenario.setup = [](PMEM& pmem) { pmem.make_group("g"); };
    scenario.actors = {{"A", {erase("g")}}, {"M", {text("g/x", 'x'), erase("g/x"), text("n", 'n')}}};
    scenario.turns = {held_in(1, "Store::publish_value"),
                      held_within(0, "Catalog::flag_undefined"),
                      held_in(1, "Catalog::clean_up_erased"),
                      held_in(1, "Store::publish_value"),
                      ends(0),
                      ends(1)};
    return scenario;
}

// Of two erasers of a variable one is killed before its exchange, and a process that finishes its erase is killed when it is about to
// take an attribute away. The winner takes it away; and another process that finishes the erase is held before it reads the
// attribute's word. By then that is another attribute, which is in use.
Scenario an_attribute_that_is_killed_for_another() {
    Scenario scenario;
    scenario.name = "an attribute that is killed for another";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto attribute = [](PMEM& pmem) {
        pmem.store("w", 1);
        pmem.store("v", 2);
        pmem.set_attribute("v", "units", std::string(300, 'K'));
    };
    const Call erases = never_busy(erase("v"));
    scenario.actors = {{"B", {erases, set_attribute("w", "other", std::string(300, 'o'))}, attribute},
                       {"D", {erases}},
                       {"S", {compact()}},
                       {"A", {compact()}}};
    scenario.turns = {held_in(1, "Catalog::flag_dead"),
                      dies(1),
                      held_in(0, "Catalog::clean_up_erased"),
                      held_within(2, "Catalog::clean_up_attributes"),
                      dies(2),
                      held_in(0, "Heap::reclaim_locked"),
                      held_within(3, "Catalog::kill_attribute"),
                      ends(0),
                      ends(3)};
    return scenario;
}

// A process that drops a version of a step, and puts the one before it in its place again, is killed in between. Another finishes that, and is
// held before it reads what the one before had replaced. A third stores over it and frees it, and its next draft comes into the place, which
// names what it is about to replace, and is killed.
Scenario a_step_that_is_finished_for_another() {
    Scenario scenario;
    scenario.name = "a step that is finished for another";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto values = [](PMEM& pmem) {
        pmem.store("w", 111);
        pmem.store("v", 1);
    };
    const auto in_step = [](PMEM& pmem) {
        pmem.begin(1);
        pmem.store("v", 2);
    };
    scenario.actors = {{"B", {store_int("v", 3), store_int("w", 222)}, values},
                       {"D", {abandon()}, in_step},
                       {"A", {compact()}}};
    scenario.turns = {held_in(1, "Heap::claim"),       dies(1), held_within(2, "Heap::finish_step"),
                      held_within(0, "Heap::replace"), dies(0), ends(2)};
    return scenario;
}

const auto has_a_slab_for_records = [](PMEM& pmem) { pmem.store("w", 1); };

// A process that has replaced a value is held before the exchange by which it claims the old one. Another erases the variable, frees that
// too, and its own value comes into the place. It has the name of the owner before it, of an earlier session, and its numbers began
// at one again: so the state that the exchange expects was there, and an acknowledged value was freed.
Scenario a_unit_of_a_namesake() {
    Scenario scenario;
    scenario.name = "a unit of a namesake";
    scenario.setup = [](PMEM& pmem) {
        pmem.store("u", 1);
        pmem.store("v", 1);
    };
    scenario.actors = {{"B", {erase("v"), store_int("n", 2)}, has_a_slab_for_records},
                       {"A", {store_int("v", 3)}}};
    scenario.turns = {held_within(1, "Heap::claim"), ends(0), ends(1)};
    return scenario;
}

// A process has looked at a slab without an owner, and is held before the exchange that makes it its own. Another takes it, empties it, gives
// its chunk back, makes a slab of smaller units there, and leaves: the chunk's word said the same as before, and values were written
// into units that they did not fit into.
Scenario a_slab_of_other_units() {
    Scenario scenario;
    scenario.name = "a slab of other units";
    scenario.options.chunk_bytes = std::uint64_t{64} << 10;  // of smaller ones no slab for data has a head
    scenario.options.max_bytes = std::uint64_t{1} << 20;
    scenario.setup = [](PMEM& pmem) { pmem.store("a", std::string(1500, 'v')); };
    scenario.actors = {
        {"B",
         {erase("a"), trim(), store_text("l", 700, 'l'), store_text("n", 700, 'n'), erase("l"), close_pool()},
         has_a_slab_for_records},
        {"A", {store_text("v", 1500, 'x')}}};
    scenario.turns = {held(1), ends(0), ends(1)};
    return scenario;
}

std::vector<Scenario> places_used_again() {
    return {a_name_of_another(),
            a_renamed_one_of_another(),
            a_chain_of_another(),
            a_count_along_a_chain_of_another(),
            a_walk_along_a_chain_of_another(),
            a_group_of_another(),
            a_number_that_looks_like_a_group(),
            a_version_before_that_of_another(),
            an_older_version_of_another(),
            a_store_over_another(),
            a_directory_of_another(),
            a_block_of_another(),
            an_array_that_is_sealed_for_another(),
            an_erase_that_finds_another(),
            an_erase_that_is_finished_for_another("Catalog::clean_up_erased"),
            an_erase_that_is_finished_for_another("copy_current"),
            a_flag_for_another(),
            an_attribute_that_is_killed_for_another(),
            a_step_that_is_finished_for_another(),
            a_unit_of_a_namesake(),
            a_slab_of_other_units()};
}

}  // namespace pmemcpy::hold
