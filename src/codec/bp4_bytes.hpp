#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <pmemcpy/error.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pmemcpy::codec::bp4 {

/// Appends numbers and names as BP4 writes them, in the byte order of this machine: the header says which
/// that is.
class Bytes {
public:
    template <typename T>
        requires(std::is_arithmetic_v<T>)
    void put(T number) {
        append(std::as_bytes(std::span(&number, 1)));
    }
    void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void append(std::string_view text) { append(std::as_bytes(std::span(text))); }
    void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }

    /// A name is its length in 16 bits, and its characters.
    void name(std::string_view text) {
        if (text.size() > std::numeric_limits<std::uint16_t>::max())
            throw Error(Code::invalid_argument, "BP4: a name or text of " + std::to_string(text.size()) +
                                                    " bytes; the format holds 65,535");
        put(static_cast<std::uint16_t>(text.size()));
        append(text);
    }

    /// Overwrites a number that was not known when its place was passed.
    template <typename T>
        requires(std::is_arithmetic_v<T>)
    void patch(std::size_t at, T number) {
        std::memcpy(bytes_.data() + at, &number, sizeof number);
    }

    std::size_t size() const noexcept { return bytes_.size(); }
    std::span<const std::byte> view() const noexcept { return bytes_; }
    std::vector<std::byte> take() noexcept { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

}  // namespace pmemcpy::codec::bp4
