// Length: a list of scripts, each of which is read alone.
//
// The scripts: short, each about one group of verbs, so that a failure names its cause.

#include <complex>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#ifdef PMEMCPY_HAVE_CEREAL
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <pmemcpy/cereal.hpp>
#endif

#include "base/hash.hpp"
#include "moving.hpp"
#include "operations.hpp"
#include "pmem/sides.hpp"
#include "pool/geometry.hpp"
#include "store/store.hpp"

namespace pmemcpy::crash {
namespace {

ArrayOptions contiguous() {
    ArrayOptions options;
    options.contiguous = true;
    return options;
}

Script values() {
    return {"values",
            small_pool(),
            {open_pool(), store_int("a", 1), store_int("a", 2), store_text("b", 600, 'x'),
             store_text("b", 700, 'y'), sync_pool(), store_text("b", 20, 'z'), store_text("b", 9000, 'u'),
             store_text("b", 13000, 'v'), store_int("c", 3), erase("a"), store_int("a", 4), erase("b"),
             store_text("b", 5000, 'w'), sync_pool(), store_text("c", 3000, 'q'), erase("c"), close_pool()}};
}

Script arrays() {
    return {"arrays",
            small_pool(),
            {open_pool(),
             alloc("A", {8, 8}),
             store_box("A", {{0, 0}, {4, 4}}, 0),
             store_box("A", {{0, 4}, {4, 4}}, 100),
             store_box("A", {{4, 0}, {4, 4}}, 200),
             store_box("A", {{4, 4}, {4, 4}}, 300),
             sync_pool(),
             store_box("A", {{0, 0}, {4, 4}}, 400),
             store_box("A", {{0, 0}, {4, 8}}, 500),
             store_box("A", {{0, 0}, {8, 8}}, 600),
             store_box("A", {{4, 0}, {4, 4}}, 650),
             store_box("A", {{2, 2}, {1, 1}}, 7),
             alloc("B", {64, 32}),
             store_box("B", {{0, 0}, {64, 32}}, 0),
             sync_pool(),
             store_box("B", {{0, 0}, {64, 32}}, 1),
             store_box("B", {{8, 0}, {40, 32}}, 2),
             erase("A"),
             alloc("A", {3}),
             store_box("A", {{0}, {3}}, 9),
             erase("B"),
             close_pool()}};
}

Script appending() {
    Script script{"appending", small_pool(), {open_pool(), alloc("T", {unlimited, 3})}};
    for (std::uint64_t i = 0; i < 18; ++i) {  // at 16 they are joined
        script.operations.push_back(store_box("T", {{i, 0}, {1, 3}}, 10.0 * static_cast<double>(i)));
        if (i == 5) script.operations.push_back(sync_pool());
    }
    for (const Operation& last :
         {store_box("T", {{2, 0}, {5, 3}}, 1000), compact(), erase("T"), close_pool()}) {
        script.operations.push_back(last);
    }
    return script;
}

Script attributes() {
    return {"attributes",
            small_pool(),
            {open_pool(),
             store_int("v", 1),
             set_attribute("v", "units", "K"),
             set_attribute("v", "units", "degrees Celsius"),
             set_attribute("v", "note", std::string(900, 'n')),
             sync_pool(),
             set_attribute("v", "note", std::string(6000, 'm')),
             remove_attribute("v", "units"),
             set_attribute("v", "units", "F"),
             store_int("v", 2),
             set_attribute("/", "title", "pool"),
             store_int("g/x", 5),
             set_attribute("g", "kind", "group"),
             set_attribute("g/x", "k", "1"),
             sync_pool(),
             erase("v"),
             remove_attribute("/", "title"),
             store_int("v", 3),
             set_attribute("v", "units", "m"),
             erase("g/x"),
             erase("g"),
             close_pool()}};
}

Script names() {
    return {"names",
            small_pool(),
            {open_pool(),
             store_int("a", 1),
             set_attribute("a", "k", "1"),
             rename("a", "b"),
             rename("b", "c"),
             sync_pool(),
             rename("c", "a"),
             store_int("a", 2),
             rename("a", "g/h/a"),
             set_attribute("g/h/a", "k", "2"),
             store_int("a", 3),
             erase("g/h/a"),
             sync_pool(),
             erase("g/h"),
             make_group("g/e/f"),
             erase("g/e/f"),
             make_group("g/e/f"),
             sync_pool(),
             set_attribute("g/e/f", "k", "3"),
             rename("a", "g/a"),
             store_text("g/b", 800, 'b'),
             rename("g/b", "b"),
             erase("b"),
             store_int("b", 7),
             alloc("A", {4}),
             store_box("A", {{0}, {4}}, 3),
             rename("A", "B"),
             store_box("B", {{1}, {2}}, 30),
             erase("B"),
             close_pool()}};
}

// Names so long that an entry and its value have one size: one page may hold all there is of a variable.
Script long_names() {
    Script script{"long_names", small_pool(), {open_pool()}};
    for (int i = 0; i < 14; ++i) {
        script.operations.push_back(store_int("a_name_as_long_as_a_value_" + std::to_string(1000 + i), i));
        if (i == 3) script.operations.push_back(sync_pool());
    }
    script.operations.push_back(close_pool());
    return script;
}

// Names that lie in one chain of the table.
Script chains() {
    const std::uint64_t buckets =
        pool::lay_out(small_pool().chunk_bytes, small_pool().max_bytes).bucket_count;
    std::vector<std::string> ids;
    for (int i = 0; ids.size() < 6; ++i) {
        const std::string id = "id" + std::to_string(i);
        if (base::xxh3_64(id) % buckets == 5) ids.push_back(id);
    }
    return {
        "chains",
        small_pool(),
        {open_pool(), store_int(ids[0], 0), store_int(ids[1], 1), store_int("elsewhere", 2), sync_pool(),
         rename("elsewhere", ids[2]), rename(ids[0], ids[3]), store_int(ids[4], 4), rename(ids[4], ids[5]),
         close_pool(), open_pool(), erase(ids[1]), rename(ids[2], "elsewhere"), erase(ids[3]), close_pool()}};
}

// The space of blocks that another one has covered is taken by the next.
Script covering() {
    return {"covering",
            small_pool(),
            {open_pool(), alloc("A", {2, 16}), store_box("A", {{0, 0}, {1, 16}}, 0),
             store_box("A", {{1, 0}, {1, 16}}, 100), store_box("A", {{0, 0}, {2, 16}}, 200),
             store_box("A", {{1, 0}, {1, 16}}, 300), sync_pool(), store_box("A", {{0, 0}, {1, 16}}, 400),
             store_box("A", {{0, 0}, {2, 16}}, 500), store_box("A", {{0, 0}, {1, 16}}, 600), close_pool()}};
}

Script steps() {
    const Effect hidden = Effect::hidden;
    return {"steps",
            small_pool(),
            {open_pool(),
             store_int("a", 1),
             alloc("T", {unlimited, 2}),
             store_box("T", {{0, 0}, {1, 2}}, 0),
             sync_pool(),
             begin(1),
             store_int("a", 2, hidden),
             store_int("n", 1, hidden),
             store_box("T", {{0, 0}, {1, 2}}, 10, hidden),
             store_box("T", {{1, 0}, {1, 2}}, 20, hidden),
             set_attribute("a", "k", "1", hidden),
             commit(1),
             sync_pool(),
             begin(2),
             store_int("a", 3, hidden),
             store_int("a", 4, hidden),
             store_text("n", 700, 'n', hidden),
             store_box("T", {{1, 0}, {1, 2}}, 40, hidden),
             set_attribute("a", "k", "2", hidden),
             commit(2),
             compact(),
             sync_pool(),
             begin(3),
             store_int("a", 5, hidden),
             store_int("o", 5, hidden),
             store_box("T", {{2, 0}, {1, 2}}, 60, hidden),
             close_pool(),
             open_pool(),
             begin(3),
             store_box("T", {{2, 0}, {1, 2}}, 70, hidden),
             close_pool(),
             open_pool(),
             begin(3),
             store_int("a", 7, hidden),
             store_int("q", 7, hidden),
             store_box("T", {{2, 0}, {1, 2}}, 80, hidden),
             set_attribute("a", "k", "3", hidden),
             abandon(),
             begin(3),  // and what was stored in the abandoned ones must not be in it
             {"commit an empty step", Effect::neutral, [](PMEM& pmem) { pmem.commit(3); }},
             store_int("p", 1),
             begin(4),
             store_int("a", 6, hidden),
             commit(4),
             erase("a"),
             close_pool()}};
}

// What an abandoned step has stored is gone, also when somebody still looks at it: the step that is begun anew is committed
// without it.
Script looked_at() {
    const Effect hidden = Effect::hidden;
    auto view = std::make_shared<View<const double>>();
    const Operation look{"view", hidden, [view](PMEM& pmem) {
                             *view = pmem.view<double>("A", Box{{0}, {4}});
                         }};
    const Operation drop{"drop the view", Effect::neutral, [view](PMEM&) { *view = {}; }};
    return {"looked_at",
            small_pool(),
            {open_pool(), alloc("A", {4}), begin(1), store_box("A", {{0}, {4}}, 10, hidden), look, abandon(),
             begin(1), store_int("p", 1, hidden), commit(1), store_int("q", 2), drop, close_pool()}};
}

// A box that three steps have stored, over a block that the first has: of the second nothing is kept, and a load of it
// must say so.
Script old_steps() {
    const Effect hidden = Effect::hidden;
    return {"old_steps",
            small_pool(),
            {open_pool(), alloc("T", {4, 2}), begin(1), store_box("T", {{0, 0}, {4, 2}}, 0, hidden),
             commit(1), sync_pool(), begin(2), store_box("T", {{1, 0}, {1, 2}}, 10, hidden), commit(2),
             begin(3), store_box("T", {{1, 0}, {1, 2}}, 20, hidden), commit(3), begin(4),
             store_box("T", {{1, 0}, {1, 2}}, 30, hidden), commit(4), compact(), sync_pool(), close_pool()}};
}

// Bytes of a user that look like records, because they are a copy of some: once erased they are space like any other,
// and no scan may take them for what they seem to be.
Script lookalikes() {
    Script script{"lookalikes", small_pool(), {open_pool()}};
    for (int i = 0; i < 16; ++i) script.operations.push_back(store_int("v" + std::to_string(i), i));
    const Operation copy{"store a copy of the pool", Effect::changes, [](PMEM& pmem) {
                             const std::span<std::byte> pool = SimulatedKernel::current().pool();
                             const auto& super = *reinterpret_cast<const pool::Superblock*>(pool.data());
                             const auto* chunks =
                                 reinterpret_cast<const char*>(pool.data() + super.first_chunk_offset);
                             // In the order in which their place will be taken: values fill a slab before entries do.
                             const std::string entries(chunks, super.chunk_bytes);
                             const std::string values(chunks + super.chunk_bytes, super.chunk_bytes);
                             pmem.store("copy", values + entries);
                         }};
    // The last ones, so that their copies are not overwritten before there is a slab around them.
    for (const Operation& o :
         {copy, sync_pool(), rename("v15", "w15"), erase("v14"), erase("copy"), sync_pool()})
        script.operations.push_back(o);
    // More than a slab of values and one of entries, so that others are made where the copies were.
    for (int i = 0; i < 18; ++i) script.operations.push_back(store_int("n" + std::to_string(i), i));
    script.operations.push_back(close_pool());
    return script;
}

Script space() {
    return {"space",
            small_pool(),
            {open_pool(), store_text("a", 20000, 'a'), store_text("b", 30000, 'b'), sync_pool(), erase("a"),
             erase("b"), trim(), store_text("c", 12000, 'c'), alloc("A", {16, 16}),
             store_box("A", {{0, 0}, {16, 16}}, 0), store_box("A", {{0, 0}, {9, 16}}, 1),
             store_box("A", {{8, 0}, {8, 16}}, 2), sync_pool(), compact(), erase("A"), erase("c"), trim(),
             store_int("d", 1), close_pool()}};
}

// What was erased after the last sync may come back with the next power loss; so until a sync its space is nobody's, also
// when a recovery lies between.
Script erasing_unsynced() {
    return {"erasing_unsynced",
            small_pool(),
            {open_pool(), store_text("a", 14'000, 'a'), store_text("b", 13'000, 'b'), store_int("c", 1),
             sync_pool(), erase("a"), erase("b"), store_int("c", 2), close_pool()}};
}

Options wiping_pool() {
    Options options = small_pool();
    options.wipe = true;
    return options;
}

// Whatever is freed is wiped first: records, units, runs, the ends of runs, and slabs in which nothing is left.
Script wiping() {
    return {"wiping",
            wiping_pool(),
            {open_pool(),
             store_int("a", 1),
             store_text("b", 700, 'b'),
             store_text("c", 9'000, 'c'),
             store_int("a", 2),
             sync_pool(),
             store_text("b", 600, 'B'),
             store_text("c", 14'000, 'C'),
             erase("b"),
             alloc("A", {8, 8}),
             store_box("A", {{0, 0}, {4, 8}}, 0),
             store_box("A", {{0, 0}, {8, 8}}, 100),
             sync_pool(),
             set_attribute("a", "k", "v"),
             set_attribute("a", "k", std::string(900, 'k')),
             rename("a", "d"),
             erase("c"),
             trim(),
             close_pool(),
             open_pool(),
             erase("A"),
             store_text("c", 5'000, 'd'),
             sync_pool(),
             erase("d"),
             close_pool()}};
}

// A pool that others may see something in from now on.
Script beginning_to_wipe() {
    const Operation start{"begin to wipe", Effect::neutral,
                          [](PMEM& pool) { pmem::Sides::of(pool).shared()->start_wiping(); }};
    return {"beginning_to_wipe",
            small_pool(),
            {open_pool(), store_int("a", 1), store_text("b", 700, 'b'), store_text("c", 9'000, 'c'),
             erase("b"), store_text("c", 5'000, 'C'), sync_pool(), start, close_pool(), open_pool(),
             store_text("b", 800, 'b'), erase("c"), sync_pool(), close_pool(), open_pool(), erase("b"),
             close_pool()}};
}

// A pool that grows by more than is asked, because it is large already.
Script growing() {
    return {"growing",
            small_pool(512 * 1024),
            {open_pool(), store_text("large", 60'000, 'l'), store_text("too", 60'000, 't'), sync_pool(),
             store_text("a", 13'000, 'a'), store_text("b", 13'000, 'b'), store_int("c", 1), close_pool()}};
}

Script sessions() {
    return {"sessions",
            small_pool(),
            {open_pool(),
             store_int("a", 1),
             close_pool(),
             open_pool(),
             store_int("a", 2),
             store_text("b", 5000, 'b'),
             close_pool(),
             open_pool(),
             close_pool(),
             open_pool(),
             erase("b"),
             alloc("A", {4}),
             store_box("A", {{0}, {4}}, 1),
             close_pool(),
             open_pool(),
             store_box("A", {{0}, {4}}, 2),
             set_attribute("A", "k", "v"),
             rename("A", "B"),
             close_pool(),
             open_pool(),
             erase("B"),
             close_pool()}};
}

Script filling() {
    const Operation refused{"a store that finds no space", Effect::neutral, [](PMEM& pmem) {
                                try {
                                    pmem.store("a", std::string(9000, 'z'));
                                } catch (const Error& error) {
                                    if (error.kind() != Code::no_space) throw;
                                    return;
                                }
                                throw std::logic_error("there was space");
                            }};
    Script script{"filling", small_pool(104 * 1024), {open_pool(), store_int("a", 1)}};
    // The pool is filled by stores that are operations of their own, for each is a unit.
    for (int i = 0; i < 17; ++i)
        script.operations.push_back(store_text("f" + std::to_string(i), 3500, static_cast<char>('a' + i)));
    for (const Operation& o :
         {refused, sync_pool(), erase("f3"), erase("f4"), erase("f5"), store_text("a", 3000, 'n'), refused,
          erase("f0"), store_text("f0", 2000, 'm'), close_pool()}) {
        script.operations.push_back(o);
    }
    return script;
}

Script in_place() {
    const Operation freeze{"freeze", Effect::changes, [](PMEM& pmem) { pmem.freeze("C"); }};
    const Operation update{"update", Effect::neutral, [](PMEM& pmem) {
                               auto rows = pmem.update<double>("C", Box{{9, 0}, {4, 40}});
                               for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = 3.5;
                           }};
    return {"in_place",
            small_pool(),
            {open_pool(), alloc("C", {16, 40}, contiguous()),
             store_box("C", {{0, 0}, {16, 40}}, 1, Effect::neutral),
             store_box("C", {{3, 3}, {2, 5}}, 7, Effect::neutral), update, freeze, sync_pool(),
             store_int("a", 1), erase("C"), alloc("C", {4}, contiguous()), erase("C"), close_pool()}};
}

// The other ways of bytes into the pool: without checksums, of other types, encoded in place, compressed.
Script codings() {
    Options unchecked;
    unchecked.checksums = false;
    ArrayOptions packed;
    packed.codec = parse_codec("lz4:1:shuffle");
    const auto store_complex = [](double first) {
        return Operation{"store complex numbers", Effect::changes, [=](PMEM& pmem) {
                             const std::vector<double> parts = numbers(512, first);
                             pmem.store<std::complex<double>>(
                                 "Z", reinterpret_cast<const std::complex<double>*>(parts.data()),
                                 Box{{0}, {256}});
                         }};
    };
    // Written by a serializer straight into the pool.
    const auto store_words = [](const std::string& word) {
        return Operation{"store words", Effect::changes, [=](PMEM& pmem) {
#ifdef PMEMCPY_HAVE_CEREAL
                             pmem.store("words", std::vector<std::string>(200, word));
#else
                             pmem.store("words", word);
#endif
                         }};
    };
    const Operation alloc_complex{"alloc Z", Effect::changes,
                                  [](PMEM& pmem) { pmem.alloc<std::complex<double>>("Z", Dimensions{256}); }};
    return {"codings",
            small_pool(),
            {open_pool(), alloc_complex, store_complex(0), store_complex(7), store_words("a word"),
             store_words("another word"), alloc("P", {64, 16}, packed), store_box("P", {{0, 0}, {64, 16}}, 0),
             store_box("P", {{0, 0}, {64, 16}}, 100), close_pool(), open_pool(unchecked), store_complex(20),
             store_text("t", 5000, 't'), store_text("t", 6000, 'u'), sync_pool(), store_complex(30),
             close_pool()}};
}

// Blocks to other places. What was stored over one stays over it.
Script moving() {
    const auto move_all = [](PMEM& pmem) { store::MoveWithin::all_of(pmem, "A"); };
    const Operation move{"move A", Effect::neutral, move_all};
    const Operation move_in_step{"move A in a step", Effect::hidden, move_all};
    return {"moving",
            small_pool(),
            {open_pool(), alloc("A", {8, 8}), store_box("A", {{0, 0}, {4, 8}}, 0),
             store_box("A", {{2, 0}, {4, 4}}, 100), move, store_box("A", {{1, 1}, {2, 6}}, 200), sync_pool(),
             move, begin(1), store_box("A", {{0, 0}, {4, 8}}, 300, Effect::hidden), move_in_step, commit(1),
             move, sync_pool(), move, erase("A"), store_int("a", 1), close_pool()}};
}

// What lay in a flush target comes back, into a pool that somebody may open as soon as it is closed. Of the array there was another with
// its name, whose old steps the new one does not have.
Script restoring() {
    const Effect hidden = Effect::hidden;
    const Box all{{0, 0}, {64, 16}};
    const Operation array{"restore B", Effect::changes,
                          [](PMEM& pmem) { store::MoveWithin::restore_array(pmem, "A", "B", 2); }};
    const Operation block{"restore the block of B", Effect::changes,
                          [](PMEM& pmem) { store::MoveWithin::restore_newest_block(pmem, "A", "B"); }};
    return {"restoring",
            small_pool(),
            {open_pool(), alloc("B", {64, 16}, ArrayOptions{}.fill(0.5)), begin(1),
             store_box("B", all, 0, hidden), commit(1), begin(2), store_box("B", all, 5000, hidden),
             commit(2), rename("B", "A"), sync_pool(), array, block, store_int("a", 1), close_pool(),
             open_pool(), store_int("a", 2), close_pool()}};
}

// Where a slab of many small units has been there is one again.
Script small_blocks() {
    // Slabs of entries and values stay; so a process that stores a block after a recovery finds the others' chunks in the order that T found them in.
    Script script{
        "small_blocks", small_pool(), {open_pool(), store_int("g/x", 1), alloc("T", {unlimited, 16})}};
    for (std::uint64_t i = 0; i < 12; ++i)
        script.operations.push_back(store_box("T", {{i, 0}, {1, 16}}, 100.0 * static_cast<double>(i)));
    for (const Operation& last : {sync_pool(), erase("T"), store_int("a", 1), close_pool()})
        script.operations.push_back(last);
    return script;
}

// A segment of an array's directory is damaged, and repair brings its blocks back. The images are of what comes after it: nobody is told
// of the new pool before that.
Script repairing() {
    const Operation damage{"damage a segment", Effect::neutral, [](PMEM&) {
                               const persist::Medium medium(Durability::line);
                               std::span<std::byte> pool = SimulatedKernel::current().pool();
                               auto& state = *reinterpret_cast<pool::PoolState*>(&pool[pool::state_offset]);
                               medium.store(&state.clean.value, 0);
                               for (; pool.size() >= 64; pool = pool.subspan(64)) {
                                   auto& record = *reinterpret_cast<heap::RecordHeader*>(pool.data());
                                   const bool is_segment = static_cast<heap::RecordKind>(record.kind) ==
                                                           heap::RecordKind::segment;
                                   const auto wrong = record.checksum + 1;
                                   if (record.magic == heap::record_magic && is_segment)
                                       medium.write(&record.checksum, &wrong, sizeof wrong);
                               }
                           }};
    const Operation repair{"repair", Effect::neutral, [](PMEM&) {
                               catalog::Salvage salvage{true, {}};
                               Options options;
                               options.mode = Mode::update;
                               const auto store = std::make_shared<store::Store>(
                                   layout::Place{SimulatedKernel::path, {}}, options, &salvage);
                               store->close();
                               if (salvage.losses.empty()) throw std::logic_error("nothing was damaged");
                           }};
    Script script{"repairing",
                  small_pool(),
                  {open_pool(), alloc("A", {8, 8}), store_box("A", {{0, 0}, {4, 8}}, 0),
                   store_box("A", {{4, 0}, {4, 4}}, 100), store_int("a", 1), close_pool(), damage, repair}};
    script.first_operation = script.operations.size();
    for (const Operation& after : {open_pool(), store_int("a", 2), close_pool()})
        script.operations.push_back(after);
    return script;
}

// A device that holds a pool becomes another one.
Script formatting() {
    Options anew = small_pool();
    anew.mode = Mode::replace;
    Operation format{"mmap that replaces", Effect::changes,
                     [=](PMEM& pmem) { pmem.mmap(SimulatedKernel::path, anew); }};
    format.formats = true;
    return {"formatting",
            small_pool(),
            {open_pool(), store_int("a", 1), store_text("b", 600, 'b'), store_text("c", 7000, 'c'),
             erase("b"), close_pool(), format, store_int("d", 2), store_text("e", 5000, 'e'), close_pool()},
            SimulatedKernel::Place::device};
}

}  // namespace

std::vector<Script> scripts() {
    return {values(),
            arrays(),
            appending(),
            attributes(),
            names(),
            long_names(),
            chains(),
            covering(),
            steps(),
            looked_at(),
            old_steps(),
            lookalikes(),
            space(),
            growing(),
            erasing_unsynced(),
            sessions(),
            filling(),
            in_place(),
            codings(),
            formatting(),
            wiping(),
            beginning_to_wipe(),
            moving(),
            restoring(),
            small_blocks(),
            repairing()};
}

}  // namespace pmemcpy::crash
