#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <pmemcpy/encoder.hpp>
#include <shared_mutex>
#include <typeindex>
#include <utility>

namespace pmemcpy {

/// The serializers that this process has added. Any number of threads may use it at once.
class SerializerRegistry {
public:
    /// The functions of one serializer for one type; `value` points to an object of that type.
    struct Functions {
        std::unique_ptr<Encoder> (*encoder)(const void* value);
        void (*decode)(std::span<const std::byte> bytes, void* value);
    };
    using Types = std::map<std::type_index, Functions>;

    /// Adds a serializer. Errors: invalid_argument (number below first_custom, empty name), already_exists
    /// (number or name is taken).
    void add(SerializerType number, std::string name, Types types) {
        const int asked = static_cast<int>(number);
        if (number < SerializerType::first_custom || name.empty())
            throw Error(Code::invalid_argument,
                        "register_serializer: number " + std::to_string(asked) + " with name '" + name +
                            "'; take a number from 64 to 255 and a name that is not empty");
        const std::unique_lock lock(mutex_);
        for (const auto& [known, entry] : entries_) {
            if (known == number || entry.name == name)
                throw Error(Code::already_exists, "register_serializer: number " + std::to_string(asked) +
                                                      " as '" + name + "', but number " +
                                                      std::to_string(static_cast<int>(known)) +
                                                      " is registered as '" + entry.name + "'");
        }
        entries_.emplace(number, Entry{std::move(name), std::move(types)});
    }

    /// The functions for a number and a type. Errors: unsupported, naming the number, or the serializer and
    /// the type it lacks.
    Functions find(SerializerType number, std::type_index type, const std::string& type_spelling) const {
        const std::shared_lock lock(mutex_);
        const auto entry = entries_.find(number);
        if (entry == entries_.end())
            throw Error(Code::unsupported,
                        "no serializer with number " + std::to_string(static_cast<int>(number)) +
                            " is registered in this process; call register_serializer() first");
        const auto functions = entry->second.types.find(type);
        if (functions == entry->second.types.end())
            throw Error(Code::unsupported, "serializer '" + entry->second.name + "' (number " +
                                               std::to_string(static_cast<int>(number)) +
                                               ") was not registered for objects of type " + type_spelling);
        return functions->second;
    }

    /// True when a serializer of this number was registered for this type.
    bool handles(SerializerType number, std::type_index type) const {
        const std::shared_lock lock(mutex_);
        const auto entry = entries_.find(number);
        return entry != entries_.end() && entry->second.types.contains(type);
    }

    /// The registered name; "" for a number that is not registered.
    std::string name(SerializerType number) const {
        const std::shared_lock lock(mutex_);
        const auto entry = entries_.find(number);
        return entry == entries_.end() ? std::string() : entry->second.name;
    }

    /// The number registered under this name, or Default if there is none.
    SerializerType number(std::string_view name) const {
        const std::shared_lock lock(mutex_);
        for (const auto& [known, entry] : entries_)
            if (entry.name == name) return known;
        return SerializerType::Default;
    }

private:
    struct Entry {
        std::string name;
        Types types;
    };

    mutable std::shared_mutex mutex_;
    std::map<SerializerType, Entry> entries_;
};

/// The registry of this process: a number in a pool means one serializer in all threads.
inline SerializerRegistry& serializer_registry() {
    static SerializerRegistry registry;
    return registry;
}

/// Adds a serializer for the named types. `Method` has, for each of them, the two functions of Serializer<>:
///     static <an Encoder> encoder(const T& value);
///     static void decode(std::span<const std::byte> bytes, T& value);
/// Sharing: the pool records the number; every program that loads such objects must register the same one.
/// Errors: invalid_argument, already_exists
/// Example: pmemcpy::register_serializer<Yaml, Particle, Mesh>(pmemcpy::SerializerType{64}, "yaml");
template <typename Method, typename... Ts>
void register_serializer(SerializerType number, std::string name) {
    static_assert(sizeof...(Ts) > 0, "name the types that this serializer handles");
    SerializerRegistry::Types types;
    (types.emplace(typeid(Ts), SerializerRegistry::Functions{
                                   [](const void* value) -> std::unique_ptr<Encoder> {
                                       using Made = decltype(Method::encoder(*static_cast<const Ts*>(value)));
                                       return std::make_unique<Made>(
                                           Method::encoder(*static_cast<const Ts*>(value)));
                                   },
                                   [](std::span<const std::byte> bytes, void* value) {
                                       Method::decode(bytes, *static_cast<Ts*>(value));
                                   }}),
     ...);
    serializer_registry().add(number, std::move(name), std::move(types));
}

}  // namespace pmemcpy
