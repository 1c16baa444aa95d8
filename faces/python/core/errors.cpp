#include "bindings.hpp"

#include <pmemcpy/error.hpp>

namespace nb = nanobind;

namespace pmemcpy::python {

void bind_errors(nb::module_& m) {
    // The name of a code, to the exception class that errors.py has for it. Kept by the module, found without looking it up by name.
    static nb::handle classes = nb::dict().release();
    m.def("set_error_classes", [](const nb::typed<nb::dict, nb::str, nb::type_object>& all) {
        nb::borrow<nb::dict>(classes).update(all);
    });
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void*) {
            try {
                std::rethrow_exception(thrown);
            } catch (const Error& error) {
                const nb::object type = nb::borrow<nb::dict>(classes)[name_of(error.kind())];
                PyErr_SetObject(type.ptr(), nb::str(error.what()).ptr());
            }
        },
        nullptr);
}

}  // namespace pmemcpy::python
