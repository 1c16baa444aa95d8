#include "base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace pmemcpy::base {

void assertion_failed(const char* condition, const char* text, const char* file, unsigned line) noexcept {
    std::fprintf(stderr, "%s:%u: assertion failed: %s (%s)\n", file, line, text, condition);
    std::abort();
}

}  // namespace pmemcpy::base
