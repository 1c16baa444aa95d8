#pragma once

#include <functional>
#include <string_view>

#include "index/asked.hpp"
#include "index/engine/packed.hpp"
#include "index/fact.hpp"
#include "index/lookup.hpp"
#include "index/posted.hpp"
#include "index/posting.hpp"

namespace pmemcpy::index {

/// For questions that are only of names, which lie in the index as answers are given: calls f(id) for each that is meant, for sure, in order,
/// without a plan and without a list. False where it takes one: f may have been called for some by then.
template <class F>
bool walk_names(const Lookup& lookup, const Asked::OfNames& asked, F&& f) {
    const Node& test = *asked.test;
    const PostedKey key = lookup.key(name_of_root(*test.key));
    if (!key.number || key.has_more || lookup.has_unposted()) return false;
    const bool tells_by_order = !is_of_text(test.relation) || test.relation == Relation::begins;
    bool is_sure = true;
    std::string_view last;
    for (const Range& range : ranges_of(*key.number, test)) {
        if (!range.is_exact) return false;
        bool has_come = false;
        const auto walk = [&](std::string_view pack, std::string_view end) {
            const bool are_all_before = !end.empty() && end <= range.end;
            for (PackReader reader(pack); reader.next();) {
                const std::string_view at = reader.key();
                if (!has_come && at < range.from) continue;
                has_come = true;
                if (!are_all_before && at >= range.end) return false;
                if (reader.posting().is_group && !asked.are_groups_meant) continue;
                if (!is_whole_text(at)) return is_sure = false;
                const std::string_view id = at.substr(posting_head_bytes);
                if (!tells_by_order && !meets(id, test)) continue;
                // Under a name that was just given to another object there may be two.
                const bool is_again = !last.empty() && id.back() == last.back() && id == last;
                if (!is_again) f(id);
                last = id;
            }
            return true;
        };
        lookup.reading().walk_packs(range.from, std::ref(walk));
        if (!is_sure) return false;
    }
    return true;
}

}  // namespace pmemcpy::index
