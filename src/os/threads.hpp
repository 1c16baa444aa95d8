#pragma once

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace pmemcpy::os {

/// Whether no other thread of this process can see what this one does, so that a count needs no locked instruction. False where it is not known.
inline bool has_one_thread() noexcept {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

}  // namespace pmemcpy::os
