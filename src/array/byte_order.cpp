#include "array/byte_order.hpp"

#include <algorithm>

namespace pmemcpy::array {

void swap_bytes(const Type& type, std::span<std::byte> elements) {
    const auto size = static_cast<std::size_t>(type.size());
    std::size_t number = size;  // bytes of one number
    switch (type.kind()) {
        case Kind::none:
        case Kind::opaque:
        case Kind::fixed_string:
        case Kind::string:
        case Kind::sequence:
            return;
        case Kind::array:
            return swap_bytes(type.element(), elements);
        case Kind::structure:
            for (std::size_t at = 0; size > 0 && at + size <= elements.size(); at += size) {
                for (const Field& field : type.fields()) {
                    swap_bytes(field.type, elements.subspan(at + static_cast<std::size_t>(field.offset),
                                                            static_cast<std::size_t>(field.type.size())));
                }
            }
            return;
        case Kind::complex64:
        case Kind::complex128:
            number = size / 2;
            break;
        default:
            break;
    }
    if (number == 1) return;
    for (std::size_t at = 0; at + number <= elements.size(); at += number) {
        const auto one = elements.subspan(at, number);
        std::reverse(one.begin(), one.end());
    }
}

}  // namespace pmemcpy::array
