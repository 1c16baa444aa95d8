#pragma once

#include <memory>
#include <pmemcpy/encoder.hpp>
#include <pmemcpy/serializer_registry.hpp>
#include <pmemcpy/type_of.hpp>
#include <string>
#include <string_view>

namespace pmemcpy {

/// The name of a serializer: "default", "bp4", "capnproto", "cereal", "none", or its registered name.
inline std::string name_of(SerializerType type) {
    switch (type) {
        case SerializerType::Default:
            return "default";
        case SerializerType::bp4:
            return "bp4";
        case SerializerType::capnproto:
            return "capnproto";
        case SerializerType::cereal:
            return "cereal";
        case SerializerType::none:
            return "none";
        default:
            break;
    }
    const std::string name = serializer_registry().name(type);
    return name.empty() ? "number " + std::to_string(static_cast<int>(type)) : name;
}

/// The serializer of that name. Errors: invalid_argument
inline SerializerType parse_serializer(std::string_view name) {
    for (const auto type : {SerializerType::Default, SerializerType::bp4, SerializerType::capnproto,
                            SerializerType::cereal, SerializerType::none})
        if (name_of(type) == name) return type;
    const SerializerType custom = serializer_registry().number(name);
    if (custom == SerializerType::Default)
        throw Error(Code::invalid_argument,
                    "no serializer is called '" + std::string(name) +
                        "'; there are default, bp4, capnproto, cereal, none and those that "
                        "register_serializer() has added");
    return custom;
}

template <typename T>
concept RawSerializable = serializable_by<SerializerType::none, T>;
template <typename T>
concept CerealSerializable = serializable_by<SerializerType::cereal, T>;
template <typename T>
concept CapnpSerializable = serializable_by<SerializerType::capnproto, T>;

/// The message for a serializer that cannot take a T in this file with these headers.
template <typename T>
[[noreturn]] void throw_not_serializable(SerializerType type) {
    std::string advice = "its bytes mean nothing elsewhere; use cereal";
    if (type == SerializerType::cereal)
        advice =
            "include <pmemcpy/cereal.hpp> first, give it a serialize() function, and include the "
            "<cereal/types/...>"
            " of its members";
    if (type == SerializerType::capnproto)
        advice = "include <pmemcpy/capnp.hpp> first and give it a capnp::MessageBuilder";
    throw Error(Code::unsupported, "serializer " + name_of(type) + " cannot take an object of type " +
                                       spelling_of<T>() + ": " + advice);
}

// In the functions below, `Cereal` and `Capnp` are never given. They stand in the signature so that two files
// of one program, of which only one includes <pmemcpy/cereal.hpp>, have two functions and the linker does not
// pick one.

/// Chooses the serializer of an object of type T: the requested one; for Default the pool's, or, where that
/// cannot take T, the first of bp4, cereal and capnproto that can. Errors: unsupported
template <typename T, bool Cereal = CerealSerializable<T>, bool Capnp = CapnpSerializable<T>>
SerializerType choose_serializer(SerializerType asked, SerializerType pool_default = SerializerType::bp4) {
    const auto can = [](SerializerType type) {
        switch (type) {
            case SerializerType::bp4:
            case SerializerType::none:
                return RawSerializable<T>;
            case SerializerType::cereal:
                return Cereal;
            case SerializerType::capnproto:
                return Capnp;
            default:
                return type >= SerializerType::first_custom && serializer_registry().handles(type, typeid(T));
        }
    };
    if (asked != SerializerType::Default) return asked;
    for (const auto type :
         {pool_default, SerializerType::bp4, SerializerType::cereal, SerializerType::capnproto})
        if (can(type)) return type;
    throw_not_serializable<T>(SerializerType::cereal);
}

namespace detail {

/// The type recorded for an object: its own if it has one, else opaque, with the C++ spelling as tag.
template <class T>
Type value_type() {
    if constexpr (Element<T> || (requires { TypeOf<T>::make(); } && RawSerializable<T>)) {
        return type_of<T>();
    } else {
        return Type::opaque(1, spelling_of<T>());
    }
}

}  // namespace detail

/// The encoder of `value` by the serializer `type`; it refers to `value`.
/// Errors: unsupported, when `type` cannot take a T or is not registered
template <typename T, bool Cereal = CerealSerializable<T>, bool Capnp = CapnpSerializable<T>>
std::unique_ptr<Encoder> make_encoder(SerializerType type, const T& value) {
    const auto by = [&value]<SerializerType Type>() -> std::unique_ptr<Encoder> {
        using Made = decltype(Serializer<Type, T>::encoder(value));
        return std::make_unique<Made>(Serializer<Type, T>::encoder(value));
    };
    if (type == SerializerType::Default) type = choose_serializer<T, Cereal, Capnp>(type);
    if constexpr (RawSerializable<T>)
        if (type == SerializerType::bp4 || type == SerializerType::none)
            return by.template operator()<SerializerType::none>();
    if constexpr (Cereal)
        if (type == SerializerType::cereal) return by.template operator()<SerializerType::cereal>();
    if constexpr (Capnp)
        if (type == SerializerType::capnproto) return by.template operator()<SerializerType::capnproto>();
    if (type <= SerializerType::none) throw_not_serializable<T>(type);
    return serializer_registry().find(type, typeid(T), spelling_of<T>()).encoder(&value);
}

/// Decodes `bytes`, written by the serializer `type`, into `value`.
/// Errors: corrupt; unsupported, as for make_encoder
template <typename T, bool Cereal = CerealSerializable<T>, bool Capnp = CapnpSerializable<T>>
void decode_object(SerializerType type, std::span<const std::byte> bytes, T& value) {
    if constexpr (RawSerializable<T>)
        if (type == SerializerType::bp4 || type == SerializerType::none)
            return Serializer<SerializerType::none, T>::decode(bytes, value);
    if constexpr (Cereal)
        if (type == SerializerType::cereal)
            return Serializer<SerializerType::cereal, T>::decode(bytes, value);
    if constexpr (Capnp)
        if (type == SerializerType::capnproto)
            return Serializer<SerializerType::capnproto, T>::decode(bytes, value);
    if (type <= SerializerType::none) throw_not_serializable<T>(type);
    serializer_registry().find(type, typeid(T), spelling_of<T>()).decode(bytes, &value);
}

}  // namespace pmemcpy
