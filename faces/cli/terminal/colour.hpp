#pragma once

#include <cstdio>

namespace pmemcpy::cli {

/// Whether what is written there may have colours: it is a terminal that knows some, and nobody has set NO_COLOR.
bool use_colour(std::FILE* file);

}  // namespace pmemcpy::cli
