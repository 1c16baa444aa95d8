// The scripts: short, each about one group of verbs, so that a failure names its cause.

#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "script.hpp"

namespace pmemcpy::crash {
namespace {

std::vector<double> numbers(std::size_t n, double first) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

Operation open_pool(Options options = {}) {
    return {"mmap", Effect::neutral, [options](PMEM& pmem) { pmem.mmap(SimulatedKernel::path, options); }};
}
Operation close_pool() {
    return {"munmap", Effect::neutral, [](PMEM& pmem) { pmem.munmap(); }, true};
}
Operation sync_pool() {
    return {"sync", Effect::neutral, [](PMEM& pmem) { pmem.sync(); }, true};
}
Operation store_int(const std::string& id, int value, Effect effect = Effect::changes) {
    return {"store " + id, effect, [=](PMEM& pmem) { pmem.store(id, value); }};
}
Operation store_text(const std::string& id, std::size_t size, char fill, Effect effect = Effect::changes) {
    return {"store " + id, effect, [=](PMEM& pmem) { pmem.store(id, std::string(size, fill)); }};
}
Operation erase(const std::string& id) {
    return {"erase " + id, Effect::changes, [=](PMEM& pmem) { pmem.erase(id); }};
}
Operation rename(const std::string& from, const std::string& to) {
    return {"rename " + from, Effect::changes, [=](PMEM& pmem) { pmem.rename(from, to); }};
}
Operation alloc(const std::string& id, const Dimensions& dims, ArrayOptions options = {}) {
    return {"alloc " + id, Effect::changes, [=](PMEM& pmem) { pmem.alloc<double>(id, dims, options); }};
}
Operation store_box(const std::string& id, const Box& box, double first, Effect effect = Effect::changes) {
    return {"store box of " + id, effect,
            [=](PMEM& pmem) { pmem.store<double>(id, numbers(box.elements(), first).data(), box); }};
}
Operation set_attribute(const std::string& id, const std::string& name, const std::string& value,
                        Effect effect = Effect::changes) {
    return {"set " + id + "@" + name, effect, [=](PMEM& pmem) { pmem.set_attribute(id, name, value); }};
}
Operation remove_attribute(const std::string& id, const std::string& name) {
    return {"remove " + id + "@" + name, Effect::changes,
            [=](PMEM& pmem) { pmem.remove_attribute(id, name); }};
}
Operation begin(std::uint64_t step) {
    return {"begin", Effect::neutral, [=](PMEM& pmem) { pmem.begin(step); }};
}
Operation commit(std::uint64_t step) {
    return {"commit", Effect::changes, [=](PMEM& pmem) { pmem.commit(step); }};
}
Operation compact() {
    return {"compact", Effect::neutral, [](PMEM& pmem) { pmem.compact(); }};
}
Operation trim() {
    return {"trim", Effect::neutral, [](PMEM& pmem) { pmem.trim(); }};
}

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
    for (std::uint64_t i = 0; i < 12; ++i) {
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
             store_int("p", 1),
             begin(4),
             store_int("a", 6, hidden),
             commit(4),
             erase("a"),
             close_pool()}};
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
    Script script{"filling", small_pool(96 * 1024), {open_pool(), store_int("a", 1)}};
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
    return {"in_place",
            small_pool(),
            {open_pool(), alloc("C", {16, 40}, contiguous()),
             store_box("C", {{0, 0}, {16, 40}}, 1, Effect::neutral),
             store_box("C", {{3, 3}, {2, 5}}, 7, Effect::neutral), freeze, sync_pool(), store_int("a", 1),
             erase("C"), alloc("C", {4}, contiguous()), erase("C"), close_pool()}};
}

/// Draws calls that make sense in the state that the calls before have left.
class Drawing {
public:
    explicit Drawing(std::uint64_t seed) : random_(seed) {}

    Operation next() {
        for (;;) {
            const std::string id = "v" + std::to_string(random_() % 5);
            const bool there = values_.contains(id);
            const bool array_there = array_ > 0;
            switch (random_() % 16) {
                case 0:
                case 1:
                    values_[id] = {};
                    return store_int(id, ++counter_);
                case 2:
                    values_[id] = {};
                    return store_text(id, 500 + random_() % 3000, fill());
                case 3:
                    values_[id] = {};
                    return store_text(id, 4000 + random_() % 12000, fill());
                case 4:
                case 5:
                    if (!there) break;
                    values_.erase(id);
                    return erase(id);
                case 6: {
                    const std::string to = "g/" + id;
                    if (!there || values_.contains(to)) break;
                    values_[to] = values_[id];
                    values_.erase(id);
                    return rename(id, to);
                }
                case 7: {
                    const std::string from = "g/" + id;
                    if (there || !values_.contains(from)) break;
                    values_[id] = values_[from];
                    values_.erase(from);
                    return rename(from, id);
                }
                case 8: {
                    if (!there) break;
                    const std::string name = "k" + std::to_string(random_() % 2);
                    values_[id].insert(name);
                    return set_attribute(
                        id, name, std::string(1 + random_() % 900, fill()) + std::to_string(++counter_));
                }
                case 9: {
                    if (!there || values_[id].empty()) break;
                    const std::string name = *values_[id].begin();
                    values_[id].erase(name);
                    return remove_attribute(id, name);
                }
                case 10:
                    if (array_there) break;
                    array_ = 1;
                    return alloc("A", {unlimited, 5});
                case 11:
                case 12:
                case 13: {
                    if (!array_there) break;
                    const Dimensions offset{random_() % 6, random_() % 5};
                    const Dimensions count{1 + random_() % 4, 1 + random_() % (5 - offset[1])};
                    return store_box("A", {offset, count}, 1000.0 * ++counter_);
                }
                case 14:
                    if (!array_there || random_() % 4 != 0) return random_() % 2 == 0 ? compact() : trim();
                    array_ = 0;
                    return erase("A");
                case 15:
                    return sync_pool();
            }
        }
    }

private:
    char fill() { return static_cast<char>('a' + random_() % 26); }

    std::mt19937_64 random_;
    std::map<std::string, std::set<std::string>> values_;  // id -> names of attributes
    int array_ = 0;
    int counter_ = 0;
};

}  // namespace

Script random_script(std::uint64_t seed, std::size_t length) {
    Script script{"random" + std::to_string(seed), small_pool(), {open_pool()}};
    Drawing drawing(seed);
    for (std::size_t i = 0; i < length; ++i) {
        script.operations.push_back(drawing.next());
        if (i % 40 == 39) {
            script.operations.push_back(close_pool());
            script.operations.push_back(open_pool());
        }
    }
    script.operations.push_back(close_pool());
    return script;
}

std::vector<Script> scripts() {
    return {values(), arrays(), appending(), attributes(), names(),
            steps(),  space(),  sessions(),  filling(),    in_place()};
}

}  // namespace pmemcpy::crash
