#include "index/plan.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>

#include "index/posted.hpp"
#include "index/posting.hpp"

namespace pmemcpy::index {

namespace {

using List = std::vector<std::uint64_t>;

constexpr std::size_t first_try = 256;
constexpr std::size_t growth = 16;
// To look at an object costs as much as to read so many postings.
constexpr std::size_t postings_a_look = 32;
constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

void settle(List& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}
List both(const List& a, const List& b) {
    List all;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}
List either(const List& a, const List& b) {
    List all;
    all.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}
List without(const List& a, const List& b) {
    List all;
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all));
    return all;
}

std::size_t count(const Places& places) { return places.sure.size() + places.maybe.size(); }

Places of_all(const Places& a, const Places& b) {
    const List any_a = either(a.sure, a.maybe);
    const List any_b = either(b.sure, b.maybe);
    Places places;
    places.sure = both(a.sure, b.sure);
    places.maybe = without(both(any_a, any_b), places.sure);
    return places;
}
Places of_any(const Places& a, const Places& b) {
    Places places;
    places.sure = either(a.sure, b.sure);
    places.maybe = without(either(a.maybe, b.maybe), places.sure);
    return places;
}

enum class Outcome { answered, unanswered, too_many };

class Planner {
public:
    explicit Planner(const Reading& reading) : reading_(reading) {}

    /// `most`: it is not worth more than so many postings.
    Outcome look(const Node& node, std::size_t most, Places& places) {
        switch (node.relation) {
            case Relation::all:
                return look_at_all(node, most, places);
            case Relation::any:
                return look_at_any(node, most, places);
            case Relation::none:
                return Outcome::unanswered;
            case Relation::under:
                return look_under(node, most, places);
            default:
                return look_at_test(node, most, places);
        }
    }
    /// Objects that nobody could read when they were to be posted.
    List damaged() {
        List list;
        if (const auto key = number_of(std::string(damaged_key))) collect_all(posting_of_more(*key), list);
        return list;
    }
    /// Whether a test that found nothing for sure looks where the index has things, but none that compare.
    bool is_suspicious() const {
        return std::any_of(without_any_.begin(), without_any_.end(), [&](const Node* node) {
            const auto key = number_of(name_of_key(*node->key));
            if (!key || !has_any(all_of(*key))) return false;
            const auto sorts = sorts_compared(*node);
            return std::none_of(sorts.begin(), sorts.end(),
                                [&](PostedSort sort) { return has_any(all_of(*key, sort)); });
        });
    }
    std::vector<std::string> steps;

private:
    std::optional<std::uint32_t> number_of(const std::string& name) const {
        const auto bytes = reading_.get(Table::keys, name);
        if (!bytes || bytes->size() != sizeof(std::uint32_t)) return {};
        std::uint32_t number = 0;
        std::memcpy(&number, bytes->data(), sizeof number);
        return number;
    }
    bool has_any(const Range& range) const {
        bool has = false;
        reading_.walk_postings(range.from, [&](std::string_view key, std::uint64_t) {
            has = key < range.end;
            return false;
        });
        return has;
    }
    static bool can_look(const Node& node) {
        const Key& key = *node.key;
        if (key.is_attribute()) return true;
        const Known known = *known_of(key.parts().front());
        return is_posted(known) && (known == Known::value || key.parts().size() == 1);
    }

