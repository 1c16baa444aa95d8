#include "cli/diff/diff_array.hpp"

#include <fmt/core.h>

#include <cstring>

#include "cli/array/pieces.hpp"
#include "cli/array/source.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::span<const std::byte>;

/// Where the k-th element of a piece is in its array.
Dimensions index_in(const Selection& piece, Order order, std::uint64_t k) {
    Dimensions index = piece.offset;
    for (int i = 0; i < piece.size(); ++i) {
        const int d = order == Order::c ? piece.size() - 1 - i : i;
        index[d] += k % piece.count[d] * piece.stride[d];
        k /= piece.count[d];
    }
    return index;
}

/// Elements in Fortran order, put into C order.
std::vector<std::byte> turned(Bytes elements, const Dimensions& shape, std::uint64_t size) {
    std::vector<std::byte> in_c(elements.size());
    std::uint64_t k = 0;
    each_place(shape, Order::fortran, [&](std::uint64_t place) {
        std::memcpy(in_c.data() + k * size, elements.data() + place * size, size);
        ++k;
    });
    return in_c;
}

/// Both arrays, loaded side by side.
class Arrays {
public:
    Arrays(const Pair& pair, const Info& a, const Info& b, const Criteria& criteria, Findings& findings,
           const std::function<void(std::uint64_t)>& show)
        : a_(pair.a.pmem, a, Box::whole(a.dims)),
          b_(pair.b.pmem, b, Box::whole(b.dims)),
          comparison_(a.type, criteria.tolerance, criteria.most_places),
          findings_(findings),
          show_(show) {}

    void compare() {
        if (!a_.selection().empty()) look(a_.whole(), b_.whole());
    }
    const Comparison& comparison() const noexcept { return comparison_; }
    std::uint64_t only_in_a() const noexcept { return only_in_a_; }
    std::uint64_t only_in_b() const noexcept { return only_in_b_; }

private:
    bool is_enough() const {
        return findings_.form() == Findings::Form::quiet &&
               (!comparison_.is_equal() || only_in_a_ > 0 || only_in_b_ > 0);
    }
    void look(const Source::Part& a, const Source::Part& b) {
        if (is_enough()) return;
        const bool no_a = a_.has_nothing(a);
        const bool no_b = b_.has_nothing(b);
        if (!(no_a && no_b)) {
            if (!a_.fits(a) || !b_.fits(b)) return look_at_halves(a, b);
            const bool all_a = !no_a && a_.try_load(a);
            const bool all_b = !no_b && b_.try_load(b);
            const bool is_one = a.selection.elements() == 1;
            if (!is_one && ((!all_a && !no_a) || (!all_b && !no_b))) return look_at_halves(a, b);
            if (all_a && all_b) {
                compare(a.selection);
            } else if (all_a) {
                only_in_a_ += a.selection.elements();
            } else if (all_b) {
                only_in_b_ += b.selection.elements();
            }
        }
        show_(a.selection.elements() * a_.info().type.size());
    }
    /// Both are cut in the same place.
    void look_at_halves(const Source::Part& a, const Source::Part& b) {
        const Source::Cut cut = a_.cut_of(a);
        const auto [first_a, second_a] = a_.halves(a, cut);
        const auto [first_b, second_b] = b_.halves(b, cut);
        look(first_a, first_b);
        look(second_a, second_b);
    }
    void compare(const Selection& piece) {
        const std::uint64_t size = a_.info().type.size();
        const Order order_a = a_.info().order;
        const Order order_b = b_.info().order;
        if (order_a == order_b) return add(a_.loaded(), b_.loaded(), piece, order_a);
        if (order_a == Order::fortran)
            return add(turned(a_.loaded(), piece.count, size), b_.loaded(), piece, Order::c);
        add(a_.loaded(), turned(b_.loaded(), piece.count, size), piece, Order::c);
    }
    void add(Bytes a, Bytes b, const Selection& piece, Order order) {
        comparison_.add(a, b, [&](std::uint64_t k) { return index_in(piece, order, k); });
    }

    Source a_;
    Source b_;
    Comparison comparison_;
    Findings& findings_;
    const std::function<void(std::uint64_t)>& show_;
    std::uint64_t only_in_a_ = 0;
    std::uint64_t only_in_b_ = 0;
};

std::string index_text(const Dimensions& index) {
    std::string text = "[";
    for (const Extent i : index) text += (text.size() > 1 ? ", " : "") + std::to_string(i);
    return text + "]";
}

Json double_json(double number) { return to_json(type_of<double>(), std::as_bytes(std::span(&number, 1))); }

Json details_of(const Comparison& comparison) {
    Json details = {{"elements", comparison.elements()}, {"differing", comparison.differing()}};
    if (comparison.largest()) {
        details["largest_difference"] = double_json(*comparison.largest());
        details["largest_at"] = to_json(comparison.largest_at());
    }
    details["places"] = Json::array();
    for (const Comparison::Place& place : comparison.places()) {
        details["places"].push_back({{"index", to_json(place.index)},
                                     {"field", place.name},
                                     {"a", to_json(place.type, place.a)},
                                     {"b", to_json(place.type, place.b)}});
    }
    return details;
}

std::string places_text(const Comparison& comparison) {
    std::string text;
    std::uint64_t elements = 0;
    const Comparison::Place* before = nullptr;
    for (const Comparison::Place& place : comparison.places()) {
        if (before == nullptr || !(before->index == place.index)) ++elements;
        before = &place;
        text += "\n  " + index_text(place.index) + (place.name == "value" ? "" : " " + place.name) + ": ";
        append_text(text, place.type, place.a);
        text += " and ";
        append_text(text, place.type, place.b);
    }
    if (elements < comparison.differing() && !comparison.places().empty())
        text +=
            fmt::format("\n  and {} elements more; --limit lists more", comparison.differing() - elements);
    return text;
}

}  // namespace

std::string summary_of(const Comparison& comparison) {
    std::string text = fmt::format("{} of {} elements differ", comparison.differing(), comparison.elements());
    if (comparison.largest()) {
        text += fmt::format(", by up to {}", *comparison.largest());
        if (!comparison.largest_at().empty()) text += " at " + index_text(comparison.largest_at());
    }
    return text;
}

void compare_arrays(const Pair& pair, const Info& a, const Info& b, const Criteria& criteria,
                    Findings& findings, const std::function<void(std::uint64_t)>& show) {
    Arrays arrays(pair, a, b, criteria, findings, show);
    arrays.compare();
    const auto tell_of_more = [&](std::uint64_t elements, const Compared& side) {
        if (elements == 0) return;
        findings.add(pair.name, "stored", {{"only_in", side.label}, {"elements", elements}},
                     fmt::format("{} elements are stored only in {}", elements, side.label));
    };
    tell_of_more(arrays.only_in_a(), pair.a);
    tell_of_more(arrays.only_in_b(), pair.b);
    const Comparison& comparison = arrays.comparison();
    if (!comparison.is_equal())
        findings.add(pair.name, "values", details_of(comparison),
                     summary_of(comparison) + places_text(comparison));
}

}  // namespace pmemcpy::cli
