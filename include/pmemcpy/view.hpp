#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <pmemcpy/box.hpp>
#include <pmemcpy/error.hpp>
#include <span>
#include <utility>

namespace pmemcpy {

/// Mapped memory that does not change while this object lives. Copies share one pin.
class Pinned {
public:
    Pinned() = default;
    Pinned(std::shared_ptr<const void> pin, std::byte* data, std::size_t bytes)
        : pin_(std::move(pin)), data_(data), bytes_(bytes) {}
    std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }
    std::byte* data() const noexcept { return data_; }
    explicit operator bool() const noexcept { return pin_ != nullptr; }

private:
    std::shared_ptr<const void> pin_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Elements of an array in the pool, without a copy.
/// Shape: that of the selection; element (i, j, ...) is at data()[i * strides[0] + j * strides[1] + ...].
/// Crash: a view of a killed process keeps nothing alive.
/// Sharing: until the view is dropped, the elements survive store, erase and munmap by any process.
/// Errors: if the device poisons or loses the memory under a view, reading it raises SIGBUS in the reading
///     process.
template <class T>
class View {
public:
    View() = default;
    View(Pinned pin, T* data, const Dimensions& shape, const Dimensions& strides)
        : pin_(std::move(pin)), data_(data), shape_(shape), strides_(strides) {}

    T* data() const noexcept { return data_; }
    const Dimensions& shape() const noexcept { return shape_; }
    /// The strides, in elements.
    const Dimensions& strides() const noexcept { return strides_; }
    std::size_t size() const { return static_cast<std::size_t>(shape_.elements()); }
    bool is_contiguous() const {
        std::uint64_t expected = 1;
        for (int d = shape_.size(); d-- > 0;) {
            if (shape_[d] != 1 && strides_[d] != expected) return false;
            expected *= shape_[d];
        }
        return true;
    }
    /// All elements as one span. Errors: unsupported when they do not lie in one piece.
    std::span<T> span() const {
        if (!is_contiguous())
            throw Error(Code::unsupported, "this view's elements do not lie in one piece; use at()");
        return {data_, size()};
    }
    T& operator[](std::size_t i) const {
        return data_[i * (shape_.empty() ? 1 : strides_[shape_.size() - 1])];
    }
    template <class... Index>
    T& at(Index... index) const {
        const std::uint64_t indices[] = {static_cast<std::uint64_t>(index)..., 0};
        std::uint64_t place = 0;
        for (int d = 0; d < shape_.size(); ++d) {
            if (sizeof...(Index) != static_cast<std::size_t>(shape_.size()) || indices[d] >= shape_[d]) {
                throw Error(Code::out_of_range, "index outside a view of shape " + to_string(shape_));
            }
            place += indices[d] * strides_[d];
        }
        return data_[place];
    }
    T* begin() const { return span().data(); }
    T* end() const { return span().data() + size(); }

private:
    Pinned pin_;
    T* data_ = nullptr;
    Dimensions shape_;
    Dimensions strides_;
};

}  // namespace pmemcpy