    /// Of a condition in which all has to be true: one thing, or comparisons of one key.
    using Part = std::vector<const Node*>;
    static bool is_comparison(const Node& node) {
        return node.key && node.relation != Relation::exists && node.relation != Relation::differs &&
               !is_of_text(node.relation) && has_names_only(*node.key);
    }
    static std::vector<Part> parts_of(const Node& node) {
        std::vector<Part> parts;
        for (const NodePointer& one : node.parts) {
            const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
                return is_comparison(*one) && is_comparison(*part.front()) &&
                       part.front()->key->text() == one->key->text();
            });
            if (same == parts.end())
                parts.push_back({one.get()});
            else
                same->push_back(one.get());
        }
        return parts;
    }

    // The least first: what is left then is looked at itself, where more postings would cost more.
    Outcome look_at_all(const Node& node, std::size_t most, Places& places) {
        const std::vector<Part> parts = parts_of(node);
        std::vector<Outcome> outcomes(parts.size(), Outcome::too_many);
        std::vector<Places> found(parts.size());
        bool is_any_answered = false;
        for (std::size_t tried = std::min(first_try, most);;) {
            bool is_worth_more = false;
            for (std::size_t i = 0; i < parts.size(); ++i) {
                if (outcomes[i] != Outcome::too_many) continue;
                outcomes[i] = look_quietly(parts[i], tried, found[i]);
                is_any_answered = is_any_answered || outcomes[i] == Outcome::answered;
                is_worth_more = is_worth_more || outcomes[i] == Outcome::too_many;
            }
            if (is_any_answered || !is_worth_more || tried >= most) break;
            tried = tried > most / growth ? most : tried * growth;
        }
        if (!is_any_answered) {
            const bool too_many =
                std::find(outcomes.begin(), outcomes.end(), Outcome::too_many) != outcomes.end();
            return too_many ? Outcome::too_many : Outcome::unanswered;
        }
        std::size_t least = no_limit;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (outcomes[i] == Outcome::answered) least = std::min(least, count(found[i]));
        }
        bool is_first = true;
        bool is_all_answered = true;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (outcomes[i] == Outcome::too_many)
                outcomes[i] = look_quietly(parts[i], std::max(first_try, least * postings_a_look), found[i]);
            if (outcomes[i] != Outcome::answered) {
                is_all_answered = false;
                continue;
            }
            tell(parts[i], found[i]);
            places = is_first ? std::move(found[i]) : of_all(places, found[i]);
            is_first = false;
        }
        if (!is_all_answered) {
            places.maybe = either(places.maybe, places.sure);
            places.sure.clear();
        }
        return Outcome::answered;
    }

    Outcome look_at_any(const Node& node, std::size_t most, Places& places) {
        std::size_t left = most;
        for (const NodePointer& part : node.parts) {
            Places found;
            const Outcome outcome = look(*part, left, found);
            if (outcome != Outcome::answered) return outcome;
            if (left != no_limit) left -= std::min(left, count(found));
            places = of_any(places, found);
        }
        return Outcome::answered;
    }

    Outcome look_under(const Node& node, std::size_t most, Places& places) {
        const std::string& group = std::get<std::string>(node.operands.front().value());
        if (group == "/") return Outcome::unanswered;
        made_.push_back(test(Relation::begins, Key({"name"}, false), {Literal(group + "/")}));
        return look_at_test(*made_.back(), most, places);
    }

    Outcome look_at_test(const Node& node, std::size_t most, Places& places) {
        return look_at_tests({&node}, most, places);
    }

    // Of one key. Where each object has but one thing under it, all of them are true of that one.
    Outcome look_at_tests(const std::vector<const Node*>& tests, std::size_t most, Places& places) {
        const Node& node = *tests.front();
        if (!can_look(node)) return Outcome::unanswered;
        const Key& key = *node.key;
        const auto root = number_of(name_of_root(key));
        if (!root) return Outcome::answered;  // no object has such a thing
        const bool is_direct = has_names_only(key);
        std::vector<Range> ranges;
        if (!is_direct) {
            ranges = {all_of(*root)};
            ranges.front().is_exact = false;
        } else if (const auto number = number_of(name_of_key(key))) {
            ranges = ranges_of(*number, node);
            for (std::size_t i = 1; i < tests.size(); ++i)
                ranges = common(ranges, ranges_of(*number, *tests[i]));
            if (tests.size() > 1) collect_all(posting_of_several(*number), places.maybe);
        }
        for (const Range& range : ranges) {
            if (!collect(range, node, is_direct, most, places)) return Outcome::too_many;
        }
        collect_all(posting_of_more(*root), places.maybe);
        settle(places.sure);
        settle(places.maybe);
        if (tests.size() > 1)
            places.sure = without(places.sure, places.maybe);
        else
            places.maybe = without(places.maybe, places.sure);
        if (places.sure.empty()) without_any_.insert(without_any_.end(), tests.begin(), tests.end());
        return Outcome::answered;
    }

    bool collect(const Range& range, const Node& node, bool is_direct, std::size_t most,
                 Places& places) const {
        std::size_t seen = 0;
        bool is_too_many = false;
        const bool is_text = is_direct && is_of_text(node.relation);
        reading_.walk_postings(range.from, [&](std::string_view key, std::uint64_t place) {
            if (key >= range.end) return false;
            if (++seen > most) {
                is_too_many = true;
                return false;
            }
            const auto text = is_text ? text_in(key) : std::nullopt;
            if (text && text->is_whole) {
                if (meets(text->text, node)) places.sure.push_back(place);
            } else {
                (range.is_exact && !text ? places.sure : places.maybe).push_back(place);
            }
            return true;
        });
        return !is_too_many;
    }
    /// All that is under one posting.
    void collect_all(const std::string& key, List& list) const {
        reading_.walk_postings(key, [&](std::string_view at, std::uint64_t place) {
            if (at != key) return false;
            list.push_back(place);
            return true;
        });
        settle(list);
    }

    Outcome look_quietly(const Part& part, std::size_t most, Places& places) {
        std::vector<std::string> said = steps;
        places = {};
        const Outcome outcome =
            part.size() == 1 ? look(*part.front(), most, places) : look_at_tests(part, most, places);
        if (outcome != Outcome::answered) steps = std::move(said);
        return outcome;
    }
    void tell(const Part& part, const Places& places) {
        std::string tests;
        for (const Node* test : part) tests += (tests.empty() ? "" : " and ") + text_of(*test);
        steps.push_back("index: " + tests + ": " + std::to_string(count(places)) +
                        (places.maybe.empty()
                             ? ""
                             : ", of which " + std::to_string(places.maybe.size()) + " are to be looked at"));
    }

    const Reading& reading_;
    std::vector<NodePointer> made_;         // of what is no test itself
    std::vector<const Node*> without_any_;  // tests that found nothing for sure
};

}  // namespace

Plan plan_of(const Reading& reading, const NodePointer& condition) {
    Plan plan;
    if (condition == nullptr) return plan;
    Planner planner(reading);
    plan.is_answered = planner.look(*condition, no_limit, plan.places) == Outcome::answered;
    plan.steps = std::move(planner.steps);
    if (!plan.is_answered) return plan;
    if (const List damaged = planner.damaged(); !damaged.empty()) {
        plan.places.maybe = either(plan.places.maybe, damaged);
        plan.places.sure = without(plan.places.sure, damaged);
    }
    plan.is_suspicious = planner.is_suspicious();
    return plan;
}

void sort_by_id(std::vector<Candidate>& objects) {
    std::sort(objects.begin(), objects.end(), [](const Candidate& a, const Candidate& b) {
        return a.id != b.id ? a.id < b.id : a.is_sure > b.is_sure;
    });
    const auto same = [](const Candidate& a, const Candidate& b) { return a.id == b.id; };
    objects.erase(std::unique(objects.begin(), objects.end(), same), objects.end());
}

}  // namespace pmemcpy::index
