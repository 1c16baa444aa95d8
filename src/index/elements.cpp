#include "index/elements.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <pmemcpy/number.hpp>
#include <pmemcpy/packing.hpp>

#include "array/region.hpp"
#include "array/selection.hpp"
#include "store/store.hpp"

namespace pmemcpy::index {

namespace {

constexpr std::uint64_t most_bytes = 4ULL << 20;

/// Of numbers, whether one between `least` and `greatest` may be meant.
bool may_have(const Fact& least, const Fact& greatest, const Node& test) {
    const auto compares = [&](const Fact& fact, Relation relation, const Literal& operand) {
        return compare(fact, Node{relation, {}, {}, {operand}, {}, {}}) != Answer::no;
    };
    const Literal& first = test.operands.front();
    const auto holds = [&](const Literal& from, const Literal& to) {
        return compares(least, Relation::at_most, to) && compares(greatest, Relation::at_least, from);
    };
    switch (test.relation) {
        case Relation::equal:
            return holds(first, first);
        case Relation::less:
        case Relation::at_most:
            return compares(least, test.relation, first);
        case Relation::greater:
        case Relation::at_least:
            return compares(greatest, test.relation, first);
        case Relation::between:
            return holds(first, test.operands[1]);
        case Relation::one_of:
            return std::any_of(test.operands.begin(), test.operands.end(),
                               [&](const Literal& operand) { return holds(operand, operand); });
        default:
            return true;
    }
}

template <class T>
Fact fact_of(T number) {
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<double>(number);
    else
        return number;
}

/// The facts of an element of an array; nothing of one that is missing.
void add_meant(Facts& facts, const Type& type, const Packing& packing, std::span<const std::byte> element,
               std::span<const std::string> members) {
    if (packing.is_plain() || !members.empty()) return add_facts(facts, type, element, members);
    packing.visit(element, [&](auto number) { facts.push_back(fact_of(number)); });
}

bool may_have(const BlockInfo& block, const Type& type, const Packing& packing, const Node& test) {
    if (!block.has_range) return true;
    const std::span least = std::span(block.minimum).first(type.size());
    const std::span greatest = std::span(block.maximum).first(type.size());
    if (!packing.is_plain() && !packing.is_whole_between(least, greatest)) return true;
    Facts low, high;
    add_meant(low, type, packing, least, {});
    add_meant(high, type, packing, greatest, {});
    if (low.size() != 1 || high.size() != 1) return true;
    const bool is_reversed = is_before(high.front(), low.front());  // by a negative scale
    return is_reversed ? may_have(high.front(), low.front(), test)
                       : may_have(low.front(), high.front(), test);
}

/// In parts of few bytes, halved along their longest dimension.
template <class Visit>
void each_part(const Selection& selection, std::uint64_t element_bytes, Visit&& visit) {
    if (selection.empty()) return;
    const std::uint64_t elements = selection.elements();
    if (elements <= std::max<std::uint64_t>(1, most_bytes / element_bytes)) return visit(selection);
    int longest = 0;
    for (int d = 1; d < selection.count.size(); ++d) {
        if (selection.count[d] > selection.count[longest]) longest = d;
    }
    Selection front = selection;
    Selection back = selection;
    front.count[longest] /= 2;
    back.count[longest] -= front.count[longest];
    back.offset[longest] += front.count[longest] * selection.stride[longest];
    each_part(front, element_bytes, visit);
    each_part(back, element_bytes, visit);
}

/// Loads the elements of a block part by part: visit(part, bytes).
template <class Visit>
void each_loaded(const PMEM& pool, const Info& array, const BlockInfo& block, Visit&& visit) {
    const store::Store::Looking looking;
    std::vector<std::byte> bytes;
    each_part(block.box, array.type.size(), [&](const Selection& part) {
        bytes.resize(part.elements() * array.type.size());
        pool.load(array.id, array.type, bytes.data(), part);
        visit(part, std::span<const std::byte>(bytes));
    });
}

/// A box that grows around places.
class Around {
public:
    void add(const Dimensions& place) {
        if (!box_) {
            box_ = Box{place, Dimensions::filled(place.size(), 1)};
            return;
        }
        for (int d = 0; d < place.size(); ++d) {
            const Extent end = std::max(box_->end(d), place[d] + 1);
            box_->offset[d] = std::min(box_->offset[d], place[d]);
            box_->count[d] = end - box_->offset[d];
        }
    }
    const std::optional<Box>& box() const noexcept { return box_; }

private:
    std::optional<Box> box_;
};

/// Calls visit(place) for each element of a selection in the order of its bytes.
template <class Visit>
void each_place(const Selection& selection, Order order, Visit&& visit) {
    const int n = selection.count.size();
    Dimensions at = Dimensions::filled(n, 0);
    Dimensions place = selection.offset;
    for (;;) {
        visit(place);
        int step = 0;
        for (; step < n; ++step) {
            const int d = order == Order::c ? n - 1 - step : step;
            place[d] += selection.stride[d];
            if (++at[d] < selection.count[d]) break;
            at[d] = 0;
            place[d] = selection.offset[d];
        }
        if (step == n) return;
    }
}

bool has_place(const Selection& selection, const Dimensions& place) {
    for (int d = 0; d < place.size(); ++d) {
        const Extent behind = place[d] - selection.offset[d];  // far behind if it lies before
        if (behind % selection.stride[d] != 0 || behind / selection.stride[d] >= selection.count[d])
            return false;
    }
    return true;
}

}  // namespace

std::vector<Box> find_elements(const PMEM& pool, const Info& array, const Node& test,
                               std::span<const std::string> members) {
    std::vector<Box> boxes;
    Facts facts;
    const Packing packing(pool, array);
    const auto is_meant = [&](std::span<const std::byte> element) {
        facts.clear();
        add_meant(facts, array.type, packing, element, members);
        return std::any_of(facts.begin(), facts.end(),
                           [&](const Fact& fact) { return compare(fact, test) == Answer::yes; });
    };
    const std::uint64_t each = array.type.size();
    for (const BlockInfo& block : pool.blocks(array.id)) {
        if (members.empty() && !may_have(block, array.type, packing, test)) continue;
        Around around;
        each_loaded(pool, array, block, [&](const Selection& part, std::span<const std::byte> bytes) {
            std::size_t at = 0;
            each_place(part, array.order, [&](const Dimensions& place) {
                if (is_meant(bytes.subspan(at, each))) around.add(place);
                at += each;
            });
        });
        if (around.box()) boxes.push_back(*around.box());
    }
    return boxes;
}

std::optional<Fact> meant(const Fact& stored, const Packing& packing) {
    return std::visit(
        [&](const auto& value) {
            using T = std::decay_t<decltype(value)>;
            std::optional<Fact> fact;
            if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
                packing.visit(value, [&](auto number) { fact = fact_of(number); });
            } else {
                fact = value;
            }
            return fact;
        },
        stored);
}

