// Elements as NumPy has them and as a pool does: all the same but text and bfloat16.

#include <algorithm>
#include <cstring>
#include <pmemcpy/error.hpp>

#include "exchange/numpy/text.hpp"
#include "exchange/numpy/type.hpp"

namespace pmemcpy::exchange {

namespace {

/// Of a sixteen-bit float it is the upper half of, in the same byte order.
void widen(std::span<const std::byte> bytes, ByteOrder order, std::vector<std::byte>& room) {
    room.assign(bytes.size() * 2, std::byte{0});
    const std::size_t upper = order == ByteOrder::big ? 0 : 2;
    for (std::size_t at = 0; at < bytes.size(); at += 2)
        std::memcpy(room.data() + at * 2 + upper, bytes.data() + at, 2);
}

/// `convert` is given each text as it is and as it is to be.
template <class Convert>
void each_text(const NumpyElement& element, std::span<const std::byte> bytes, std::uint64_t from_bytes,
               std::uint64_t to_bytes, std::vector<std::byte>& room, Convert&& convert) {
    const std::size_t n = bytes.size() / from_bytes;
    room.resize(n * to_bytes);
    for (std::size_t i = 0; i < n; ++i) {
        const std::span<const std::byte> from = bytes.subspan(i * from_bytes, from_bytes);
        const std::span<std::byte> to = std::span(room).subspan(i * to_bytes, to_bytes);
        std::copy_n(from.begin(), std::min(from_bytes, to_bytes), to.begin());
        for (const NumpyText& text : element.texts) convert(text, from, to);
    }
}

}  // namespace

std::span<const std::byte> to_pool(const NumpyElement& element, std::span<const std::byte> bytes,
                                   std::vector<std::byte>& room) {
    if (element.texts.empty()) return bytes;
    each_text(element, bytes, element.bytes, element.type.size(), room,
              [](const NumpyText& text, std::span<const std::byte> from, std::span<std::byte> to) {
                  if (!utf8_of_numpy(from.subspan(text.offset, text.numpy_bytes), text.order,
                                     to.subspan(text.offset, text.pool_bytes)))
                      throw Error(Code::corrupt, "text with a character that Unicode does not have");
              });
    return room;
}

std::span<const std::byte> to_numpy(const NumpyElement& element, std::span<const std::byte> bytes,
                                    std::vector<std::byte>& room) {
    if (element.widens) {
        const Type& type = element.type;
        widen(bytes, type.kind() == Kind::array ? type.element().byte_order() : type.byte_order(), room);
        return room;
    }
    if (element.texts.empty()) return bytes;
    each_text(element, bytes, element.type.size(), element.bytes, room,
              [](const NumpyText& text, std::span<const std::byte> from, std::span<std::byte> to) {
                  const auto utf8 = from.subspan(text.offset, text.pool_bytes);
                  const auto characters = characters_of(utf8);
                  if (!characters || *characters * 4 > text.numpy_bytes) {
                      throw Error(Code::busy,
                                  "its text is another than a moment ago; export it between two steps");
                  }
                  numpy_of_utf8(utf8, text.order, to.subspan(text.offset, text.numpy_bytes));
              });
    return room;
}

void look_at_text(const NumpyElement& element, std::span<const std::byte> bytes, TextSeen& seen) {
    const std::uint64_t size = element.type.size();
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        for (const NumpyText& text : element.texts) {
            const auto characters = characters_of(bytes.subspan(at + text.offset, text.pool_bytes));
            seen.is_utf8 = seen.is_utf8 && characters;
            seen.fits = seen.fits && characters && *characters * 4 <= text.numpy_bytes;
            seen.longest = std::max(seen.longest, characters.value_or(0));
        }
    }
}

}  // namespace pmemcpy::exchange
