#include "persist/kernels.hpp"

#include <vector>

#include "base/crc32c.hpp"

namespace pmemcpy::persist {

namespace {

std::vector<const Kernels*> find_runnable() {
    std::vector<const Kernels*> found;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool has_crc = base::crc32c_is_accelerated();
    const bool has_avx512 =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    if (has_crc && has_avx512) found.push_back(&kernels_avx512);
    if (has_crc && __builtin_cpu_supports("avx2") != 0) found.push_back(&kernels_avx2);
    if (has_crc) found.push_back(&kernels_sse);
#elif defined(__aarch64__)
    if (base::crc32c_is_accelerated()) found.push_back(&kernels_neon);
#endif
    found.push_back(&kernels_generic);
    return found;
}

}  // namespace

std::span<const Kernels* const> runnable_kernels() noexcept {
    static const std::vector<const Kernels*> found = find_runnable();
    return found;
}

const Kernels& kernels() noexcept {
    static const Kernels& best = *runnable_kernels().front();
    return best;
}

}  // namespace pmemcpy::persist
