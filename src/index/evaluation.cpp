#include "index/evaluation.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>
#include <utility>

#include "index/elements.hpp"
#include "index/search.hpp"

namespace pmemcpy::index {

namespace {

bool looks_at_elements(const Node& node, Object& object) {
    if (node.key) return object.is_elements(*node.key);
    return std::any_of(node.parts.begin(), node.parts.end(),
                       [&](const NodePointer& part) { return looks_at_elements(*part, object); });
}

}  // namespace

Evaluation::Evaluation(NodePointer condition)
    : condition_(std::move(condition)), scope_(prefix_of(condition_)) {
    for (const Node* test : tests_that_can_be_unlike(condition_))
        met_.push_back({.test = test, .unlike = test->misfit.empty() ? 0U : 1U});
    undecided_ = met_.size();
}

bool Evaluation::meets(Object& object, std::vector<Box>& boxes) {
    if (condition_ == nullptr) return true;
    const bool is_met = holds(condition_, object, boxes);
    if (undecided_ != 0) look_at(object);
    return is_met;
}

void Evaluation::look_at(Object& object) {
    if (!object.id().starts_with(scope_)) return;
    for (Met& met : met_) {
        const Key& key = *met.test->key;
        if (met.has_comparable || (!met.test->misfit.empty() && !object.means_attribute(key))) continue;
        if (!object.is_elements(key))
            note(met, object.facts(key), object.id());
        else if (object.info().blocks != 0)
            note(met, kinds_in(object.info().type, std::span(key.parts()).subspan(1)), object.id());
    }
}

void Evaluation::leave_out(const Node* test) {
    Met* const met = met_by(*test);
    if (met == nullptr || met->has_comparable) return;
    met->has_comparable = true;
    --undecided_;
}

Evaluation::Met* Evaluation::met_by(const Node& node) {
    const auto found =
        std::find_if(met_.begin(), met_.end(), [&](const Met& met) { return met.test == &node; });
    return found == met_.end() ? nullptr : &*found;
}

void Evaluation::note(Met& met, const Facts& facts, const std::string& of) {
    for (const Fact& fact : facts) {
        if (compare(fact, *met.test) != Answer::unlike) {
            met.has_comparable = true;
            --undecided_;
            return;
        }
        if (met.unlike++ == 0) met.example = description_of(fact) + " in '" + of + "'";
    }
}

bool Evaluation::holds(const NodePointer& node, Object& object, std::vector<Box>& boxes) {
    switch (node->relation) {
        case Relation::all: {
            std::vector<Box> of_all;  // of nothing unless all are true
            const bool are_true =
                std::all_of(node->parts.begin(), node->parts.end(),
                            [&](const NodePointer& part) { return holds(part, object, of_all); });
            if (are_true) boxes.insert(boxes.end(), of_all.begin(), of_all.end());
            return are_true;
        }
        case Relation::any: {
            bool is_one_true = false;  // the others may have boxes, too
            for (const NodePointer& part : node->parts) {
                if (!is_one_true || looks_at_elements(*part, object))
                    is_one_true |= holds(part, object, boxes);
            }
            return is_one_true;
        }
        case Relation::none: {
            std::vector<Box> of_what_is_not_meant;
            return !holds(node->parts.front(), object, of_what_is_not_meant);
        }
        case Relation::under: {
            const std::string& group = std::get<std::string>(node->operands.front().value());
            const std::string& id = object.id();
            if (group == pool_id) return id != pool_id;
            return id.size() > group.size() && id.starts_with(group) && id[group.size()] == '/';
        }
        default:
            return object.is_elements(*node->key) ? holds_elements(*node, object, boxes)
                                                  : holds_test(*node, object);
    }
}

bool Evaluation::holds_test(const Node& node, Object& object) {
    const Facts& facts = object.facts(*node.key);
    return std::any_of(facts.begin(), facts.end(),
                       [&](const Fact& fact) { return compare(fact, node) == Answer::yes; });
}

bool Evaluation::holds_elements(const Node& node, Object& object, std::vector<Box>& boxes) {
    const auto members = std::span(node.key->parts()).subspan(1);
    const Facts kinds = kinds_in(object.info().type, members);
    if (node.relation == Relation::exists) return object.info().blocks != 0 && !kinds.empty();
    const bool is_unlike = std::all_of(
        kinds.begin(), kinds.end(), [&](const Fact& kind) { return compare(kind, node) == Answer::unlike; });
    if (is_unlike) return false;  // no element need be read to know
    const std::vector<Box> found = find_elements(object.pool(), object.info(), node, members);
    boxes.insert(boxes.end(), found.begin(), found.end());
    return !found.empty();
}

void Evaluation::finish() const {
    for (const Met& met : met_) {
        if (met.has_comparable || met.unlike == 0) continue;
        const std::string& misfit = met.test->misfit;
        throw Error(Code::type_mismatch,
                    "`" + text_of(*met.test) + "` compares unlike things: " +
                        (misfit.empty() ? "there is " + met.example + (met.unlike == 1 ? "" : ", and so on") +
                                              ", and nothing that compares so"
                                        : misfit + ", and no attribute of this name compares so"));
    }
}

}  // namespace pmemcpy::index
