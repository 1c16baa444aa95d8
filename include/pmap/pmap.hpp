#pragma once

// The names of the pMAP poster (its Figures 4 and 6) for the same library.
#include <pmemcpy/pmemcpy.hpp>

namespace pmap = pmemcpy;
