#include "index/search.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <pmemcpy/error.hpp>
#include <pmemcpy/pmemcpy.hpp>

#include "index/index.hpp"
#include "index/known.hpp"

namespace pmemcpy {

namespace index {

namespace {

NodePointer node_of(const Query& query) { return query.condition() ? query.condition()->node() : nullptr; }

std::string common(const std::string& a, const std::string& b) {
    return {a.begin(), std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first};
}

/// Of the name, and of nothing that an attribute could be.
std::string prefix_of_test(const Node& node) {
    if (!is_known(*node.key, Known::name) || node.key->means() != Key::Means::known) return {};
    switch (node.relation) {
        case Relation::equal:
        case Relation::begins:
            return std::get<std::string>(node.operands.front().value());
        case Relation::matches:
            return node.glob->prefix();
        default:
            return {};
    }
}

CandidateList candidates_of(const std::vector<std::string>& ids, bool is_sure) {
    CandidateList list;
    for (const std::string& id : ids) list.add(id, is_sure);
    return list;
}

/// The one that stands for an object with several.
Facts first_of(const Facts& facts) {
    if (facts.empty()) return {};
    return {*std::min_element(facts.begin(), facts.end(), is_before)};
}

Literal literal_of(const Fact& fact) {
    return std::visit(
        [](const auto& value) -> Literal {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Incomparable>)
                return Literal(value.what);
            else
                return Literal(value);
        },
        fact);
}

}  // namespace

std::string prefix_of(const NodePointer& condition) {
    if (condition == nullptr) return {};
    const Node& node = *condition;
    std::string prefix;
    switch (node.relation) {
        case Relation::all:
            for (const NodePointer& part : node.parts) {
                if (std::string one = prefix_of(part); one.size() > prefix.size()) prefix = std::move(one);
            }
            return prefix;
        case Relation::any:
            prefix = prefix_of(node.parts.front());
            for (const NodePointer& part : node.parts) prefix = common(prefix, prefix_of(part));
            return prefix;
        case Relation::none:
            return {};
        case Relation::under: {
            const std::string& group = std::get<std::string>(node.operands.front().value());
            return group == "/" ? "" : group + "/";
        }
        default:
            return prefix_of_test(node);
    }
}

Search::Search(const PMEM& pool, const Query& query, std::span<const Literal> values, Steps steps,
               std::vector<std::string>* ids)
    : pool_(&pool), around_(pool), query_(query) {
    Asked asked(node_of(query), values);
    if (Index::private_side_of(pool) != nullptr) {
        condition_ = asked.condition();
        gather(asked, steps);
    } else if (auto found = Index::of(pool).candidates(asked, steps, around_, ids)) {
        if (asked.is_bound()) condition_ = asked.condition();
        by_index_ = true;
        doubts_ = std::move(found->doubts);
        position_ = found->position;
        candidates_ = std::move(found->objects);
        steps_ = std::move(found->steps);
    } else {
        condition_ = asked.condition();
        candidates_ = all_of(prefix_of(condition_));
    }
    if (query.counted_key()) wanted_.push_back(*query.counted_key());
    if (query.is_count()) return;
    for (const Query::Order& order : query.order()) wanted_.push_back(order.key);
}

CandidateList Search::all_of(const std::string& prefix) {
    const bool is_sure = condition_ == nullptr;
    std::vector<std::string> groups = pool_->groups(prefix);
    if (is_pool_meant(prefix))
        groups.emplace(std::lower_bound(groups.begin(), groups.end(), pool_id), pool_id);
    return either(candidates_of(pool_->ids(prefix), is_sure), candidates_of(groups, is_sure));
}

// Of a pool that has two sides. What lies in a group may have what only the other side's group of that name has.
void Search::gather(Asked& asked, Steps steps) {
    PMEM& own = *Index::private_side_of(*pool_);
    const bool is_each_alone =
        gather(asked, steps, Index::of(*pool_)) && gather(asked, steps, Index::of(own));
    if (is_each_alone) return;
    by_index_ = false;
    doubts_.clear();
    steps_.clear();
    candidates_ = all_of(prefix_of(condition_));
}

// Each object is looked at: what one side's index is sure of the other may know better. False if something may be inherited from the other.
bool Search::gather(Asked& asked, Steps steps, Index& index) {
    if (auto found = index.candidates(asked, steps, around_)) {
        by_index_ = true;
        std::move(found->doubts.begin(), found->doubts.end(), std::back_inserter(doubts_));
        CandidateList unsure;
        for (std::size_t i = 0; i < found->objects.size(); ++i) unsure.add(found->objects.id(i), false);
        candidates_ = either(candidates_, unsure);
        steps_.insert(steps_.end(), found->steps.begin(), found->steps.end());
        return !found->may_inherit;
    }
    const std::string prefix = prefix_of(condition_);
    const bool is_sure = condition_ == nullptr;
    for (const bool groups : {false, true})
        candidates_ = either(candidates_, candidates_of(index.ids(prefix, groups), is_sure));
    if (is_pool_meant(prefix))
        candidates_ = either(candidates_, candidates_of({std::string(pool_id)}, is_sure));
    const std::vector<std::string> groups = index.ids("", true);
    return std::none_of(groups.begin(), groups.end(),
                        [&](const std::string& group) { return around_.has_attributes(group); });
}

std::optional<Meant> Search::next_unranked() {
    while (at_ < candidates_.size()) {
        const std::size_t at = at_++;
        std::optional<Meant> found;
        look_while_it_changes([&] {
            Object object(*pool_, std::string(candidates_.id(at)), around_);
            Meant meant;
            const bool is_it = candidates_.is_sure(at) ? is_there(object.id())
                                                       : evaluation().meets(object, meant.found.boxes);
            if (!is_it) return;
            for (const Key& key : wanted_)
                meant.facts.push_back(object.is_elements(key) ? Facts{} : object.facts(key));
            meant.found.id = object.id();
            meant.found.pool = pool_;
            found = std::move(meant);
        });
        if (found) return found;
    }
    finish();
    return {};
}

Evaluation& Search::evaluation() {
    if (!evaluation_) evaluation_.emplace(condition_);
    return *evaluation_;
}

// What the index was sure of may have gone since.
bool Search::is_there(std::string_view id) const { return is_unchanged() || pool_->exists(id); }
bool Search::is_unchanged() const { return by_index_ && Index::of(*pool_).position() == position_; }

void Search::finish() {
    CandidateList::end(std::move(candidates_));
    candidates_ = {};
    at_ = 0;
    if (by_index_) return settle_doubts();
    evaluation().finish();  // also of none: some comparisons have no sense by themselves
}

// Whether a comparison met unlike things only. Where a few more looks leave that open, a look at all objects tells, and what is to be said.
void Search::settle_doubts() {
    if (!condition_ || (doubts_.empty() && !evaluation_)) return;
    const auto doubt_of = [&](const Node* test) {
        return std::find_if(doubts_.begin(), doubts_.end(),
                            [&](const Doubt& doubt) { return doubt.test == test; });
    };
    Evaluation known(evaluation());
    for (const Evaluation::Met& met : known.met()) {
        if (met.unlike == 0 && doubt_of(met.test) == doubts_.end()) known.leave_out(met.test);
    }
    for (const Doubt& doubt : doubts_) {
        for (const std::string& id : doubt.to_look_at) {
            if (!known.is_all_left_out()) look(known, id);
        }
    }
    const auto is_open = [&](const Evaluation::Met& met) {
        if (met.has_comparable) return false;
        return met.unlike != 0 || std::any_of(doubts_.begin(), doubts_.end(), [&](const Doubt& doubt) {
                   return doubt.test == met.test && (doubt.has_unlike || !doubt.is_all);
               });
    };
    if (std::none_of(known.met().begin(), known.met().end(), is_open)) return;
    Evaluation all(condition_);
    for (const Evaluation::Met& met : known.met()) {
        if (met.has_comparable) all.leave_out(met.test);
    }
    const CandidateList everything = all_of(prefix_of(condition_));
    for (std::size_t i = 0; i < everything.size() && !all.is_all_left_out(); ++i) look(all, everything.id(i));
    all.finish();
}

void Search::look(Evaluation& evaluation, std::string_view id) {
    look_while_it_changes([&] {
        Object object(*pool_, std::string(id), around_);
        evaluation.look_at(object);
    });
}

std::string Search::explain() const {
    std::string text;
    for (const std::string& step : steps_) text += step + "\n";
    const std::size_t sure = candidates_.count_sure();
    if (by_index_) {
        text += "found by the index: " + std::to_string(sure) +
                "; looked at: " + std::to_string(candidates_.size() - sure) + "\n";
    } else {
        text += "looked at: all " + std::to_string(candidates_.size()) + " objects" +
                (prefix_of(condition_).empty()
                     ? ""
                     : " whose names begin with " + Literal(prefix_of(condition_)).text()) +
                "; " + Index::of(*pool_).why_not() + "\n";
    }
    return text;
}

void Search::rank_all() {
    ranked_.emplace();
    while (auto meant = next_unranked()) {
        for (Facts& facts : meant->facts) facts = first_of(facts);
        ranked_->push_back(std::move(*meant));
    }
    std::stable_sort(ranked_->begin(), ranked_->end(), [&](const Meant& a, const Meant& b) {
        for (std::size_t i = 0; i < wanted_.size(); ++i) {
            if (a.facts[i].empty() != b.facts[i].empty()) return b.facts[i].empty();
            if (a.facts[i].empty()) continue;
            const bool descending = query_.order()[i].descending;
            const Fact& first = (descending ? b : a).facts[i].front();
            const Fact& second = (descending ? a : b).facts[i].front();
            if (is_before(first, second)) return true;
            if (is_before(second, first)) return false;
        }
        return false;
    });
}

std::optional<Meant> Search::next() {
    if (query_.most() && given_ == *query_.most()) return {};
    std::optional<Meant> meant;
    if (query_.is_count() || query_.order().empty()) {
        meant = next_unranked();
    } else {
        if (!ranked_) rank_all();
        if (given_ < ranked_->size()) {
            meant = std::move((*ranked_)[given_]);
            for (const Facts& facts : meant->facts)
                meant->found.order.push_back(facts.empty() ? std::nullopt
                                                           : std::optional(literal_of(facts.front())));
        }
    }
    if (meant) ++given_;
    return meant;
}

std::optional<Found> Search::next_found() {
    std::optional<Found> found;
    while (wanted_.empty() && at_ < candidates_.size() && candidates_.is_sure(at_)) {
        if (query_.most() && given_ == *query_.most()) return found;
        const std::string_view id = candidates_.id(at_++);
        if (!is_there(id)) continue;
        ++given_;
        found.emplace(std::string(id), std::vector<Box>(), std::vector<std::optional<Literal>>(), pool_);
        return found;
    }
    if (auto meant = next()) found.emplace(std::move(meant->found));
    return found;
}

}  // namespace index

