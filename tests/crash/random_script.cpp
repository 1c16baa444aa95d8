#include <map>
#include <random>
#include <set>
#include <string>

#include "operations.hpp"

namespace pmemcpy::crash {
namespace {

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

}  // namespace pmemcpy::crash
