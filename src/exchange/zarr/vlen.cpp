#include "exchange/zarr/vlen.hpp"

#include <algorithm>
#include <cstring>
#include <pmemcpy/error.hpp>
#include <string>

namespace pmemcpy::exchange {

namespace {

std::uint32_t number_at(std::span<const std::byte> coded, std::size_t at) {
    if (coded.size() < at || coded.size() - at < 4) throw Error(Code::corrupt, "its texts end too early");
    std::uint32_t number = 0;
    std::memcpy(&number, coded.data() + at, sizeof number);
    return number;
}

template <class Visit>
void each_text(std::span<const std::byte> coded, Extent count, Visit&& visit) {
    const std::uint32_t there = number_at(coded, 0);
    if (there != count)
        throw Error(Code::corrupt,
                    "it has " + std::to_string(there) + " texts instead of " + std::to_string(count));
    std::size_t at = 4;
    for (Extent i = 0; i < count; ++i) {
        const std::uint32_t bytes = number_at(coded, at);
        at += 4;
        if (coded.size() - at < bytes) throw Error(Code::corrupt, "its texts end too early");
        visit(coded.subspan(at, bytes));
        at += bytes;
    }
    if (at != coded.size()) throw Error(Code::corrupt, "there are bytes behind its texts");
}

}  // namespace

VlenLook look_at_vlen(std::span<const std::byte> coded, Extent count) {
    VlenLook look;
    each_text(coded, count, [&](std::span<const std::byte> text) {
        look.longest = std::max<std::uint64_t>(look.longest, text.size());
        if (!text.empty() && text.back() == std::byte{0}) look.has_zeros_at_an_end = true;
    });
    return look;
}

void read_vlen(std::span<const std::byte> coded, Extent count, std::uint64_t width, std::span<std::byte> to) {
    std::byte* at = to.data();
    each_text(coded, count, [&](std::span<const std::byte> text) {
        if (text.size() > width) throw Error(Code::corrupt, "a text has become longer while it was read");
        std::copy(text.begin(), text.end(), at);
        std::fill(at + text.size(), at + width, std::byte{0});
        at += width;
    });
}

Bytes vlen_of(std::span<const std::byte> padded, std::uint64_t width) {
    Bytes coded;
    const auto put = [&](std::size_t number) {
        const auto short_number = static_cast<std::uint32_t>(number);
        const auto* bytes = reinterpret_cast<const std::byte*>(&short_number);
        coded.insert(coded.end(), bytes, bytes + sizeof short_number);
    };
    put(padded.size() / width);
    for (std::size_t at = 0; at < padded.size(); at += width) {
        std::size_t bytes = width;
        while (bytes > 0 && padded[at + bytes - 1] == std::byte{0}) --bytes;
        put(bytes);
        coded.insert(coded.end(), padded.begin() + static_cast<std::ptrdiff_t>(at),
                     padded.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    }
    return coded;
}

}  // namespace pmemcpy::exchange