void keep_meant(Facts& facts, const Packing& packing) {
    Facts kept;
    for (const Fact& fact : facts) {
        if (auto one = meant(fact, packing)) kept.push_back(std::move(*one));
    }
    facts = std::move(kept);
}

void Extreme::add(const Fact& number) {
    if (const auto* broken = std::get_if<double>(&number); broken != nullptr && std::isnan(*broken)) return;
    if (!found_ || (is_least_ ? is_before(number, *found_) : is_before(*found_, number))) found_ = number;
}

void add_elements(const PMEM& pool, const Info& array, Extreme& extreme) {
    Facts facts;
    const Packing packing(pool, array);
    const std::uint64_t each = array.type.size();
    for (const BlockInfo& block : pool.blocks(array.id)) {
        each_loaded(pool, array, block, [&](const Selection&, std::span<const std::byte> bytes) {
            for (std::size_t at = 0; at < bytes.size(); at += each) {
                facts.clear();
                add_meant(facts, array.type, packing, bytes.subspan(at, each), {});
                for (const Fact& fact : facts) extreme.add(fact);
            }
        });
    }
}

namespace {

/// False where it is none; NaN is one that is not visited.
bool visit_unless_nan(const Fact& fact, const std::function<void(double)>& visit) {
    return std::visit(
        [&](const auto& value) {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
                const auto number = static_cast<double>(value);
                if (!std::isnan(number)) visit(number);
                return true;
            } else {
                return false;
            }
        },
        fact);
}

