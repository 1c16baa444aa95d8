#include "bindings.hpp"
#include "dimensions.hpp"
#include "pool.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <pmemcpy/tiers.hpp>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace pmemcpy::python {
namespace {

/// Python's function is told (bytes done, bytes in all) and stops by False; without one ^C does.
std::function<bool(const FlushProgress&)> telling(const nb::object& progress) {
    return [&progress](const FlushProgress& p) {
        const InCallback python;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        return progress.is_none() || !progress(p.bytes, p.of_bytes).is(nb::bool_(false));
    };
}

Request request_of(std::string_view what) {
    if (what == "flush") return Request::flush;
    if (what == "bring up") return Request::bring_up;
    throw Error(Code::invalid_argument,
                "there is no request '" + std::string(what) + "'; there are 'flush' and 'bring up'");
}

void bind_reports(nb::module_& m) {
    nb::class_<FlushProgress>(m, "FlushProgress", "Blocks and bytes to flush, and how many are done.")
        .def_ro("blocks", &FlushProgress::of_blocks)
        .def_ro("size_bytes", &FlushProgress::of_bytes);
    nb::class_<TargetInfo>(m, "TargetInfo", "The present state of a target.")
        .def_prop_ro("name", [](const TargetInfo& info) { return info.target.name; })
        .def_prop_ro("kind", [](const TargetInfo& info) { return std::string(name_of(info.target.kind)); })
        .def_prop_ro("path", [](const TargetInfo& info) { return info.target.path; })
        .def_ro("used_bytes", &TargetInfo::used_bytes)
        .def_ro("capacity_bytes", &TargetInfo::capacity_bytes)
        .def_ro("trouble", &TargetInfo::trouble)
        .def_ro("command_trouble", &TargetInfo::command_trouble);
    nb::class_<Receipt>(m, "Receipt", "The place of a block and the failures that it survives.")
        .def_prop_ro("offset", [](const Receipt& receipt) { return receipt.box.offset; })
        .def_prop_ro("count", [](const Receipt& receipt) { return receipt.box.count; })
        .def_ro("target", &Receipt::target)
        .def_ro("is_flushed", &Receipt::is_flushed)
        .def_ro("is_staged", &Receipt::is_staged)
        .def_prop_ro("survives",
                     [](const Receipt& receipt) { return std::string(name_of(receipt.survives)); })
        .def_prop_ro("mode", [](const Receipt& receipt) { return std::string(name_of(receipt.mode)); })
        .def_ro("flushed_in_s", &Receipt::flushed_in_s)
        .def_prop_ro("waits_for", [](const Receipt& receipt) {
            return receipt.waits_for ? std::optional<std::string>(name_of(*receipt.waits_for)) : std::nullopt;
        });
    nb::class_<Rebuilt>(m, "Rebuilt", "The result of rebuild().")
        .def_ro("lost", &Rebuilt::lost)
        .def_ro("written_ns", &Rebuilt::written_ns)
        .def_ro("variables", &Rebuilt::variables)
        .def_ro("blocks", &Rebuilt::blocks)
        .def_ro("size_bytes", &Rebuilt::bytes)
        .def_ro("hierarchy_trouble", &Rebuilt::hierarchy_trouble)
        .def_ro("damages", &Rebuilt::damages);
}

void bind_flushing(nb::module_& m) {
    m.def(
        "flush",
        [](const Pool& p, std::string_view id, const nb::object& progress) {
            const auto tell = telling(progress);
            return p.call([&](PMEM& pmem) { return flush(pmem, id, tell); });
        },
        "pool"_a, "id"_a, "progress"_a.none());
    m.def("unflushed",
          [](const Pool& p) { return p.call([](const PMEM& pmem) { return unflushed(pmem); }); });
    m.def("request", [](const Pool& p, std::string_view what, std::string_view id, std::uint32_t urgency) {
        const Request wanted = request_of(what);
        p.call([&](PMEM& pmem) { request(pmem, wanted, id, urgency); });
    });
    m.def("requests", [](const Pool& p) { return p.call([](const PMEM& pmem) { return requests(pmem); }); });
    m.def(
        "rebuild",
        [](const std::string& from, const std::string& to, const std::optional<std::string>& hierarchy,
           std::uint64_t max_bytes, const nb::object& progress) {
            RebuildOptions options;
            if (hierarchy) options.hierarchy = parse_hierarchy(*hierarchy);
            options.max_bytes = max_bytes;
            const auto tell = telling(progress);
            options.progress = [&](const FlushProgress& p) { tell(p); };
            const nb::gil_scoped_release released;
            return rebuild(from, to, options);
        },
        "source"_a, "target"_a, "hierarchy"_a.none(), "max_bytes"_a, "progress"_a.none());
}

}  // namespace

void bind_tiers(nb::module_& m) {
    bind_reports(m);
    bind_flushing(m);
    m.def("hierarchy", [](const Pool& p) {
        return p.call([](const PMEM& pmem) -> std::optional<std::string> {
            const auto hierarchy = hierarchy_of(pmem);
            return hierarchy ? std::optional(to_yaml(*hierarchy)) : std::nullopt;
        });
    });
    m.def(
        "set_hierarchy",
        [](const Pool& p, const std::optional<std::string>& yaml) {
            p.call([&](PMEM& pmem) {
                yaml ? set_hierarchy(pmem, parse_hierarchy(*yaml)) : remove_hierarchy(pmem);
            });
        },
        "pool"_a, "yaml"_a.none());
    m.def("targets", [](const Pool& p) { return p.call([](const PMEM& pmem) { return targets(pmem); }); });
    m.def("receipts", [](const Pool& p, std::string_view id) {
        return p.call([&](const PMEM& pmem) { return receipts(pmem, id); });
    });
    m.def("set_mode", [](const Pool& p, std::string_view match, std::string_view mode) {
        const Buffering wanted = parse_buffering(mode);
        p.call([&](PMEM& pmem) { set_mode(pmem, match, wanted); });
    });
    m.def("reserve", [](const Pool& p, std::uint64_t bytes, std::string_view target) {
        p.call([&](PMEM& pmem) { reserve(pmem, bytes, target); });
    });
    m.def("reserved", [](const Pool& p, std::string_view target) {
        return p.call([&](const PMEM& pmem) { return reserved(pmem, target); });
    });
    m.def("move", [](const Pool& p, std::string_view id, std::string_view target) {
        return p.call([&](PMEM& pmem) { return move(pmem, id, target); });
    });
}

}  // namespace pmemcpy::python
