#pragma once

#include <nanobind/nanobind.h>

#include <pmemcpy/box.hpp>

/// Dimensions are tuples of integers in Python; `unlimited`, which only a new array has, is None.
template <>
struct nanobind::detail::type_caster<pmemcpy::Dimensions> {
    NB_TYPE_CASTER(pmemcpy::Dimensions, const_name("tuple[int, ...]"))

    bool from_python(handle source, std::uint8_t, cleanup_list*) noexcept {
        try {
            value = {};
            for (const handle extent : borrow<sequence>(source))
                value.push_back(extent.is_none() ? pmemcpy::unlimited : cast<pmemcpy::Extent>(extent));
            return true;
        } catch (python_error& error) {
            return false;
        } catch (const std::exception&) {
            return false;
        }
    }

    static handle from_cpp(const pmemcpy::Dimensions& dims, rv_policy, cleanup_list*) noexcept {
        PyObject* tuple = PyTuple_New(dims.size());
        if (tuple == nullptr) return {};
        for (int d = 0; d < dims.size(); ++d) {
            const bool is_unlimited = dims[d] == pmemcpy::unlimited;
            PyTuple_SET_ITEM(tuple, d,
                             is_unlimited ? none().release().ptr() : PyLong_FromUnsignedLongLong(dims[d]));
        }
        return tuple;
    }
};
