#pragma once

// The calls that scripts are made of.

#include <numeric>
#include <string>
#include <vector>

#include "script.hpp"

namespace pmemcpy::crash {

inline std::vector<double> numbers(std::size_t n, double first) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

inline Operation open_pool(Options options = {}) {
    return {"mmap", Effect::neutral, [options](PMEM& pmem) { pmem.mmap(SimulatedKernel::path, options); }};
}
inline Operation close_pool() {
    return {"munmap", Effect::neutral, [](PMEM& pmem) { pmem.munmap(); }, true};
}
inline Operation sync_pool() {
    return {"sync", Effect::neutral, [](PMEM& pmem) { pmem.sync(); }, true};
}
inline Operation store_int(const std::string& id, int value, Effect effect = Effect::changes) {
    return {"store " + id, effect, [=](PMEM& pmem) { pmem.store(id, value); }};
}
inline Operation store_text(const std::string& id, std::size_t size, char fill,
                            Effect effect = Effect::changes) {
    return {"store " + id, effect, [=](PMEM& pmem) { pmem.store(id, std::string(size, fill)); }};
}
inline Operation erase(const std::string& id) {
    return {"erase " + id, Effect::changes, [=](PMEM& pmem) { pmem.erase(id); }};
}
inline Operation rename(const std::string& from, const std::string& to) {
    return {"rename " + from, Effect::changes, [=](PMEM& pmem) { pmem.rename(from, to); }};
}
inline Operation alloc(const std::string& id, const Dimensions& dims, ArrayOptions options = {}) {
    return {"alloc " + id, Effect::changes, [=](PMEM& pmem) { pmem.alloc<double>(id, dims, options); }};
}
inline Operation store_box(const std::string& id, const Box& box, double first,
                           Effect effect = Effect::changes) {
    return {"store box of " + id, effect,
            [=](PMEM& pmem) { pmem.store<double>(id, numbers(box.elements(), first).data(), box); }};
}
inline Operation set_attribute(const std::string& id, const std::string& name, const std::string& value,
                               Effect effect = Effect::changes) {
    return {"set " + id + "@" + name, effect, [=](PMEM& pmem) { pmem.set_attribute(id, name, value); }};
}
inline Operation remove_attribute(const std::string& id, const std::string& name) {
    return {"remove " + id + "@" + name, Effect::changes,
            [=](PMEM& pmem) { pmem.remove_attribute(id, name); }};
}
inline Operation begin(std::uint64_t step) {
    return {"begin", Effect::neutral, [=](PMEM& pmem) { pmem.begin(step); }};
}
inline Operation commit(std::uint64_t step) {
    return {"commit", Effect::changes, [=](PMEM& pmem) { pmem.commit(step); }};
}
inline Operation abandon() {
    return {"abandon", Effect::neutral, [](PMEM& pmem) { pmem.abandon(); }};
}
inline Operation make_group(const std::string& id) {
    return {"make group " + id, Effect::changes, [=](PMEM& pmem) { pmem.make_group(id); }};
}
inline Operation compact() {
    return {"compact", Effect::neutral, [](PMEM& pmem) { pmem.compact(); }};
}
inline Operation trim() {
    return {"trim", Effect::neutral, [](PMEM& pmem) { pmem.trim(); }};
}

}  // namespace pmemcpy::crash
