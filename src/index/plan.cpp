#include "index/plan.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "index/inheritance.hpp"
#include "index/posted.hpp"
#include "index/posting.hpp"

namespace pmemcpy::index {

namespace {

using List = std::vector<Posting>;

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

void part(List& weaker, const List& stronger) {
    if (!weaker.empty() && !stronger.empty()) weaker = without(weaker, stronger);
}
void settle(Postings& postings) {
    settle(postings.sure);
    settle(postings.maybe);
}

std::size_t count(const Postings& postings) { return postings.sure.size() + postings.maybe.size(); }

Postings of_all(const Postings& a, const Postings& b) {
    const List any_a = either(a.sure, a.maybe);
    const List any_b = either(b.sure, b.maybe);
    Postings postings;
    postings.sure = both(a.sure, b.sure);
    postings.maybe = without(both(any_a, any_b), postings.sure);
    return postings;
}
Postings of_any(const Postings& a, const Postings& b) {
    Postings postings;
    postings.sure = either(a.sure, b.sure);
    postings.maybe = without(either(a.maybe, b.maybe), postings.sure);
    return postings;
}

enum class Outcome { answered, unanswered, too_many };

class Planner {
public:
    Planner(const Lookup& lookup, const Inheritance& inheritance, Steps wanted)
        : lookup_(lookup),
          reading_(lookup.reading()),
          inheritance_(inheritance),
          tells_(wanted == Steps::told) {}

    /// `most`: it is not worth more than so many postings.
    Outcome look(const Node& node, std::size_t most, Postings& postings) {
        switch (node.relation) {
            case Relation::all:
                return look_at_all(node, most, postings);
            case Relation::any:
                return look_at_any(node, most, postings);
            case Relation::none:
                return Outcome::unanswered;
            case Relation::under:
                return look_under(node, most, postings);
            default:
                return look_at_test(node, most, postings);
        }
    }
    /// Objects that nobody could read when they were to be posted.
    List unposted() {
        List list;
        if (lookup_.has_unposted())
            collect_all(posting_of_more(*lookup_.key(std::string(unposted_key)).number), list);
        return list;
    }
    std::vector<std::string> steps;

private:
    bool can_look(const Node& node) const {
        const Key& key = *node.key;
        const auto known = known_of(key);
        if (!known) return true;
        if (!node.misfit.empty() || !inheritance_.means_known(key)) return false;
        return is_posted(*known) && (*known == Known::value || key.parts().size() == 1);
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

    // Every object has one of these: what differs from a value is everything but what is equal to it, which may be far less.
    static bool is_inclusion(const Part& part) {
        const Node& test = *part.front();
        return part.size() > 1 || test.relation != Relation::differs || !is_known(*test.key, Known::kind);
    }
    bool exclude(const Node& test, std::size_t most, Postings& postings) {
        if (!can_look(test)) return false;
        if (leaves_groups_out(test)) {
            const auto is_group = [](const Posting& posting) { return posting.is_group; };
            std::erase_if(postings.sure, is_group);
            std::erase_if(postings.maybe, is_group);
            tell({&test}, postings);
            return true;
        }
        made_.push_back(index::test(Relation::equal, *test.key, test.operands));
        Postings equal;
        if (look_at_test(*made_.back(), most, equal) != Outcome::answered || !equal.maybe.empty())
            return false;
        postings.sure = without(postings.sure, equal.sure);
        postings.maybe = without(postings.maybe, equal.sure);
        tell({&test}, postings);
        return true;
    }

    // The least first: what is left then is looked at itself, where more postings would cost more.
    Outcome look_at_all(const Node& node, std::size_t most, Postings& postings) {
        std::vector<Part> parts = parts_of(node);
        const auto excluding = std::stable_partition(parts.begin(), parts.end(), is_inclusion);
        std::vector<Part> exclusions;
        if (excluding != parts.begin()) {
            exclusions.assign(excluding, parts.end());
            parts.erase(excluding, parts.end());
        }
        std::vector<Outcome> outcomes(parts.size(), Outcome::too_many);
        std::vector<Postings> found(parts.size());
        bool is_any_answered = false;
        for (std::size_t tried = parts.size() == 1 ? most : std::min(first_try, most);;) {
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
            postings = is_first ? std::move(found[i]) : of_all(postings, found[i]);
            is_first = false;
        }
        for (const Part& part : exclusions) {
            const std::size_t worth = std::max(first_try, least * postings_a_look);
            is_all_answered = exclude(*part.front(), worth, postings) && is_all_answered;
        }
        if (!is_all_answered) {
            postings.maybe = either(postings.maybe, postings.sure);
            postings.sure.clear();
        }
        return Outcome::answered;
    }

    Outcome look_at_any(const Node& node, std::size_t most, Postings& postings) {
        std::size_t left = most;
        for (const NodePointer& part : node.parts) {
            Postings found;
            const Outcome outcome = look(*part, left, found);
            if (outcome != Outcome::answered) return outcome;
            if (left != no_limit) left -= std::min(left, count(found));
            postings = of_any(postings, found);
        }
        return Outcome::answered;
    }

    Outcome look_under(const Node& node, std::size_t most, Postings& postings) {
        NodePointer test = test_of_name(node);
        if (test == nullptr) return Outcome::unanswered;
        made_.push_back(std::move(test));
        return look_at_test(*made_.back(), most, postings);
    }

    Outcome look_at_test(const Node& node, std::size_t most, Postings& postings) {
        const Node* const alone = &node;
        return look_at_tests({&alone, 1}, most, postings);
    }

    // Of one key. Where each object has but one thing under it, all of them are true of that one.
    Outcome look_at_tests(std::span<const Node* const> tests, std::size_t most, Postings& postings) {
        const Node& node = *tests.front();
        if (!can_look(node)) return Outcome::unanswered;
        const Key& key = *node.key;
        const PostedKey root = lookup_.key(name_of_root(key));
        if (root.number && !collect_own(tests, root, most, postings)) return Outcome::too_many;
        settle(postings);
        part(tests.size() > 1 ? postings.sure : postings.maybe,
             tests.size() > 1 ? postings.maybe : postings.sure);
        const auto known = known_of(key);
        if (known && (key.means() == Key::Means::known || is_of_all(*known))) return Outcome::answered;
        if (known)
            inheritance_.add_members_of_unknown(postings);
        else if (!inheritance_.add_members(tests, root, most, postings))
            return Outcome::too_many;
        settle(postings);
        part(postings.maybe, postings.sure);
        return Outcome::answered;
    }

    // What objects have themselves. False where it is too much.
    bool collect_own(std::span<const Node* const> tests, const PostedKey& root, std::size_t most,
                     Postings& postings) const {
        const Node& node = *tests.front();
        const Key& key = *node.key;
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
                collect_all(posting_of_several(*posted.number), postings.maybe);
        }
        for (const Range& range : ranges) {
            if (!collect(range, node, is_direct, most, postings)) return false;
        }
        if (root.has_more) collect_all(posting_of_more(*root.number), postings.maybe);
        return true;
    }

