#include "index/modes.hpp"

#include "array/id.hpp"
#include "store/store.hpp"

namespace pmemcpy::index {

namespace {

std::optional<IndexMode> own_mode(const store::Store& store, std::string_view id) {
    const auto word = store.index_word(id);
    for (const IndexMode mode : {IndexMode::none, IndexMode::async, IndexMode::sync}) {
        if (word == name_of(mode)) return mode;
    }
    return {};
}

}  // namespace

IndexMode mode_of_pool(const store::Store& store) { return own_mode(store, "/").value_or(IndexMode::none); }

IndexMode mode_of(const store::Store& store, std::string_view id) {
    if (const auto own = own_mode(store, id)) return *own;
    const auto groups = array::parents(id);
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
        if (const auto own = own_mode(store, *group)) return *own;
    }
    return mode_of_pool(store);
}

}  // namespace pmemcpy::index
