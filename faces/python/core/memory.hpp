#pragma once

#include <cstddef>
#include <pmemcpy/view.hpp>

namespace pmemcpy::python {

/// Pinned memory of a pool as Python sees it: an object with the buffer protocol, on which numpy builds its arrays.
struct Memory {
    Pinned pin;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    bool is_writable = false;
};

}  // namespace pmemcpy::python
