#include "exchange/zarr/strided.hpp"

#include <cstring>

namespace pmemcpy::exchange {

namespace {

struct Copy {
    const Dimensions& from_steps;
    const Dimensions& to_steps;
    const Dimensions& count;
    std::uint64_t width;

    // A width that the compiler knows makes a load and a store of each memcpy.
    template <class Width>
    void row(const std::byte* from, std::byte* to, int d, Width bytes) const {
        const Extent from_step = from_steps[d] * bytes, to_step = to_steps[d] * bytes;
        for (Extent i = 0; i < count[d]; ++i) std::memcpy(to + i * to_step, from + i * from_step, bytes);
    }

    void operator()(const std::byte* from, std::byte* to, int d) const {
        if (d + 1 < count.size()) {
            for (Extent i = 0; i < count[d]; ++i)
                (*this)(from + i * from_steps[d] * width, to + i * to_steps[d] * width, d + 1);
            return;
        }
        if (from_steps[d] == 1 && to_steps[d] == 1) {
            if (count[d] > 0) std::memcpy(to, from, count[d] * width);
            return;
        }
        switch (width) {
            case 1:
                return row(from, to, d, std::integral_constant<std::uint64_t, 1>());
            case 2:
                return row(from, to, d, std::integral_constant<std::uint64_t, 2>());
            case 4:
                return row(from, to, d, std::integral_constant<std::uint64_t, 4>());
            case 8:
                return row(from, to, d, std::integral_constant<std::uint64_t, 8>());
            default:
                return row(from, to, d, width);
        }
    }
};

}  // namespace

Dimensions steps_of(const Dimensions& shape) {
    Dimensions steps = Dimensions::filled(shape.size(), 1);
    for (int d = shape.size() - 1; d-- > 0;) steps[d] = steps[d + 1] * shape[d + 1];
    return steps;
}

void copy_strided(const std::byte* from, const Dimensions& from_steps, std::byte* to,
                  const Dimensions& to_steps, const Dimensions& count, std::uint64_t width) {
    if (count.empty()) {
        std::memcpy(to, from, width);
        return;
    }
    Copy{from_steps, to_steps, count, width}(from, to, 0);
}

}  // namespace pmemcpy::exchange
