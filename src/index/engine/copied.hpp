#pragma once

#include "index/engine/pages.hpp"

namespace pmemcpy::index {

/// Writes what a meta leads to into another file, each page where it was, without lists of free ones. Errors: corrupt, no_space, io_error.
void copy_pages(const Pages& pages, Meta meta, os::File& to);

}  // namespace pmemcpy::index
