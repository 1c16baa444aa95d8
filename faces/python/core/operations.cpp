#include "bindings.hpp"
#include "dimensions.hpp"
#include "pool.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <pmemcpy/operations.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace pmemcpy::python {
namespace {

/// Calls function(type, dims, bytes), which gives such three, with Python's lock, and gives it back with that too, from whichever
/// thread.
Operate calling_operation(nb::object function) {
    const auto give_back = [](nb::object* held) {
        const nb::gil_scoped_acquire acquired;
        delete held;
    };
    const std::shared_ptr<nb::object> held(new nb::object(std::move(function)), give_back);
    return [held](const OperationArray& input) {
        const InCallback in_callback;
        try {
            const nb::bytes bytes(input.data.data(), input.data.size());
            const auto made = nb::cast<nb::tuple>((*held)(input.type, input.dims, bytes));
            const auto data = nb::cast<nb::bytes>(made[2]);
            OperationArray output{nb::cast<Type>(made[0]), nb::cast<Dimensions>(made[1]),
                                  std::vector<std::byte>(data.size())};
            if (data.size() > 0) std::memcpy(output.data.data(), data.c_str(), data.size());
            return output;
        } catch (const nb::python_error& error) {
            throw std::runtime_error(error.what());
        }
    };
}

Hint hint_of_names(const PMEM& pmem, const std::vector<std::string>& names, std::uint32_t bins,
                   const std::string& codec) {
    return {operation_mask(pmem, names), bins, parse_codec(codec)};
}

}  // namespace

void bind_operations(nb::module_& m) {
    nb::class_<OperationInfo>(m, "OperationInfo", "A function registered in a pool.")
        .def_ro("name", &OperationInfo::name)
        .def_ro("number", &OperationInfo::number)
        .def_ro("in_process", &OperationInfo::in_process)
        .def_ro("library", &OperationInfo::library)
        .def_prop_ro("seconds", [](const OperationInfo& info) { return info.limits.seconds; })
        .def_prop_ro("memory_bytes", [](const OperationInfo& info) { return info.limits.bytes; })
        .def_ro("trouble", &OperationInfo::trouble);
    nb::class_<OperationState>(m, "OperationState", "The state of the operations on a variable.")
        .def_ro("id", &OperationState::id)
        .def_prop_ro("progress", [](const OperationState& state) { return name_of(state.progress); })
        .def_prop_ro("mask", [](const OperationState& state) { return state.hint.mask; })
        .def_ro("trouble", &OperationState::trouble);
    m.def(
        "hint",
        [](const Pool& pool, const std::string& id, const std::vector<std::string>& names, std::uint32_t bins,
           const std::string& codec) {
            pool.call([&](PMEM& pmem) { hint(pmem, id, hint_of_names(pmem, names, bins, codec)); });
        },
        "pool"_a, "id"_a, "operations"_a, "bins"_a, "codec"_a);
    m.def(
        "run_operations",
        [](const Pool& pool, const std::string& id, const std::vector<std::string>& names, std::uint32_t bins,
           const std::string& codec) {
            return pool.call([&](PMEM& pmem) {
                return run_operations(pmem, id, hint_of_names(pmem, names, bins, codec));
            });
        },
        "pool"_a, "id"_a, "operations"_a, "bins"_a, "codec"_a);
    m.def(
        "operation_state",
        [](const Pool& pool, const std::string& id) {
            return pool.call([&](const PMEM& pmem) { return operation_state(pmem, id); });
        },
        "pool"_a, "id"_a);
    m.def(
        "operation_states",
        [](const Pool& pool) { return pool.call([](const PMEM& pmem) { return operation_states(pmem); }); },
        "pool"_a);
    m.def(
        "wait_for_operations",
        [](const Pool& pool) { pool.call([](PMEM& pmem) { wait_for_operations(pmem); }); }, "pool"_a);
    m.def(
        "add_operation_file",
        [](const Pool& pool, const std::string& name, const std::string& file, double seconds,
           std::uint64_t memory_bytes) {
            return pool.call([&](PMEM& pmem) {
                return add_operation(pmem, name, file, {seconds, memory_bytes});
            });
        },
        "pool"_a, "name"_a, "file"_a, "seconds"_a, "memory_bytes"_a);
    m.def(
        "add_operation_function",
        [](const Pool& pool, const std::string& name, nb::object function) {
            Operate operate = calling_operation(std::move(function));
            return pool.call([&](PMEM& pmem) { return add_operation(pmem, name, std::move(operate)); });
        },
        "pool"_a, "name"_a, "function"_a);
    m.def(
        "remove_operation",
        [](const Pool& pool, const std::string& name) {
            pool.call([&](PMEM& pmem) { remove_operation(pmem, name); });
        },
        "pool"_a, "name"_a);
    m.def(
        "registered_operations",
        [](const Pool& pool) {
            return pool.call([](const PMEM& pmem) { return registered_operations(pmem); });
        },
        "pool"_a);
}

}  // namespace pmemcpy::python
