#include "memory.hpp"

#include "bindings.hpp"
#include "recycled.hpp"

namespace nb = nanobind;

namespace pmemcpy::python {
namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
    const auto* memory = nb::inst_ptr<Memory>(self);
    return PyBuffer_FillInfo(view, self, memory->data, static_cast<Py_ssize_t>(memory->bytes),
                             memory->is_writable ? 0 : 1, flags);
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)}, {0, nullptr}};

}  // namespace

void bind_memory(nb::module_& m) {
    nb::class_<Memory>(m, "Memory", nb::type_slots(slots),
                       "Bytes in the pool, which do not change while this lives.")
        .def("__len__", [](const Memory& memory) { return memory.bytes; });
    m.def(
        "recycled",
        [](std::size_t bytes) {
            const Pinned pin = recycled(bytes);
            return Memory{pin, pin.data(), bytes, true};
        },
        nb::arg("bytes"), "Returns memory for a large copy, reused where possible.");
}

}  // namespace pmemcpy::python
