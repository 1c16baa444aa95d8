#include "index/surroundings.hpp"

#include <pmemcpy/error.hpp>
#include <vector>

#include "array/id.hpp"
#include "index/object.hpp"

namespace pmemcpy::index {

namespace {

constexpr std::size_t most_kept = 1024;  // the objects come by name, so those of one group one after another

}  // namespace

Surroundings::Surroundings(const PMEM& pool) : pool_(&pool) {}
Surroundings::~Surroundings() = default;

Object* Surroundings::nearest_with(const std::string& id, const std::string& attribute) {
    if (id == pool_id) return nullptr;
    std::vector<std::string_view> around = array::parents(id);
    around.insert(around.begin(), pool_id);
    for (auto one = around.rbegin(); one != around.rend(); ++one) {
        Object& object = at(*one);
        try {
            if (object.has_attribute(attribute)) return &object;
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;  // a group that was erased just now
        }
    }
    return nullptr;
}

Object* Surroundings::pool() {
    Object& pool = at(pool_id);
    return pool.has_attributes() ? &pool : nullptr;
}

bool Surroundings::has_attributes(const std::string& group) {
    try {
        return at(group).has_attributes();
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return false;
    }
}

Object& Surroundings::at(std::string_view id) {
    if (const auto there = seen_.find(id); there != seen_.end()) return *there->second;
    if (seen_.size() == most_kept) seen_.clear();
    auto object = std::make_unique<Object>(*pool_, std::string(id), *this);
    return *seen_.emplace(id, std::move(object)).first->second;
}

}  // namespace pmemcpy::index
