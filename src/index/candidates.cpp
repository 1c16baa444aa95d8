// Which objects a question may mean, as the index says and the feed: what has changed since is looked at.

#include "index/candidates.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>
#include <utility>

#include "array/id.hpp"
#include "array/id_order.hpp"
#include "index/index.hpp"
#include "index/inheritance.hpp"
#include "index/names.hpp"
#include "os/fork.hpp"

namespace pmemcpy::index {

namespace {

constexpr std::uint64_t most_changes_to_look_at = 4096;

/// An object that a condition may mean, while its id lies where it was read.
struct Listed {
    std::string_view id;
    bool is_sure;
};

CandidateList sorted_by_id(std::vector<Listed> objects) {
    array::sort_by_id(objects, [](const Listed& object) { return object.id; });
    CandidateList sorted = CandidateList::begin();
    for (const Listed& object : objects) sorted.add(object.id, object.is_sure);
    return sorted;
}

// Inlined, it would copy each word by word, where a compiler knows how long an id is at most.
[[gnu::noinline]] void append(std::vector<std::string>& ids, std::string_view id) { ids.emplace_back(id); }

/// Nothing has an attribute that a word of theirs means, and the pool itself, which is in no index, is not meant.
bool are_names_alone(const Lookup& lookup, const Asked::OfNames& asked, Object* pool) {
    const Inheritance inheritance(lookup, pool, {}, {});
    const bool are_known = std::all_of(asked.keys.begin(), asked.keys.end(),
                                       [&](const Key* key) { return inheritance.means_known(*key); });
    const bool may_be_pool = pool != nullptr && asked.are_groups_meant;
    return are_known && (!may_be_pool || compare(std::string(pool_id), *asked.test) != Answer::yes);
}

// False if there are none, which only a plan knows the meaning of.
bool list_names(const Lookup& lookup, Asked& asked, Object* pool, CandidateList& objects,
                std::vector<std::string>* ids) {
    const auto of_names = asked.of_names();
    if (!of_names || !are_names_alone(lookup, *of_names, pool)) return false;
    if (ids == nullptr) {
        CandidateList list = CandidateList::begin();
        const bool is_done = walk_names(lookup, *of_names, [&](std::string_view id) { list.add(id, true); });
        if (is_done) objects = std::move(list);
        return is_done && objects.size() != 0;
    }
    const std::size_t before = ids->size();
    if (!walk_names(lookup, *of_names, [&](std::string_view id) { append(*ids, id); })) ids->resize(before);
    return ids->size() != before;
}

thread_local CandidateList left_behind;

}  // namespace

CandidateList CandidateList::begin() { return std::exchange(left_behind, {}); }

void CandidateList::end(CandidateList&& list) noexcept {
    constexpr std::size_t most_bytes_kept = std::size_t{1} << 20;
    const std::size_t capacity = list.ids_.capacity();
    if (capacity > most_bytes_kept || capacity <= left_behind.ids_.capacity()) return;
    left_behind = std::move(list);
    left_behind.ids_.clear();
    left_behind.places_.clear();
}

std::size_t CandidateList::count_sure() const {
    return static_cast<std::size_t>(
        std::count_if(places_.begin(), places_.end(), [](const Place& place) { return place.is_sure; }));
}

CandidateList either(const CandidateList& a, const CandidateList& b) {
    CandidateList all;
    std::size_t at_a = 0;
    std::size_t at_b = 0;
    while (at_a < a.size() || at_b < b.size()) {
        const bool has_both = at_a < a.size() && at_b < b.size();
        const int order = has_both ? a.id(at_a).compare(b.id(at_b)) : at_a < a.size() ? -1 : 1;
        if (order == 0)
            all.add(a.id(at_a), a.is_sure(at_a) && b.is_sure(at_b));
        else
            order < 0 ? all.add(a.id(at_a), a.is_sure(at_a)) : all.add(b.id(at_b), b.is_sure(at_b));
        if (order <= 0) ++at_a;
        if (order >= 0) ++at_b;
    }
    return all;
}

// As of now; null where there is no index.
std::unique_ptr<Lookup> Index::take_lookup() {
    std::unique_ptr<Lookup> lookup;
    {
        const std::lock_guard lock(mutex_);
        if (!lookups_.empty()) {
            lookup = std::move(lookups_.back());
            lookups_.pop_back();
        }
    }
    if (lookup) {
        try {
            lookup->renew();
            return lookup;
        } catch (const Error& error) {
            if (error.kind() != Code::corrupt) throw;
            lookup.reset();  // there may be another index by now
        }
    }
    auto engine = this->engine();
    return engine ? std::make_unique<Lookup>(std::move(engine)) : nullptr;
}

void Index::take_back(std::unique_ptr<Lookup> lookup) {
    lookup->rest();
    const std::lock_guard lock(mutex_);
    lookups_.push_back(std::move(lookup));
}

void Index::forget_lookups() {
    const std::lock_guard lock(mutex_);
    lookups_.clear();
}

/// What one query reads by. Null where there is no index.
class Index::Lent {
public:
    explicit Lent(Index& index) : index_(index), lookup_(index.take_lookup()) {}
    ~Lent() {
        if (lookup_) index_.take_back(std::move(lookup_));
    }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    explicit operator bool() const { return lookup_ != nullptr; }
    const Lookup& operator*() const { return *lookup_; }
    const Lookup* operator->() const { return lookup_.get(); }
    void forget() {
        lookup_.reset();
        index_.forget_lookups();
    }

private:
    Index& index_;
    std::unique_ptr<Lookup> lookup_;
};

std::optional<Candidates> Index::candidates(Asked& asked, Steps steps, Surroundings& around,
                                            std::vector<std::string>* ids) {
    const auto because = [this](const std::string& why) {
        const std::lock_guard lock(mutex_);
        why_not_ = why;
        return std::nullopt;
    };
    if (fork_generation_ != os::fork_generation())
        return {};  // nothing here is a forked child's, no lock either
    if (asked.is_everything()) return because("without a condition there is nothing to look up");
    if (store_->in_step()) return because("in a step that is not committed no index is used");
    const std::size_t ids_before = ids == nullptr ? 0 : ids->size();
    try {
        for (bool is_first = true;; is_first = false) {
            Lent lookup(*this);
            if (!lookup) {
                return because(mode() == IndexMode::none
                                   ? "the pool has no index (`pmemcpy index POOL async`)"
                                   : "the pool has no index yet; whoever opens it for writing makes one");
            }
            const About& about = lookup->about();
            // Before the position: what has been said since is behind that.
            const pool::Changes under_way = store_->feed().under_way();
            if (under_way.lost) return because("more is being changed just now than is counted");
            pool::Changes changes{.next = position()};
            const bool is_current = about.is_complete != 0 && changes.next == about.position;
            // One that was removed may be read on, and tells the truth for as long as nothing changes.
            if (!is_current && !lookup->engine().is_there()) {
                lookup.forget();
                continue;
            }
            if (about.format != index_format || about.uuid != store_->uuid())
                return because("the index is of another pool, or another version of pMEMCPY");
            if (about.is_complete == 0) {
                wake();
                return because("the index is not complete yet");
            }
            if (!is_current) changes = store_->feed().since(about.position, most_changes_to_look_at);
            if (changes.lost) {
                wake();
                return because(
                    "the index has missed some changes; whoever opens the pool for writing completes it");
            }
            if (changes.left > 0) {
                if (!is_first || !keeps() || !try_follow()) return because("the index is too far behind");
                continue;
            }
            const bool is_settled = under_way.offsets.empty() && !under_way.committed;
            changes.offsets.insert(changes.offsets.end(), under_way.offsets.begin(), under_way.offsets.end());
            changes.committed |= under_way.committed;
            auto found = candidates_in(*lookup, changes, asked, steps, around.pool(), ids);
            if (found && !is_settled) found->position = no_position;  // it may change with no word of it
            return found ? std::move(found) : because("the index has nothing that helps here");
        }
    } catch (const Error& error) {
        if (ids != nullptr) ids->resize(ids_before);
        note(error.what());
        if (error.kind() == Code::corrupt && keeps()) wake();  // it is made anew
        return because(error.what());                          // a look at all objects needs none
    }
}

std::optional<Candidates> Index::candidates_in(const Lookup& lookup, const pool::Changes& changes,
                                               Asked& asked, Steps steps, Object* pool,
                                               std::vector<std::string>* ids) const {
    const Reading& reading = lookup.reading();
    Candidates candidates;
    candidates.position = changes.next;
    std::vector<Listed> listed;  // what lies in the index stays there until the reading ends
    const auto list = [&](const Posting& posting, bool is_sure) {
        if (!posting.id.empty()) return listed.push_back({posting.id, is_sure});
        if (const auto id = reading.get(Table::objects, key_of(posting.place)))
            listed.push_back({*id, is_sure});
    };
    const bool is_all = changes.offsets.empty() && !changes.committed;
    if (is_all && steps == Steps::untold) {
        const auto equality = asked.equality();
        const bool is_pools =
            equality && pool != nullptr && pool->has_attribute(equality->key.parts().front());
        if (const auto sure = sure_to_equal(lookup, equality); !sure.empty() && !is_pools) {
            listed.reserve(sure.size());
            for (const Posting& posting : sure) list(posting, true);
            candidates.objects = sorted_by_id(std::move(listed));
            return candidates;
        }
        if (list_names(lookup, asked, pool, candidates.objects, ids)) return candidates;
    }
    std::vector<std::uint64_t> changed = changes.offsets;
    if (changes.committed) {
        reading.walk(Table::pending, {}, [&](std::string_view key, std::string_view) {
            changed.push_back(place_in(key));
            return true;
        });
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    std::vector<std::string> looked_at;
    looked_at.reserve(changed.size());
    for (const std::uint64_t place : changed) {
        if (auto id = store_->id_at(place)) looked_at.push_back(std::move(*id));
    }
    const Inheritance inheritance(lookup, pool, changed, looked_at);
    Plan plan = plan_of(lookup, inheritance, asked.condition(), steps);
    if (!plan.is_answered) return {};
    candidates.may_inherit = inheritance.matters_to(*asked.condition());
    candidates.doubts = doubts_of(lookup, inheritance, asked.condition(), changed);
    candidates.steps = std::move(plan.steps);
    listed.reserve(plan.postings.sure.size() + plan.postings.maybe.size() + changed.size());
    for (const bool is_sure : {true, false}) {
        for (const Posting& posting : is_sure ? plan.postings.sure : plan.postings.maybe) {
            if (!std::binary_search(changed.begin(), changed.end(), posting.place)) list(posting, is_sure);
        }
    }
    for (const std::string& id : looked_at) {
        listed.push_back({id, false});
        // A group comes into being with what is stored in it, and nobody says so.
        for (const std::string_view group : array::parents(id)) listed.push_back({group, false});
    }
    if (pool != nullptr) listed.push_back({pool_id, false});
    lookup.leave(std::move(plan.postings.sure));
    candidates.objects = sorted_by_id(std::move(listed));
    return candidates;
}

}  // namespace pmemcpy::index
