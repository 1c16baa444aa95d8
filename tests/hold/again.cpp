// Links are told apart by 23 bits of a version, and these come again after 2^23 versions, which take a node seconds. So whatever a process
// remembers may look the same and be another. A referee had them drawn; here a call skips them.

#include <bit>
#include <memory>

#include "calls.hpp"
#include "heap/format.hpp"
#include "node.hpp"
#include "stories.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::hold {
namespace {

const Box first_six{{0, 0}, {6, 8}};

/// From here on the versions come whose links look like that of the block in `first_six`, beginning with `before` others.
Call skip_versions(std::uint64_t before) {
    return {"skip versions", [=](PMEM& pmem) {
                std::uint64_t version = 0;
                for (const BlockInfo& block : pmem.blocks("A")) {
                    if (block.box == Selection(first_six)) version = block.version;
                }
                Inside inside(Node::path);
                inside.pool().medium().store(&inside.pool().state().next_version.value,
                                             version + heap::Link::tag_mask + 1 - before);
                return std::string("ok");
            }};
}

// By the process that stores in it again: what it frees it uses again.
void make_array(PMEM& pmem) {
    pmem.alloc<double>("A", Dimensions{10, 8});
    pmem.store<double>("A", numbers(48, 1).data(), first_six);
}

}  // namespace

// A reader keeps what it has seen of an array. Where its slot looked as before, it took the bytes of another for those of the block.
Scenario a_slot_that_looks_the_same() {
    Scenario scenario;
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    scenario.name = "a slot that looks the same";
    scenario.actors = {{"R", {load_box("A", first_six), load_box("A", first_six)}},
                       {"W",
                        {skip_versions(1), store_box("A", first_six, 100), store_box("A", first_six, 200)},
                        make_array}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

// A store is held before it puts its block in the place of an older one. The exchange that came late took out the newest.
Scenario a_block_that_looks_the_same() {
    Scenario scenario;
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    scenario.name = "a block that looks the same";
    scenario.actors = {{"A", {store_box("A", first_six, 500)}},
                       {"W",
                        {store_box("A", Box{{4, 0}, {6, 8}}, 50), skip_versions(1),
                         store_box("A", first_six, 100), store_box("A", first_six, 200)},
                        make_array}};
    scenario.turns = {held(0), ends(1), ends(0)};
    return scenario;
}

std::vector<Scenario> of_tags_that_come_again() {
    return {a_slot_that_looks_the_same(), a_block_that_looks_the_same()};
}

}  // namespace pmemcpy::hold
