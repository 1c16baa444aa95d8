#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <pmemcpy/error.hpp>
#include <span>
#include <string>

namespace pmemcpy::python {

/// The bytes of any Python object that has some in one piece, kept where they are while this lives.
class Buffer {
public:
    /// Errors: Python's own BufferError and TypeError.
    Buffer(nanobind::handle object, bool writable) {
        if (PyObject_GetBuffer(object.ptr(), &view_, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0)
            throw nanobind::python_error();
    }
    ~Buffer() { PyBuffer_Release(&view_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    std::span<std::byte> bytes() const noexcept {
        return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
    }
    /// That there are neither more nor fewer bytes than the call means. Errors: invalid_argument.
    void expect(std::uint64_t elements, std::uint64_t element_bytes) const {
        if (element_bytes != 0 && bytes().size() % element_bytes == 0 &&
            bytes().size() / element_bytes == elements)
            return;
        throw Error(Code::invalid_argument, "the selection has " + std::to_string(elements) +
                                                " elements of " + std::to_string(element_bytes) +
                                                " bytes, the buffer has " + std::to_string(bytes().size()) +
                                                " bytes");
    }

private:
    Py_buffer view_{};
};

}  // namespace pmemcpy::python
