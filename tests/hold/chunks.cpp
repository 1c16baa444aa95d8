// Chunks and slabs that have become something else since a process looked at them (decision 0022).

#include <memory>

#include "calls.hpp"
#include "node.hpp"
#include "stories.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::hold {

// Of two threads of a process one has freed a unit in a slab of another process, and is held while it looks whether it can have
// that again. Meanwhile the other process gives the chunk back, and the second thread cuts it into other units. The first took
// one of the old ones then, because the slab was its process's own.
Scenario a_freed_unit_of_another() {
    Scenario scenario;
    scenario.name = "a freed unit of another";
    scenario.setup = [](PMEM& pmem) { pmem.store("u", 1); };
    const auto slab = [](PMEM& pmem) {
        pmem.store("b", std::string(700, 'b'));
        pmem.store("a", std::string(700, 'a'));
    };
    const auto of_both = std::make_shared<PMEM*>();
    const auto frees_a_unit = [=](PMEM& pmem) {
        pmem.store("t", std::string(700, 't'));
        pmem.erase("a");
        *of_both = &pmem;
    };
    const Call in_other_units = {"store m", [=](PMEM&) {
                                     (*of_both)->store("m", std::string(1500, 'm'));
                                     return std::string("ok");
                                 }};
    scenario.actors = {{"P", {erase("b"), trim()}, slab},
                       {"T", {store_text("n", 700, 'n')}, frees_a_unit},
                       {"its other thread", {in_other_units}, {}, true}};
    scenario.turns = {held_within(1, "can_read"), ends(0), ends(2), ends(1)};
    return scenario;
}

// Behind the chunks in use the chunk table may say anything after a power loss, also what a process of this session makes of a
// chunk, because the names of owners come again. One that grows the pool is held before it calls such a chunk free. By then
// another had grown it, and stored there.
Scenario a_chunk_that_is_made_usable_twice() {
    Scenario scenario;
    scenario.name = "a chunk that is made usable twice";
    constexpr std::uint64_t chunks = 2;
    scenario.setup = [](PMEM& pmem) {
        pmem.store("u", 1);
        Inside inside(Node::path);
        const std::uint64_t owner = pool::Pool::owner_of(0, 1);
        for (std::uint64_t i = inside.pool().usable_chunks(); i < inside.pool().super().chunk_count; ++i)
            inside.heap().chunk(i).word =
                heap::ChunkWord::make(heap::ChunkKind::run_head, owner, chunks).word;
    };
    const auto has_a_slab = [](const std::string& id) { return [id](PMEM& pmem) { pmem.store(id, 1); }; };
    scenario.actors = {{"B", {store_text("n", chunks * 4096, 'n')}, has_a_slab("b")},
                       {"A", {store_text("m", chunks * 4096, 'm')}, has_a_slab("a")}};
    scenario.turns = {held(1), ends(0), ends(1)};
    return scenario;
}

std::vector<Scenario> of_chunks() { return {a_freed_unit_of_another(), a_chunk_that_is_made_usable_twice()}; }

}  // namespace pmemcpy::hold
