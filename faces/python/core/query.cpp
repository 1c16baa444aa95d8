#include "bindings.hpp"
#include "dimensions.hpp"
#include "pool.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <pmemcpy/query.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace pmemcpy::python {
namespace {

/// A query in a group, which may be the pool.
Query asked(std::string_view text, std::string_view group) {
    Query query = Query::parse(text);
    if (group != "/") query.within(group);
    return query;
}

/// Goes through what a query finds; each step is a call of the pool, so that it may be closed in between.
class Finding {
public:
    Finding(const Pool& pool, std::string_view text, std::string_view group)
        : pool_(pool),
          matches_(pool.call([&](const PMEM& pmem) { return query(pmem, asked(text, group)); })) {}

    using Boxes = std::vector<std::pair<Dimensions, Dimensions>>;
    /// Info and the boxes that were found.
    std::optional<std::tuple<Info, Boxes>> next() {
        for (;;) {
            const auto found = pool_.call([&](const PMEM&) { return matches_.next(); });
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (!found) return {};
            Boxes boxes;
            for (const Box& box : found->boxes) boxes.emplace_back(box.offset, box.count);
            try {
                return std::tuple(pool_.call([&](const PMEM&) { return found->info(); }), std::move(boxes));
            } catch (const Error& error) {
                if (error.kind() != Code::not_found) throw;  // erased just now
            }
        }
    }

private:
    const Pool& pool_;
    Matches matches_;
};

nb::object object_of(const std::optional<Literal>& literal) {
    if (!literal) return nb::none();
    return std::visit(
        [](const auto& value) -> nb::object {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Parameter>)
                return nb::none();  // which no answer is
            else
                return nb::cast(value);
        },
        literal->value());
}

std::vector<std::pair<nb::object, std::uint64_t>> counts(const Pool& pool, std::string_view text,
                                                         std::string_view group) {
    const auto rows = pool.call([&](const PMEM& pmem) { return count(pmem, asked(text, group)); });
    std::vector<std::pair<nb::object, std::uint64_t>> out;
    out.reserve(rows.size());
    for (const Counted& row : rows) out.emplace_back(object_of(row.value), row.objects);
    return out;
}

}  // namespace

void bind_query(nb::module_& m) {
    nb::class_<Time>(m, "Time", "A time in UTC.").def("__str__", [](const Time& time) {
        const std::string quoted = Literal(time).text();
        return quoted.substr(1, quoted.size() - 2);
    });
    nb::class_<Finding>(m, "Finding", "The results of a query, one after another.")
        .def(nb::init<const Pool&, std::string_view, std::string_view>(), "pool"_a, "text"_a, "group"_a,
             nb::keep_alive<1, 2>())
        .def("next", &Finding::next);
    m.def("explain", [](const Pool& pool, std::string_view text, std::string_view group) {
        return pool.call([&](const PMEM& pmem) { return explain(pmem, asked(text, group)); });
    });
    m.def("find_ids", [](const Pool& pool, std::string_view text, std::string_view group) {
        return pool.call([&](const PMEM& pmem) { return ids(pmem, asked(text, group)); });
    });
    m.def("counts", &counts, "pool"_a, "text"_a, "group"_a);
    m.def("is_count", [](std::string_view text) { return Query::parse(text).counted_key().has_value(); });
    m.def("check_query", [](std::string_view text) {
        if (Query::parse(text).is_count())
            throw Error(Code::invalid_argument, "this query only counts, and lists nothing; ask count()");
    });
}

}  // namespace pmemcpy::python
