#pragma once

// The name that Figure 3 of the paper includes.
#include <pmemcpy/pmemcpy.hpp>
