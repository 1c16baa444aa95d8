#include "bindings.hpp"
#include "dimensions.hpp"
#include "pool.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <pmemcpy/caching.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace pmemcpy::python {

thread_local bool InPrefetcher::is_in_one_ = false;

namespace {

std::optional<Box> box_of(const std::optional<Dimensions>& offset, const std::optional<Dimensions>& count) {
    if (offset.has_value() != count.has_value())
        throw Error(Code::invalid_argument, "a box has an offset and a count");
    return offset ? std::optional(Box{*offset, *count}) : std::nullopt;
}

std::vector<Ahead> asked(const nb::object& function, const ReadBlock& block) {
    const InPrefetcher in_one;
    try {
        std::vector<Ahead> all;
        const nb::object said = function(block.id, block.box.offset, block.box.count, block.was_in_pool);
        if (said.is_none()) return all;
        for (const nb::handle each : nb::iter(said)) {
            if (nb::isinstance<nb::str>(each)) {
                all.push_back({nb::cast<std::string>(each), {}});
                continue;
            }
            const auto parts = nb::cast<nb::tuple>(each);
            if (parts.size() != 3) throw std::runtime_error("a name, or (name, offset, count) is expected");
            all.push_back({nb::cast<std::string>(parts[0]),
                           Box{nb::cast<Dimensions>(parts[1]), nb::cast<Dimensions>(parts[2])}});
        }
        return all;
    } catch (nb::python_error& error) {
        // Nobody waits for it; so Python prints it, as it does for what is raised where nobody can be told.
        error.discard_as_unraisable(function);
        throw std::runtime_error("the function raised something");
    }
}

/// Is asked with Python's lock, and given back with that too, from whichever thread.
std::function<std::vector<Ahead>(const ReadBlock&)> asking(nb::object function) {
    const auto give_back = [](nb::object* held) {
        const nb::gil_scoped_acquire acquired;
        delete held;
    };
    const std::shared_ptr<nb::object> held(new nb::object(std::move(function)), give_back);
    return [held](const ReadBlock& block) {
        const nb::gil_scoped_acquire acquired;
        return asked(*held, block);
    };
}

void bind_numbers(nb::module_& m) {
    nb::class_<VariableHeat>(m, "VariableHeat", "How often an array was read.")
        .def_ro("id", &VariableHeat::id)
        .def_ro("reads", &VariableHeat::reads)
        .def_ro("score", &VariableHeat::score)
        .def_ro("blocks", &VariableHeat::blocks)
        .def_ro("size_bytes", &VariableHeat::bytes)
        .def_ro("below_bytes", &VariableHeat::bytes_below);
    nb::class_<TargetTraffic>(m, "TargetTraffic", "Blocks read from one target, and bytes in and out.")
        .def_ro("target", &TargetTraffic::target)
        .def_ro("reads", &TargetTraffic::reads)
        .def_ro("read_bytes", &TargetTraffic::read_bytes)
        .def_ro("stored_bytes", &TargetTraffic::stored_bytes)
        .def_ro("moved_in_bytes", &TargetTraffic::moved_in_bytes)
        .def_ro("moved_out_bytes", &TargetTraffic::moved_out_bytes)
        .def_ro("blocks_out", &TargetTraffic::blocks_out);
    nb::class_<PoolCounters>(m, "PoolCounters", "Counts of all processes together.")
        .def_ro("loads", &PoolCounters::loads)
        .def_ro("loads_spread", &PoolCounters::loads_spread)
        .def_ro("hits", &PoolCounters::hits)
        .def_ro("misses", &PoolCounters::misses)
        .def_ro("returned", &PoolCounters::returned)
        .def_ro("brought_up", &PoolCounters::brought_up)
        .def_ro("read_ahead", &PoolCounters::read_ahead)
        .def_ro("ahead_used", &PoolCounters::ahead_used)
        .def_ro("ahead_wasted", &PoolCounters::ahead_wasted)
        .def_ro("waits", &PoolCounters::waits)
        .def_ro("waited_s", &PoolCounters::waited_s)
        .def_ro("flushed_bytes", &PoolCounters::flushed_bytes)
        .def_ro("targets", &PoolCounters::targets);
    nb::class_<Proposal>(m, "Proposal", "One change of a hierarchy.")
        .def_ro("key", &Proposal::key)
        .def_ro("now", &Proposal::now)
        .def_ro("proposed", &Proposal::proposed)
        .def_ro("reason", &Proposal::reason);
    nb::class_<Advice>(m, "Advice", "Proposals for a hierarchy from the counters of a run.")
        .def_ro("proposals", &Advice::proposals)
        .def_ro("unknown", &Advice::unknown)
        .def_prop_ro("hierarchy", [](const Advice& advice) { return to_yaml(advice.hierarchy); });
}

}  // namespace

void bind_caching(nb::module_& m) {
    bind_numbers(m);
    const auto say = [&m](const char* name, auto verb) {
        m.def(
            name,
            [verb](const Pool& p, std::string_view id, const std::optional<Dimensions>& offset,
                   const std::optional<Dimensions>& count) {
                const auto box = box_of(offset, count);
                return p.call([&](PMEM& pmem) { return verb(pmem, id, box); });
            },
            "pool"_a, "id"_a, "offset"_a.none(), "count"_a.none());
    };
    say("will_need", &will_need);
    say("wont_need", &wont_need);
    m.def(
        "set_prefetcher",
        [](const Pool& p, const nb::object& function) {
            auto next = function.is_none() ? nullptr : asking(function);
            p.call([&](PMEM& pmem) { set_prefetcher(pmem, std::move(next)); });
        },
        "pool"_a, "function"_a.none());
    m.def("heat", [](const Pool& p) { return p.call([](const PMEM& pmem) { return heat_of(pmem); }); });
    m.def("counters",
          [](const Pool& p) { return p.call([](const PMEM& pmem) { return pool_counters(pmem); }); });
    m.def("advise", [](const Pool& p) { return p.call([](const PMEM& pmem) { return advise(pmem); }); });
}

}  // namespace pmemcpy::python
