#pragma once

#include <cstddef>
#include <pmemcpy/view.hpp>

namespace pmemcpy::python {

/// Memory for the copy of a large array, which comes back here when Python drops the array: new pages cost more than the copy
/// itself, for the kernel fills them with zeros first. What lies here unused the kernel may take whenever it wants memory
/// (MADV_FREE). Errors: std::bad_alloc.
Pinned recycled(std::size_t bytes);

}  // namespace pmemcpy::python
