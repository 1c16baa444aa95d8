#pragma once

#include <algorithm>
#include <cereal/archives/portable_binary.hpp>
#include <cereal/cereal.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <pmemcpy/encoder.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace pmemcpy {

/// Reads the output of cereal's PortableBinaryOutputArchive from memory that is not trusted. It never reads
/// past the end, and believes a count only as far as the remaining bytes can hold it; cereal's own archive
/// resizes a vector to any count.
class CerealInput : public cereal::InputArchive<CerealInput, cereal::AllowEmptyClassElision> {
public:
    explicit CerealInput(std::span<const std::byte> bytes)
        : cereal::InputArchive<CerealInput, cereal::AllowEmptyClassElision>(this), left_(bytes) {
        std::uint8_t little_endian = 0;
        read(&little_endian, 1, 1);
        if (little_endian > 1) throw cereal::Exception("the first byte says neither little nor big endian");
        swap_ = little_endian != cereal::portable_binary_detail::is_little_endian();
    }

    std::size_t remaining_bytes() const noexcept { return left_.size(); }

    /// `size` bytes, which are elements of `element_size` bytes each.
    void read(void* to, std::size_t size, std::size_t element_size) {
        require(size);
        copy_out(to, left_.data(), size);
        left_ = left_.subspan(size);
        if (!swap_) return;
        auto* at = static_cast<std::byte*>(to);
        for (std::size_t i = 0; i < size; i += element_size) std::reverse(at + i, at + i + element_size);
    }

    /// A count of things that take at least `each_bytes` bytes here.
    std::uint64_t read_count(std::size_t each_bytes) {
        std::uint64_t count = 0;
        read(&count, sizeof count, sizeof count);
        if (count > left_.size() / each_bytes)
            throw cereal::Exception("a count of " + std::to_string(count) + " with " +
                                    std::to_string(left_.size()) + " bytes left");
        return count;
    }

private:
    void require(std::size_t size) const {
        if (size > left_.size())
            throw cereal::Exception(std::to_string(size) + " bytes wanted, " + std::to_string(left_.size()) +
                                    " left");
    }

    std::span<const std::byte> left_;
    bool swap_ = false;
};

}  // namespace pmemcpy

namespace cereal {

template <class T>
    requires(std::is_arithmetic_v<T>)
void CEREAL_LOAD_FUNCTION_NAME(pmemcpy::CerealInput& archive, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        std::uint8_t byte = 0;
        archive.read(&byte, 1, 1);
        value = byte != 0;
    } else {
        archive.read(&value, sizeof value, sizeof value);
    }
}

template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(pmemcpy::CerealInput& archive, NameValuePair<T>& pair) {
    archive(pair.value);
}

template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(pmemcpy::CerealInput& archive, SizeTag<T>& tag) {
    tag.size = static_cast<std::decay_t<T>>(archive.read_count(1));
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(pmemcpy::CerealInput& archive, BinaryData<T>& data) {
    archive.read(data.data, static_cast<std::size_t>(data.size), sizeof(std::remove_pointer_t<T>));
}

/// More special than cereal's for any archive: the vector grows only as fast as the bytes that fill it.
template <class T, class A>
    requires(!std::is_same_v<T, bool>)
void CEREAL_LOAD_FUNCTION_NAME(pmemcpy::CerealInput& archive, std::vector<T, A>& vector) {
    if constexpr (std::is_arithmetic_v<T>) {
        vector.resize(static_cast<std::size_t>(archive.read_count(sizeof(T))));
        archive.read(vector.data(), vector.size() * sizeof(T), sizeof(T));
    } else {
        const std::uint64_t count = archive.read_count(1);
        vector.clear();
        vector.reserve(
            static_cast<std::size_t>(std::min<std::uint64_t>(count, archive.remaining_bytes() / sizeof(T))));
        for (std::uint64_t i = 0; i < count; ++i) archive(vector.emplace_back());
    }
}

namespace traits::detail {
/// The archive that wrote the bytes of a CerealInput; cereal checks pairs of minimal functions against it.
template <>
struct get_output_from_input<pmemcpy::CerealInput> {
    using type = PortableBinaryOutputArchive;
};
}  // namespace traits::detail

}  // namespace cereal

CEREAL_REGISTER_ARCHIVE(pmemcpy::CerealInput)