namespace {

[[noreturn]] void throw_counts_only(const Query& question) {
    throw Error(Code::invalid_argument,
                "`" + question.text() + "` only counts, and lists nothing; ask count()");
}

}  // namespace

Matches::Matches(std::unique_ptr<index::Search> search) : search_(std::move(search)) {}
Matches::Matches(Matches&&) noexcept = default;
Matches& Matches::operator=(Matches&&) noexcept = default;
Matches::~Matches() = default;
std::optional<Found> Matches::next() { return search_->next_found(); }

Info Found::info() const { return pool->info(id); }

bool sorts_before(const std::optional<Literal>& a, const std::optional<Literal>& b) {
    if (!a || !b) return a && !b;
    const auto fact_of = [](const Literal& literal) {
        return std::visit(
            [](const auto& value) -> index::Fact {
                if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Parameter>)
                    return index::Incomparable{"?"};
                else
                    return value;
            },
            literal.value());
    };
    return index::is_before(fact_of(*a), fact_of(*b));
}

std::vector<Literal> values_under(const PMEM& pool, std::string_view id, const Key& key) {
    index::Surroundings around(pool);
    index::Object object(pool, std::string(id), around);
    std::vector<Literal> values;
    if (object.is_elements(key)) return values;
    for (const index::Fact& fact : object.facts(key)) values.push_back(index::literal_of(fact));
    return values;
}

