#include "base/hash.hpp"

#define XXH_INLINE_ALL  // of the library its header is all that is needed
#include <xxhash.h>

namespace pmemcpy::base {

std::uint64_t xxh3_64(const void* bytes, std::size_t size) noexcept { return XXH3_64bits(bytes, size); }

}  // namespace pmemcpy::base
