#include "index/inheritance.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "index/posted.hpp"
#include "index/posting.hpp"

namespace pmemcpy::index {

namespace {

bool lies_in(std::string_view id, std::string_view group) {
    return group == pool_id || (id.size() > group.size() && id.starts_with(group) && id[group.size()] == '/');
}

/// Calls f with each group that an id lies in, the nearest first, until it returns true.
template <class F>
bool any_around(std::string_view id, F&& f) {
    for (auto slash = id.rfind('/'); slash != std::string_view::npos && slash != 0;
         slash = id.rfind('/', slash - 1)) {
        if (f(id.substr(0, slash))) return true;
    }
    return false;
}

std::string root_of(const Key& key) { return name_of_attribute(key.parts().front()); }

}  // namespace

Inheritance::Inheritance(const Lookup& lookup, Object* pool, std::span<const std::uint64_t> changed,
                         std::span<const std::string> changed_ids)
    : lookup_(lookup), pool_(pool), changed_(changed), changed_ids_(changed_ids) {}

bool Inheritance::pool_has(const Key& key) const {
    return pool_ != nullptr && pool_->has_attribute(key.parts().front());
}

bool Inheritance::is_changed(std::uint64_t place) const {
    return std::binary_search(changed_.begin(), changed_.end(), place);
}

std::optional<std::string_view> Inheritance::id_of(const Posting& posting) const {
    if (!posting.id.empty()) return posting.id;
    return lookup_.reading().get(Table::objects, key_of(posting.place));
}

bool Inheritance::means_known(const Key& key) const {
    return key.means() != Key::Means::nearest || (!pool_has(key) && !lookup_.key(root_of(key)).number);
}

// What was changed, or is not to be posted, may have any attribute.
const std::vector<std::string>& Inheritance::unknown() const {
    if (unknown_) return *unknown_;
    unknown_.emplace();
    const auto add = [&](std::string_view id) {
        bool has_members = false;
        walk_names(id, [&](std::string_view, const Posting&) {
            has_members = true;
            return false;
        });
        if (has_members) unknown_->emplace_back(id);
    };
    for (const std::string& id : changed_ids_) add(id);
    if (lookup_.has_unposted()) {
        std::vector<Posting> unposted;
        const std::string posting = posting_of_more(*lookup_.key(std::string(unposted_key)).number);
        lookup_.reading().add_posted(table_of(posting), posting, unposted);
        for (const Posting& one : unposted) {
            const auto id = one.is_group && !is_changed(one.place) ? id_of(one) : std::nullopt;
            if (id) add(*id);
        }
    }
    std::sort(unknown_->begin(), unknown_->end());
    return *unknown_;
}

/// Calls f(id, posting) for what is posted under a name in this group, however deep, until it returns false.
template <class F>
void Inheritance::walk_names(std::string_view within, F&& f) const {
    const Key name({std::string(word_of(Known::name))}, Key::Means::known);
    const PostedKey key = lookup_.key(name_of_root(name));
    if (!key.number) return;
    const std::string prefix = within == pool_id ? std::string() : std::string(within) + "/";
    const NodePointer begins = test(Relation::begins, name, {Literal(prefix)});
    for (const Range& range : ranges_of(*key.number, *begins)) {
        const auto visit = [&](std::string_view at, Posting posting) {
            if (at >= range.end) return false;
            if (is_whole_text(at)) posting.id = at.substr(posting_head_bytes);
            const auto id = id_of(posting);
            return !id || !id->starts_with(prefix) || f(*id, posting);
        };
        lookup_.reading().walk_postings(table_of(range.from), range.from, std::ref(visit));
    }
}

/// Of an attribute, by their ids, with what is known before anything of them is: that they have it, or may.
Inheritance::Holders Inheritance::holders(const PostedKey& root) const {
    Holders holders;
    if (root.has_groups) {
        std::vector<Posting> groups;
        const std::string posting = posting_of_group(*root.number);
        lookup_.reading().add_posted(table_of(posting), posting, groups);
        for (const Posting& group : groups) {
            const auto id = is_changed(group.place) ? std::nullopt : id_of(group);
            if (id) holders.emplace(*id, Meets::no);
        }
    }
    for (const std::string& id : unknown()) holders.insert_or_assign(id, Meets::maybe);
    return holders;
}

/// Sorted by object.
std::vector<Posting> Inheritance::all_with(const PostedKey& root) const {
    std::vector<Posting> all;
    if (!root.number) return all;
    const Range range = all_of(*root.number);
    const auto visit = [&](std::string_view at, const Posting& posting) {
        if (at >= range.end) return false;
        all.push_back(posting);
        return true;
    };
    lookup_.reading().walk_postings(table_of(range.from), range.from, std::ref(visit));
    const std::string more = posting_of_more(*root.number);
    lookup_.reading().add_posted(table_of(more), more, all);
    std::sort(all.begin(), all.end());
    return all;
}

bool Inheritance::add_members(std::span<const Node* const> tests, const PostedKey& root, std::size_t most,
                              Postings& postings) const {
    const Key& key = *tests.front()->key;
    Meets of_pool = Meets::no;
    if (pool_has(key)) {
        const Facts& facts = pool_->facts(key);
        const auto is_met = [&](const Node* test) {
            return std::any_of(facts.begin(), facts.end(),
                               [&](const Fact& fact) { return compare(fact, *test) == Answer::yes; });
        };
        if (std::all_of(tests.begin(), tests.end(), is_met)) of_pool = Meets::yes;
    }
    Holders holders = this->holders(root);
    for (const auto& [list, meets] :
         {std::pair(&postings.maybe, Meets::maybe), {&postings.sure, Meets::yes}}) {
        for (const Posting& one : *list) {
            if (!one.is_group || holders.empty() || is_changed(one.place)) continue;
            const auto id = id_of(one);
            const auto holder = id ? holders.find(*id) : holders.end();
            if (holder != holders.end()) holder->second = std::max(holder->second, meets);
        }
    }
    std::vector<std::string_view> meeting;  // the outermost
    if (of_pool != Meets::no) {
        meeting.push_back(pool_id);
    } else {
        for (const auto& [id, meets] : holders) {
            if (meets != Meets::no && !any_around(id, [&](std::string_view group) {
                    const auto around = holders.find(group);
                    return around != holders.end() && around->second != Meets::no;
                }))
                meeting.push_back(id);
        }
    }
    if (meeting.empty()) return true;
    const std::vector<Posting> own = all_with(root);
    Postings members;
    std::size_t seen = own.size();
    for (const std::string_view group : meeting) {
        walk_names(group, [&](std::string_view id, Posting posting) {
            if (++seen > most) return false;
            if (std::binary_search(own.begin(), own.end(), posting)) return true;
            Meets meets = of_pool;
            if (!holders.empty()) {
                any_around(id, [&](std::string_view around) {
                    const auto holder = holders.find(around);
                    if (holder == holders.end()) return false;
                    meets = holder->second;
                    return true;
                });
            }
            if (meets == Meets::yes) members.sure.push_back(posting);
            if (meets == Meets::maybe) members.maybe.push_back(posting);
            return true;
        });
        if (seen > most) return false;
    }
    postings.sure.insert(postings.sure.end(), members.sure.begin(), members.sure.end());
    postings.maybe.insert(postings.maybe.end(), members.maybe.begin(), members.maybe.end());
    return true;
}

void Inheritance::add_members_of_unknown(Postings& postings) const {
    for (const std::string& group : unknown()) {
        walk_names(group, [&](std::string_view, const Posting& posting) {
            postings.maybe.push_back(posting);
            return true;
        });
    }
}

bool Inheritance::reaches_into(const std::string& scope, const Key& key) const {
    if (scope.empty()) return false;
    if (pool_has(key)) return true;
    const Holders holders = this->holders(lookup_.key(root_of(key)));
    return std::any_of(holders.begin(), holders.end(),
                       [&](const auto& holder) { return lies_in(scope, holder.first); });
}

bool Inheritance::matters_to(const Node& condition) const {
    if (condition.key && condition.key->means() != Key::Means::known &&
        (!unknown().empty() || pool_has(*condition.key) || lookup_.key(root_of(*condition.key)).has_groups))
        return true;
    return std::any_of(condition.parts.begin(), condition.parts.end(),
                       [&](const NodePointer& part) { return matters_to(*part); });
}

}  // namespace pmemcpy::index
