#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "target.hpp"

namespace pmemcpy::fuzz {

/// Takes numbers and texts from the front of an input; behind its end everything is zero.
class Bytes {
public:
    explicit Bytes(Input input) : rest_(input) {}

    bool empty() const { return rest_.empty(); }
    Input rest() const { return rest_; }

    template <class T>
    T take() {
        T value{};
        const std::size_t n = std::min(sizeof value, rest_.size());
        if (n > 0) std::memcpy(&value, rest_.data(), n);
        rest_ = rest_.subspan(n);
        return value;
    }
    Input take_bytes(std::size_t n) {
        const Input taken = rest_.first(std::min(n, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    /// Its length comes first.
    std::string take_text() {
        const Input taken = take_bytes(take<std::uint8_t>());
        return {taken.begin(), taken.end()};
    }
    /// A number of 64 bits that is often a border of something.
    std::uint64_t take_number() {
        const auto how = take<std::uint8_t>();
        if (how < 64) return how;
        if (how < 128) return (std::uint64_t{1} << (how & 63)) + take<std::uint8_t>() - 128;
        if (how < 160) return std::uint64_t{0} - (how & 31U);
        if (how < 192) return take<std::uint16_t>();
        if (how < 224) return take<std::uint32_t>();
        return take<std::uint64_t>();
    }

private:
    Input rest_;
};

inline std::span<const std::byte> as_bytes(Input input) {
    return {reinterpret_cast<const std::byte*>(input.data()), input.size()};
}

}  // namespace pmemcpy::fuzz
