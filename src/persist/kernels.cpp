#include "persist/kernels.hpp"

#include <utility>
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
    const bool has_avx2 = has_crc && __builtin_cpu_supports("avx2") != 0;
    // Intel's processors want stores to take turns among four streams, and AMD's want them in order.
    const auto add = [&, in_order = __builtin_cpu_is("amd") != 0](const Kernels& turns,
                                                                  const Kernels& ordered) {
        found.push_back(in_order ? &ordered : &turns);
        found.push_back(in_order ? &turns : &ordered);
    };
    if (base::crc32c_can_fold()) {
        add(kernels_avx512, kernels_avx512_in_order);
    } else if (has_crc && has_avx512) {
        found.push_back(&kernels_avx512);
    }
    if (has_avx2) add(kernels_avx2, kernels_avx2_in_order);
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
