#include "index/plan.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

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
    if (list.size() < 2) return;
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
    Planner(const Lookup& lookup, Steps wanted)
        : lookup_(lookup), reading_(lookup.reading()), tells_(wanted == Steps::told) {}

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
    List unposted() {
        List list;
        if (lookup_.has_unposted())
            collect_all(posting_of_more(*lookup_.key(std::string(unposted_key)).number), list);
        return list;
    }
    /// Whether a test that found nothing for sure looks where the index has things, but none that compare.
    bool is_suspicious() const {
        return std::any_of(without_any_.begin(), without_any_.end(), [&](const Node* node) {
            const auto key = lookup_.key(name_of_key(*node->key)).number;
            if (!key || !has_any(all_of(*key))) return false;
            const auto sorts = sorts_compared(*node);
            return std::none_of(sorts.begin(), sorts.end(),
                                [&](PostedSort sort) { return has_any(all_of(*key, sort)); });
        });
    }
    std::vector<std::string> steps;

private:
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
        const Node* const alone = &node;
        return look_at_tests({&alone, 1}, most, places);
    }

    // Of one key. Where each object has but one thing under it, all of them are true of that one.
    Outcome look_at_tests(std::span<const Node* const> tests, std::size_t most, Places& places) {
        const Node& node = *tests.front();
        if (!can_look(node)) return Outcome::unanswered;
        const Key& key = *node.key;
        const PostedKey root = lookup_.key(name_of_root(key));
        if (!root.number) return Outcome::answered;  // no object has such a thing
        const bool is_direct = has_names_only(key);
        std::vector<Range> ranges;
        if (!is_direct) {
            ranges = {all_of(*root.number)};
            ranges.front().is_exact = false;
        } else if (const PostedKey posted = key.parts().size() == 1 ? root : lookup_.key(name_of_key(key));
                   posted.number) {
            ranges = ranges_of(*posted.number, node);
            for (std::size_t i = 1; i < tests.size(); ++i)
                ranges = common(ranges, ranges_of(*posted.number, *tests[i]));
            if (tests.size() > 1 && posted.has_several)
                collect_all(posting_of_several(*posted.number), places.maybe);
        }
        for (const Range& range : ranges) {
            if (!collect(range, node, is_direct, most, places)) return Outcome::too_many;
        }
        if (root.has_more) collect_all(posting_of_more(*root.number), places.maybe);
        settle(places.sure);
        settle(places.maybe);
        if (!places.sure.empty() && !places.maybe.empty()) {
            List& weaker = tests.size() > 1 ? places.sure : places.maybe;
            weaker = without(weaker, tests.size() > 1 ? places.maybe : places.sure);
        }
        if (places.sure.empty()) without_any_.insert(without_any_.end(), tests.begin(), tests.end());
        return Outcome::answered;
    }

    bool collect(const Range& range, const Node& node, bool is_direct, std::size_t most,
                 Places& places) const {
        std::size_t seen = 0;
        bool is_too_many = false;
        const bool is_text = is_direct && is_of_text(node.relation);
        const auto visit = [&](std::string_view key, std::uint64_t place) {
            if (key >= range.end) return false;
            if (++seen > most) {
                is_too_many = true;
                return false;
            }
            if (!is_text) {
                (range.is_exact ? places.sure : places.maybe).push_back(place);
                return true;
            }
            const auto text = text_in(key);
            if (text && text->is_whole) {
                if (meets(text->text, node)) places.sure.push_back(place);
            } else {
                (range.is_exact && !text ? places.sure : places.maybe).push_back(place);
            }
            return true;
        };
        reading_.walk_postings(range.from, std::ref(visit));
        return !is_too_many;
    }
    /// All that is under one posting.
    void collect_all(const std::string& key, List& list) const {
        reading_.add_places(key, list);
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
        if (!tells_) return;
        std::string tests;
        for (const Node* test : part) tests += (tests.empty() ? "" : " and ") + text_of(*test);
        steps.push_back("index: " + tests + ": " + std::to_string(count(places)) +
                        (places.maybe.empty()
                             ? ""
                             : ", of which " + std::to_string(places.maybe.size()) + " are to be looked at"));
    }

    const Lookup& lookup_;
    const Reading& reading_;
    bool tells_;
    std::vector<NodePointer> made_;         // of what is no test itself
    std::vector<const Node*> without_any_;  // tests that found nothing for sure
};

}  // namespace

// Long ids differ late and are long to compare, so the first bytes behind what all begin with are compared as a number.
std::vector<Candidate> sorted_by_id(const std::vector<Listed>& objects) {
    std::vector<Candidate> sorted;
    if (objects.empty()) return sorted;
    const std::string_view first = objects.front().id;
    std::size_t same = first.size();
    for (const Listed& object : objects) {
        same = std::min(same, object.id.size());
        same = static_cast<std::size_t>(
            std::mismatch(first.begin(), first.begin() + same, object.id.begin()).first - first.begin());
    }
    struct Place {
        std::uint64_t head;
        const Listed* object;
    };
    std::vector<Place> order;
    order.reserve(objects.size());
    for (const Listed& object : objects) {
        std::array<unsigned char, sizeof(std::uint64_t)> next{};
        object.id.copy(reinterpret_cast<char*>(next.data()), next.size(), same);
        std::uint64_t head = 0;
        for (const unsigned char byte : next) head = head << 8 | byte;
        order.push_back({head, &object});
    }
    std::sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
        if (a.head != b.head) return a.head < b.head;
        const int difference = a.object->id.compare(b.object->id);
        return difference != 0 ? difference < 0 : a.object->is_sure > b.object->is_sure;
    });
    sorted.reserve(order.size());
    for (const Place& place : order) {
        const Listed& object = *place.object;
        if (sorted.empty() || sorted.back().id != object.id)
            sorted.push_back({std::string(object.id), object.is_sure});
    }
    return sorted;
}

bool add_equal(const Lookup& lookup, const std::optional<Asked::Equality>& equality,
               std::vector<std::uint64_t>& places) {
    if (!equality) return false;
    const PostedKey key = lookup.key(name_of_root(equality->key));
    if (!key.number || key.has_more || lookup.has_unposted()) return false;
    std::string posting;
    if (!is_at_one_posting(*key.number, equality->value, posting)) return false;
    lookup.reading().add_places(posting, places);
    return !places.empty();  // whether there are things of another sort a plan finds out
}

Plan plan_of(const Lookup& lookup, const NodePointer& condition, Steps steps) {
    Plan plan;
    if (condition == nullptr) return plan;
    Planner planner(lookup, steps);
    plan.is_answered = planner.look(*condition, no_limit, plan.places) == Outcome::answered;
    plan.steps = std::move(planner.steps);
    if (!plan.is_answered) return plan;
    if (const List unposted = planner.unposted(); !unposted.empty()) {
        plan.places.maybe = either(plan.places.maybe, unposted);
        plan.places.sure = without(plan.places.sure, unposted);
    }
    plan.is_suspicious = planner.is_suspicious();
    return plan;
}

}  // namespace pmemcpy::index
