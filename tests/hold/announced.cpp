// Two that mind each other (law 13, rule 5): each says what it is about to do, and then looks for the other. A process is held between the
// two, or right before them, while the other does its part.

#include <functional>
#include <memory>
#include <utility>

#include <pmemcpy/tiers.hpp>

#include "calls.hpp"
#include "node.hpp"
#include "stories.hpp"

namespace pmemcpy::hold {

// A reader has passed an empty slot of a directory, and is held. Another publishes a block there, which covers one in a slot that comes later,
// and takes that one out. The reader would see neither.
Scenario a_block_in_a_slot_that_was_passed() {
    Scenario scenario;
    scenario.name = "a block in a slot that was passed";
    const Box later{{4, 0}, {2, 8}};
    scenario.setup = [=](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(8, 0).data(), Box{{0, 0}, {1, 8}});
        pmem.store<double>("A", numbers(16, 100).data(), later);
        pmem.store<double>("A", numbers(16, 200).data(),
                           Box{{0, 0}, {2, 8}});  // the first slot is empty then
    };
    scenario.actors = {{"R", {load_box("A", later)}}, {"W", {store_box("A", Box{{4, 0}, {3, 8}}, 300)}}};
    scenario.turns = {held_within(0, "Directory::"), ends(1), ends(0)};
    return scenario;
}

// A reader has found a block, and is held before it says that it has pinned it. Meanwhile the block is freed, and its place another's.
Scenario a_pin_that_comes_late() {
    Scenario scenario;
    scenario.name = "a pin that comes late";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const Box whole{{0, 0}, {8, 8}};
    const Call view = {"view A", [=](PMEM& pmem) {
                           const auto seen = pmem.view<double>("A", whole);
                           return hash_of(seen.data(), seen.size() * sizeof(double));
                       }};
    const auto array = [=](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(64, 1).data(), whole);
    };
    scenario.actors = {{"B", {erase("A"), alloc("c", {8, 8}), store_box("c", whole, 500)}, array},
                       {"R", {view}}};
    scenario.turns = {held_within(1, "Pins::pin"), ends(0), ends(1)};
    return scenario;
}

// A writer has pinned an array, and is held before it counts in the array's record that a block has gone. Another erases the array. Were it freed, a
// number's record would come into the place, and the count into that.
Scenario a_free_of_what_is_pinned() {
    Scenario scenario;
    scenario.name = "a free of what is pinned";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto array = [](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(16, 1).data(), Box{{0, 0}, {2, 8}});
    };
    // Of the names and the numbers one comes into the place.
    scenario.actors = {{"B", {erase("A"), store_int("n", 1), store_int("m", 2), store_int("o", 3)}, array},
                       {"W", {store_box("A", Box{{0, 0}, {3, 8}}, 300)}},
                       {"C",
                        {set_attribute("n", "units", "m"), set_attribute("m", "units", "m"),
                         set_attribute("o", "units", "m")}}};
    scenario.turns = {held_within(1, "Directory::retire"), ends(0), ends(1), ends(2)};
    return scenario;
}

// A mere reader has found a block, and is held before it pins it. The writer that replaces the block dies before it retires it;
// another recovers the pool, finds no pin, and is held before it frees what nothing leads to. The reader's view showed what was
// stored there afterwards.
Scenario a_pin_beside_a_recovery() {
    Scenario scenario;
    scenario.name = "a pin beside a recovery";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const Box whole{{0, 0}, {8, 8}};
    const auto array = [=](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(64, 1).data(), whole);
    };
    const auto opens_to_read = [](PMEM& pmem) {
        Options options;
        options.mode = Mode::read;
        pmem.mmap(Node::path, options);
    };
    const auto hash = std::make_shared<std::function<std::string()>>();
    Call view = {"view A", [=](PMEM& pmem) {
                     const auto seen = std::make_shared<View<const double>>(pmem.view<double>("A", whole));
                     *hash = [seen] { return hash_of(seen->data(), seen->size() * sizeof(double)); };
                     return (*hash)();
                 }};
    view.may_be_busy = true;
    const Call look = {"look at the view again", [=](PMEM& pmem) {
                           static_cast<void>(pmem.info());  // where it is held
                           return *hash ? std::exchange(*hash, nullptr)() : std::string("no view");
                       }};
    scenario.actors = {{"W", {store_box("A", whole, 300)}, array},
                       {"R", {view, look}, opens_to_read, true},
                       {"N", {open_pool(), alloc("c", {8, 8}), store_box("c", whole, 500)}, {}, true}};
    scenario.turns = {held_within(1, "can_read"),
                      held_in(0, "Heap::claim("),
                      dies(0),
                      held_in(2, "Heap::finish_rebuild"),
                      held_within(1, "Heap::usage"),
                      ends(2),
                      ends(1)};
    return scenario;
}