std::string explain(const PMEM& pool, const Query& question) {
    return index::Search(pool, question, {}, index::Steps::told).explain();
}
std::string explain(const PMEM& pool, std::string_view text) { return explain(pool, Query::parse(text)); }

Matches query(const PMEM& pool, const Query& question, std::span<const Literal> values) {
    if (question.is_count()) throw_counts_only(question);
    return Matches(std::make_unique<index::Search>(pool, question, values));
}
Matches query(const PMEM& pool, std::string_view text, std::span<const Literal> values) {
    return query(pool, Query::parse(text), values);
}

void add_ids(const PMEM& pool, const Query& question, std::span<const Literal> values,
             std::vector<std::string>& ids) {
    if (question.is_count()) throw_counts_only(question);
    const bool has_an_end = question.most() || !question.order().empty();
    index::Search search(pool, question, values, index::Steps::untold, has_an_end ? nullptr : &ids);
    while (std::optional<Found> found = search.next_found()) ids.push_back(std::move(found->id));
}
std::vector<std::string> ids(const PMEM& pool, const Query& question, std::span<const Literal> values) {
    std::vector<std::string> ids;
    add_ids(pool, question, values, ids);
    return ids;
}
std::vector<std::string> ids(const PMEM& pool, std::string_view text, std::span<const Literal> values) {
    return ids(pool, Query::parse(text), values);
}

std::vector<Counted> count(const PMEM& pool, const Query& question) {
    index::Search search(pool, question);
    if (!question.counted_key()) {
        Counted all;
        while (search.next()) ++all.objects;
        return {all};
    }
    std::map<index::Fact, std::uint64_t, decltype(&index::is_before)> counts(&index::is_before);
    std::uint64_t without = 0;
    while (auto meant = search.next()) {
        index::Facts& facts = meant->facts.front();
        std::sort(facts.begin(), facts.end(), index::is_before);
        const auto same = [](const index::Fact& a, const index::Fact& b) { return !index::is_before(a, b); };
        facts.erase(std::unique(facts.begin(), facts.end(), same), facts.end());
        if (facts.empty()) ++without;
        for (const index::Fact& fact : facts) ++counts[fact];
    }
    std::vector<Counted> rows;
    rows.reserve(counts.size() + 1);
    for (const auto& [fact, objects] : counts) rows.push_back({index::literal_of(fact), objects});
    if (without != 0) rows.push_back({{}, without});
    return rows;
}
std::vector<Counted> count(const PMEM& pool, std::string_view text) {
    return count(pool, Query::parse(text));
}

}  // namespace pmemcpy