    bool collect(const Range& range, const Node& node, bool is_direct, std::size_t most,
                 Postings& postings) const {
        std::size_t seen = 0;
        bool is_too_many = false;
        // What a text begins with its place among the others tells.
        const bool is_text =
            is_direct && is_of_text(node.relation) && !(node.relation == Relation::begins && range.is_exact);
        const bool has_ids = is_known(*node.key, Known::name);
        if (postings.sure.capacity() == 0) postings.sure = lookup_.take_list();
        const auto visit = [&](std::string_view key, Posting posting) {
            if (key >= range.end) return false;
            if (++seen > most) {
                is_too_many = true;
                return false;
            }
            const auto text = is_text || has_ids ? text_in(key) : std::nullopt;
            if (has_ids && text && text->is_whole) posting.id = text->text;
            if (!is_text) {
                (range.is_exact ? postings.sure : postings.maybe).push_back(posting);
                return true;
            }
            if (text && text->is_whole) {
                if (meets(text->text, node)) postings.sure.push_back(posting);
            } else {
                (range.is_exact && !text ? postings.sure : postings.maybe).push_back(posting);
            }
            return true;
        };
        reading_.walk_postings(table_of(range.from), range.from, std::ref(visit));
        return !is_too_many;
    }
    /// All that is under one posting.
    void collect_all(const std::string& key, List& list) const {
        reading_.add_posted(table_of(key), key, list);
        settle(list);
    }

    Outcome look_quietly(const Part& part, std::size_t most, Postings& postings) {
        std::vector<std::string> said = steps;
        postings = {};
        const Outcome outcome =
            part.size() == 1 ? look(*part.front(), most, postings) : look_at_tests(part, most, postings);
        if (outcome != Outcome::answered) steps = std::move(said);
        return outcome;
    }
    void tell(const Part& part, const Postings& postings) {
        if (!tells_) return;
        std::string tests;
        for (const Node* test : part) tests += (tests.empty() ? "" : " and ") + text_of(*test);
        steps.push_back("index: " + tests + ": " + std::to_string(count(postings)) +
                        (postings.maybe.empty() ? ""
                                                : ", of which " + std::to_string(postings.maybe.size()) +
                                                      " are to be looked at"));
    }

    const Lookup& lookup_;
    const Reading& reading_;
    const Inheritance& inheritance_;
    bool tells_;
    std::vector<NodePointer> made_;  // of what is no test itself
};

}  // namespace

std::span<const Posting> sure_to_equal(const Lookup& lookup, const std::optional<Asked::Equality>& equality) {
    if (!equality) return {};
    const PostedKey key = lookup.key(name_of_root(equality->key));
    if (!key.number || key.has_more || key.has_groups || lookup.has_unposted()) return {};
    auto& [posting, postings] = lookup.buffers();
    if (!is_at_one_posting(*key.number, equality->value, posting)) return {};
    postings.clear();
    lookup.reading().add_posted(table_of(*key.number), posting, postings);
    return postings;  // if there are none, a plan finds out whether there are things of another sort
}

Plan plan_of(const Lookup& lookup, const Inheritance& inheritance, const NodePointer& condition,
             Steps steps) {
    Plan plan;
    if (condition == nullptr) return plan;
    Planner planner(lookup, inheritance, steps);
    plan.is_answered = planner.look(*condition, no_limit, plan.postings) == Outcome::answered;
    plan.steps = std::move(planner.steps);
    if (!plan.is_answered) return plan;
    if (const List unposted = planner.unposted(); !unposted.empty()) {
        plan.postings.maybe = either(plan.postings.maybe, unposted);
        plan.postings.sure = without(plan.postings.sure, unposted);
    }
    return plan;
}

}  // namespace pmemcpy::index
