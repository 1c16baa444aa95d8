#include "index/evaluation.hpp"

#include <algorithm>
#include <pmemcpy/error.hpp>

#include "index/elements.hpp"

namespace pmemcpy::index {

namespace {

bool looks_at_elements(const Node& node, Object& object) {
    if (node.key) return object.is_elements(*node.key);
    return std::any_of(node.parts.begin(), node.parts.end(),
                       [&](const NodePointer& part) { return looks_at_elements(*part, object); });
}

}  // namespace

bool Evaluation::meets(Object& object, std::vector<Box>& boxes) {
    return condition_ == nullptr || holds(condition_, object, boxes);
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
            return group == "/" ||
                   (id.size() > group.size() && id.starts_with(group) && id[group.size()] == '/');
        }
        default:
            return object.is_elements(*node->key) ? holds_elements(*node, object, boxes)
                                                  : holds_test(*node, object);
    }
}

bool Evaluation::holds_test(const Node& node, Object& object) {
    bool holds = false;
    Met* met = nullptr;
    for (const Fact& fact : object.facts(*node.key)) {
        if (met == nullptr) met = &met_[&node];
        const Answer answer = compare(fact, node);
        holds = holds || answer == Answer::yes;
        if (answer != Answer::unlike) {
            met->has_comparable = true;
        } else if (met->unlike++ == 0) {
            met->example = description_of(fact) + " in '" + object.id() + "'";
        }
    }
    return holds;
}

bool Evaluation::holds_elements(const Node& node, Object& object, std::vector<Box>& boxes) {
    if (node.relation == Relation::exists) return object.info().blocks != 0;
    const auto members = std::span(node.key->parts()).subspan(1);
    const InElements found = find_elements(object.pool(), object.info(), node, members);
    Met& met = met_[&node];
    met.has_comparable = met.has_comparable || found.has_comparable;
    if (found.unlike && met.unlike++ == 0)
        met.example = description_of(*found.unlike) + " in '" + object.id() + "'";
    boxes.insert(boxes.end(), found.boxes.begin(), found.boxes.end());
    return !found.boxes.empty();
}

bool Evaluation::is_suspicious() const {
    return std::any_of(met_.begin(), met_.end(),
                       [](const auto& one) { return !one.second.has_comparable && one.second.unlike != 0; });
}

void Evaluation::finish() const {
    for (const auto& [node, met] : met_) {
        if (met.has_comparable || met.unlike == 0) continue;
        throw Error(Code::type_mismatch, "`" + text_of(*node) + "` compares unlike things: there is " +
                                             met.example + (met.unlike == 1 ? "" : ", and so on") +
                                             ", and nothing that compares so");
    }
}

}  // namespace pmemcpy::index
