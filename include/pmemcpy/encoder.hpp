#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <pmemcpy/error.hpp>
#include <ranges>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pmemcpy {

/// The encoding of an object. The numbers are on media: a number is never reused for something else.
enum class SerializerType : std::uint8_t {
    Default = 0,        ///< what the pool was created with; never recorded
    bp4 = 1,            ///< raw and contiguous, with the block's characteristics as ADIOS BP4 has them
    capnproto = 2,      ///< a Cap'n Proto flat message; needs <pmemcpy/capnp.hpp>
    cereal = 3,         ///< cereal's portable binary archive; needs <pmemcpy/cereal.hpp>
    none = 4,           ///< the bytes as they lie in memory, without characteristics
    first_custom = 64,  ///< from here on, see register_serializer()
};

namespace detail {
void copy_much_out(void* to, const void* from, std::size_t bytes) noexcept;
}

/// Copies out of a pool into memory of this process, for decoders: as memcpy, without overlap. It reaches the
/// memory's speed at any alignment; the C library's memcpy does not everywhere between 4 KiB and the size of
/// the second-level cache.
inline void copy_out(void* to, const void* from, std::size_t bytes) noexcept {
    constexpr std::size_t much = 4096;
    if (bytes >= much)
        detail::copy_much_out(to, from, bytes);
    else if (bytes > 0)
        std::memcpy(to, from, bytes);
}

/// An object on its way into mapped memory. It refers to the object, which must outlive it unchanged.
struct Encoder {
    virtual ~Encoder() = default;
    /// The exact number of bytes that encode() writes.
    virtual std::uint64_t size_bytes() const = 0;
    /// Writes exactly size_bytes() bytes into `out`, front to back, and keeps no copy of them anywhere else.
    virtual void encode(std::span<std::byte> out) const = 0;
    /// The encoded bytes, if they lie in one piece already, so that the library can copy them the fastest
    /// way.
    virtual std::span<const std::byte> in_one_piece() const { return {}; }
};

/// The customisation point: how serializer `Type` handles objects of type T. A specialisation has
///     static <an Encoder> encoder(const T& value);
///     static void decode(std::span<const std::byte> bytes, T& value);   // throws Error corrupt
/// There is no general definition, so that a missing one can be told at compile time.
template <SerializerType Type, typename T>
struct Serializer;

/// True when `Type` can serialise T with the headers included so far. Include <pmemcpy/cereal.hpp> and
/// <pmemcpy/capnp.hpp> before the first use: the compiler remembers the answer.
template <SerializerType Type, typename T>
concept serializable_by = requires { sizeof(Serializer<Type, T>); };

/// Objects whose bytes mean the same in another process. Views (spans, string views) and pointers are
/// trivially copyable too, but what they store is an address.
template <typename T>
concept RawObject = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                    !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T> && !std::ranges::view<T>;

/// The spelling of T, for messages.
template <typename T>
std::string spelling_of() {
    const std::string_view text = std::source_location::current().function_name();
    const auto from = text.find("T = ");
    if (from == std::string_view::npos) return "this type";
    const auto rest = text.substr(from + 4);
    const auto end = rest.find(';');
    return std::string(rest.substr(0, end == std::string_view::npos ? rest.rfind(']') : end));
}

/// Bytes that lie in one piece: encoding them is one copy.
class BytesEncoder final : public Encoder {
public:
    explicit BytesEncoder(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
    std::uint64_t size_bytes() const override { return bytes_.size(); }
    std::span<const std::byte> in_one_piece() const override { return bytes_; }
    void encode(std::span<std::byte> out) const override {
        if (out.size() != bytes_.size())
            throw Error(Code::invalid_argument, "encode: " + std::to_string(bytes_.size()) +
                                                    " bytes were given " + std::to_string(out.size()) +
                                                    " bytes of room");
        if (!bytes_.empty()) std::memcpy(out.data(), bytes_.data(), bytes_.size());
    }

private:
    std::span<const std::byte> bytes_;
};

/// Encodes objects as their bytes: `none` and, for objects that are not arrays, `bp4`.
template <RawObject T>
struct Serializer<SerializerType::none, T> {
    static BytesEncoder encoder(const T& value) { return BytesEncoder(std::as_bytes(std::span(&value, 1))); }
    static void decode(std::span<const std::byte> bytes, T& value) {
        if (bytes.size() != sizeof(T))
            throw Error(Code::corrupt, "load of a " + spelling_of<T>() + ": found " +
                                           std::to_string(bytes.size()) + " bytes where there must be " +
                                           std::to_string(sizeof(T)));
        if constexpr (std::same_as<T, bool>)
            value = bytes[0] != std::byte{0};  // any other byte in a bool is undefined behaviour
        else
            std::memcpy(&value, bytes.data(), sizeof(T));
    }
};

/// Encodes a string or a vector as its elements; their number follows from the number of bytes.
template <typename Sequence>
struct ContiguousSerializer {
    using Element = typename Sequence::value_type;

    static BytesEncoder encoder(const Sequence& value) {
        return BytesEncoder(std::as_bytes(std::span(value.data(), value.size())));
    }
    static void decode(std::span<const std::byte> bytes, Sequence& value) {
        if (bytes.size() % sizeof(Element) != 0)
            throw Error(Code::corrupt, "load of a " + spelling_of<Sequence>() + ": found " +
                                           std::to_string(bytes.size()) +
                                           " bytes, which is no whole number of " +
                                           std::to_string(sizeof(Element)) + "-byte elements");
        value.resize(bytes.size() / sizeof(Element));
        copy_out(value.data(), bytes.data(), bytes.size());
    }
};

template <RawObject C, typename Traits, typename Allocator>
struct Serializer<SerializerType::none, std::basic_string<C, Traits, Allocator>>
    : ContiguousSerializer<std::basic_string<C, Traits, Allocator>> {};

template <RawObject T, typename Allocator>
    requires(!std::same_as<T, bool>)  // a std::vector<bool> has no bytes of its own
struct Serializer<SerializerType::none, std::vector<T, Allocator>>
    : ContiguousSerializer<std::vector<T, Allocator>> {};

}  // namespace pmemcpy