// A writer has found chunks that are free, and is held before it claims them. Another reserves all that there are, and is held before it stores.
Scenario chunks_that_are_reserved() {
    Scenario scenario;
    scenario.name = "chunks that are reserved";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", std::string(40 * 4096, 'u')); };
    const Call reserves = {"reserve 12 chunks", [](PMEM& pmem) {
                               reserve(pmem, 12 * 4096);
                               return std::string("ok");
                           }};
    scenario.actors = {{"A", {store_text("n", 5 * 4096, 'n')}},
                       {"B", {reserves, store_text("m", 11 * 4096, 'm')}}};
    scenario.turns = {held_within(0, "Heap::find_free_chunks"), held_in(1, "try_find_in_chain"), ends(0),
                      ends(1)};
    return scenario;
}

// A slot is just being emptied when an eraser of the array passes by it and seals the others. Another, which has found the array before, stores its
// block there, behind the eraser, which would never come by.
Scenario a_block_behind_an_eraser() {
    Scenario scenario;
    scenario.name = "a block behind an eraser";
    scenario.setup = [](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        pmem.store<double>("A", numbers(16, 1).data(), Box{{0, 0}, {2, 8}});
    };
    scenario.actors = {{"E", {erase("A")}},
                       {"W", {store_box("A", Box{{0, 0}, {3, 8}}, 300)}},
                       {"S", {store_box("A", Box{{4, 0}, {2, 8}}, 500)}}};
    scenario.turns = {held_in(2, "Store::publish_block"),
                      held_in(1, "Heap::finish_unlink"),
                      held_within(0, "Catalog::retire_array"),
                      ends(1),
                      ends(2),
                      ends(0)};
    return scenario;
}

// A process has seen that a group is there, and is held before it puts something in it. Another sees nothing in the group, and erases it.
Scenario a_store_in_a_group_that_is_erased() {
    Scenario scenario;
    scenario.name = "a store in a group that is erased";
    scenario.setup = [](PMEM& pmem) { pmem.make_group("g"); };
    scenario.actors = {{"A", {store_int("g/y", 1)}}, {"B", {erase("g")}}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

// Rows that are appended one by one are joined by a process that is alone. Another came in between and stored over one of them, and it was
// the other's block that was taken out. So it waits until the rows are joined, or comes when they are.
Scenario rows_that_are_joined() {
    Scenario scenario;
    scenario.name = "rows that are joined";
    scenario.options.max_bytes = std::uint64_t{512} << 10;
    const auto append = [](PMEM& pmem, std::size_t row) {
        pmem.store<double>("L", numbers(2, 10.0 * static_cast<double>(row)).data(), Box{{row, 0}, {1, 2}});
    };
    scenario.setup = [=](PMEM& pmem) {
        pmem.alloc<double>("L", Dimensions{unlimited, 2});
        for (std::size_t row = 0; row < 15; ++row) append(pmem, row);
    };
    const Call last = {"append row 15", [=](PMEM& pmem) {
                           append(pmem, 15);
                           return std::string("ok");
                       }};
    Call open = open_pool();
    open.may_be_busy = true;  // behind one that is stopped while it is alone
    scenario.actors = {{"A", {last, load_box("L", Box{{3, 0}, {1, 2}})}},
                       {"B", {open, store_box("L", Box{{3, 0}, {1, 2}}, 777)}, {}, true}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

// A process drops what it has stored in a step, and is held before it takes a name away that was new in it. Another stores something under
// that name, in no step, which went with it.
Scenario a_name_that_is_dropped() {
    Scenario scenario;
    scenario.name = "a name that is dropped";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto in_step = [](PMEM& pmem) {
        pmem.begin(5);
        pmem.store("x", 1);
    };
    scenario.actors = {{"A", {abandon()}, in_step}, {"B", {store_int("x", 2)}}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

// A mere reader lists what there is while another process is held in a recovery, which writes all links anew: to the reader the pool was empty.
Scenario a_list_beside_a_recovery() {
    Scenario scenario;
    scenario.name = "a list beside a recovery";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto opens_to_read = [](PMEM& pmem) {
        Options options;
        options.mode = Mode::read;
        pmem.mmap(Node::path, options);
    };
    Call list = {"list", [](PMEM& pmem) {
                     std::string all;
                     for (const std::string& id : pmem.ids()) all += id + " ";
                     return all;
                 }};
    list.may_be_busy = true;
    scenario.actors = {{"W", {store_int("v", 1)}, [](PMEM& pmem) { pmem.store("w", 1); }},
                       {"R", {list}, opens_to_read, true},
                       {"N", {open_pool(), load_int("u")}, {}, true}};
    scenario.turns = {held(0), dies(0), held_in(2, "Scan::put_in_chain"), ends(1), ends(2)};
    return scenario;
}

std::vector<Scenario> announced() {
    return {a_block_in_a_slot_that_was_passed(), a_pin_that_comes_late(),    a_free_of_what_is_pinned(),
            a_pin_beside_a_recovery(),           chunks_that_are_reserved(), a_block_behind_an_eraser(),
            a_store_in_a_group_that_is_erased(), rows_that_are_joined(),     a_name_that_is_dropped(),
            a_list_beside_a_recovery()};
}

}  // namespace pmemcpy::hold
