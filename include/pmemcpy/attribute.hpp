#pragma once

#include <cstddef>
#include <pmemcpy/encoder.hpp>
#include <pmemcpy/serializer.hpp>
#include <pmemcpy/type_of.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pmemcpy {

/// A name and a value for PMEM::set_attributes(). Takes any object that set_attribute() takes, and holds a
/// copy of the value as bytes.
class Attribute {
public:
    template <class T>
        requires(!std::is_pointer_v<T>)
    Attribute(std::string_view name, const T& value)
        : Attribute(name, detail::value_type<T>(),
                    choose_serializer<T>(SerializerType::Default, SerializerType::bp4)) {
        const auto encoder = make_encoder(serializer_, value);
        bytes_.resize(encoder->size_bytes());
        encoder->encode(bytes_);
    }
    Attribute(std::string_view name, const char* text) : Attribute(name, std::string(text)) {}
    /// An attribute of a type known only at run time, from bytes that are already encoded.
    Attribute(std::string_view name, Type type, SerializerType serializer, std::span<const std::byte> bytes)
        : Attribute(name, std::move(type), serializer) {
        bytes_.assign(bytes.begin(), bytes.end());
    }

    const std::string& name() const noexcept { return name_; }
    const Type& type() const noexcept { return type_; }
    SerializerType serializer() const noexcept { return serializer_; }
    std::span<const std::byte> bytes() const noexcept { return bytes_; }

private:
    Attribute(std::string_view name, Type type, SerializerType serializer)
        : name_(name), type_(std::move(type)), serializer_(serializer) {}

    std::string name_;
    Type type_;
    SerializerType serializer_;
    std::vector<std::byte> bytes_;
};

}  // namespace pmemcpy
