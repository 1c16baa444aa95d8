#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <pmemcpy/float16.hpp>
#include <pmemcpy/struct.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

/// From C++ types to `Type`.
///
/// | C++ | Type |
/// |---|---|
/// | integers, also `char`, `wchar_t`, `char8_t`... | int or uint, by size and by this machine's signedness |
/// | `float`, `double`, `std::complex` of them | float32, float64, complex64, complex128 |
/// | `bool`, `std::byte` | bool, opaque(1) |
/// | enums | their underlying integer |
/// | `T[N]`, `std::array<T, N>` | array; of `char`: fixed_string(N) |
/// | declared by PMEMCPY_STRUCT | struct |
/// | `std::string`, `std::vector<T>` | string, sequence (not `Element`: they are encoded) |
/// | other trivially copyable types | opaque(sizeof), without a tag |
namespace pmemcpy {

/// A point in time: `ticks` units since 1970-01-01T00:00 UTC; INT64_MIN is "not a time", as in NumPy.
template <TimeUnit unit>
struct datetime64 {
    std::int64_t ticks = 0;
    friend auto operator<=>(const datetime64&, const datetime64&) noexcept = default;
};

namespace detail {

// Trivially copyable, and yet worthless in another process: what they mean lies elsewhere.
template <class T>
inline constexpr bool is_borrowed =
    std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;
template <class C, class Traits>
inline constexpr bool is_borrowed<std::basic_string_view<C, Traits>> = true;
template <class T, std::size_t n>
inline constexpr bool is_borrowed<std::span<T, n>> = true;
template <class T, std::size_t n>
inline constexpr bool is_borrowed<T[n]> = is_borrowed<T>;
template <class T, std::size_t n>
inline constexpr bool is_borrowed<std::array<T, n>> = is_borrowed<T>;

template <class T>
constexpr Kind integer_kind() {
    static_assert(sizeof(T) <= 8, "pMEMCPY stores integers of at most 64 bits");
    const auto log2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    const auto first = std::is_signed_v<T> ? Kind::int8 : Kind::uint8;
    return static_cast<Kind>(static_cast<int>(first) + log2);
}

}  // namespace detail

/// A type whose bytes may be stored unchanged and mean the same in another process.
template <class T>
concept Element = std::is_trivially_copyable_v<T> && !detail::is_borrowed<T>;

/// Specialise `static Type make()` to describe a type of your own; PMEMCPY_STRUCT does it for structs.
template <class T>
struct TypeOf {
    static Type make() {
        if constexpr (std::is_enum_v<T>) {
            return TypeOf<std::underlying_type_t<T>>::make();
        } else if constexpr (std::is_same_v<T, long double>) {
            return Type::opaque(sizeof(T), "long double");
        } else if constexpr (std::is_integral_v<T>) {
            return Type::scalar(detail::integer_kind<T>());
        } else if constexpr (DeclaredStruct<T>) {
            return declared();
        } else {
            static_assert(
                Element<T>,
                "pMEMCPY cannot store this type as it is: it is not trivially copyable, or it points "
                "elsewhere; use a serializer, or specialise pmemcpy::TypeOf");
            return Type::opaque(sizeof(T));
        }
    }

private:
    static Type declared() {
        std::vector<Field> fields;
        std::apply(
            [&](const auto&... member) {
                (fields.push_back({member.name, member.offset,
                                   TypeOf<typename std::decay_t<decltype(member)>::type>::make()}),
                 ...);
            },
            StructMembers<T>::list());
        return Type::structure(std::move(fields), sizeof(T));
    }
};

template <>
struct TypeOf<bool> {
    static Type make() { return Type::scalar(Kind::boolean); }
};
template <>
struct TypeOf<float> {
    static Type make() { return Type::scalar(Kind::float32); }
};
template <>
struct TypeOf<double> {
    static Type make() { return Type::scalar(Kind::float64); }
};
template <>
struct TypeOf<float16> {
    static Type make() { return Type::scalar(Kind::float16); }
};
template <>
struct TypeOf<bfloat16> {
    static Type make() { return Type::scalar(Kind::bfloat16); }
};
template <>
struct TypeOf<std::byte> {
    static Type make() { return Type::opaque(1); }
};
template <>
struct TypeOf<std::complex<float>> {
    static Type make() { return Type::scalar(Kind::complex64); }
};
template <>
struct TypeOf<std::complex<double>> {
    static Type make() { return Type::scalar(Kind::complex128); }
};
template <>
struct TypeOf<std::string> {
    static Type make() { return Type::string(); }
};
template <TimeUnit unit>
struct TypeOf<datetime64<unit>> {
    static Type make() { return Type::datetime64(unit); }
};
template <class T>
struct TypeOf<std::vector<T>> {
    static Type make() { return Type::sequence(TypeOf<T>::make()); }
};

template <class T, std::size_t n>
struct TypeOf<T[n]> {
    static Type make() {
        if constexpr (std::is_same_v<T, char>) {
            return Type::fixed_string(n);
        } else {
            return Type::array(TypeOf<T>::make(), {n});
        }
    }
};
template <class T, std::size_t n>
struct TypeOf<std::array<T, n>> : TypeOf<T[n]> {};

/// The `Type` of a C++ type, made once.
template <class T>
const Type& type_of() {
    static const Type type = TypeOf<std::remove_cv_t<T>>::make();
    return type;
}

}  // namespace pmemcpy