bool is_plain_number(const Type& type) {
    if (type.kind() == Kind::boolean || !type.is_fixed_size()) return false;
    const std::vector<std::byte> any(type.size());
    return visit_number(type.kind(), type.byte_order(), any, [](auto) {});
}

/// Of a plain number.
void visit_unless_nan(const Type& type, const Packing& packing, std::span<const std::byte> bytes,
                      const std::function<void(double)>& visit) {
    const auto look = [&](auto value) {
        const auto number = static_cast<double>(value);
        if (!std::isnan(number)) visit(number);
    };
    if (packing.is_plain()) {
        visit_number(type.kind(), type.byte_order(), bytes, look);
    } else {
        packing.visit(bytes, look);
    }
}

/// Whether they are the elements of a list of plain numbers, one behind the other.
bool are_numbers_in_list(const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
    if (serializer != SerializerType::bp4 && serializer != SerializerType::none) return false;
    if (type.kind() == Kind::array ? bytes.size() != type.size() : type.kind() != Kind::sequence)
        return false;
    return !bytes.empty() && is_plain_number(type.element()) && bytes.size() % type.element().size() == 0;
}

bool visit_value(const PMEM& pool, const Info& value, const std::function<void(double)>& visit) {
    const Packing packing(pool, value);
    bool are_numbers = false;
    pool.load_encoded(
        value.id, [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
            if (are_numbers_in_list(type, serializer, bytes)) {
                are_numbers = true;
                const std::size_t each = type.element().size();
                for (std::size_t at = 0; at < bytes.size(); at += each)
                    visit_unless_nan(type.element(), packing, bytes.subspan(at, each), visit);
                return;
            }
            Facts facts = facts_of(type, serializer, bytes, {});
            are_numbers = !facts.empty() && std::all_of(facts.begin(), facts.end(), [](const Fact& fact) {
                return visit_unless_nan(fact, [](double) {});
            });
            if (!are_numbers) return;
            keep_meant(facts, packing);
            for (const Fact& fact : facts) visit_unless_nan(fact, visit);
        });
    return are_numbers;
}

}  // namespace

bool visit_numbers(const PMEM& pool, const Info& variable, const std::function<void(double)>& visit) {
    if (variable.kind == VariableKind::group) return false;
    if (variable.kind == VariableKind::value) return visit_value(pool, variable, visit);
    if (!is_plain_number(variable.type)) return false;
    const Packing packing(pool, variable);
    const auto look = [&](std::span<const std::byte> element) {
        visit_unless_nan(variable.type, packing, element, visit);
    };
    const std::size_t each = variable.type.size();
    const std::vector<BlockInfo> blocks = pool.blocks(variable.id);
    for (const BlockInfo& block : blocks) {
        std::vector<const Selection*> above;
        const Box box = array::bounding_box(block.box);
        for (const BlockInfo& other : blocks) {
            if (other.version > block.version && array::intersect(box, array::bounding_box(other.box)))
                above.push_back(&other.box);
        }
        each_loaded(pool, variable, block, [&](const Selection& part, std::span<const std::byte> bytes) {
            std::size_t at = 0;
            if (above.empty()) {
                for (; at < bytes.size(); at += each) look(bytes.subspan(at, each));
                return;
            }
            each_place(part, variable.order, [&](const Dimensions& place) {
                const bool is_hidden = std::any_of(above.begin(), above.end(), [&](const Selection* other) {
                    return has_place(*other, place);
                });
                if (!is_hidden) look(bytes.subspan(at, each));
                at += each;
            });
        });
    }
    return true;
}

}  // namespace pmemcpy::index
