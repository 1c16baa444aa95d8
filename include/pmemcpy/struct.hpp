#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

/// Declares the members of a struct, so that files describe it: PMEMCPY_STRUCT(Particle, x, y, id), at global scope.
/// Members may be declared structs, fixed arrays, std::string and std::vector; at most 64.
/// A struct without members of variable length must be trivially copyable, and is stored as its bytes.
///
/// Example: struct Particle { double x, y; int id[3]; };
///          PMEMCPY_STRUCT(Particle, x, y, id);
#define PMEMCPY_STRUCT(Struct, ...)                                                                        \
    static_assert(std::is_standard_layout_v<Struct>, #Struct " must have standard layout to be declared"); \
    template <>                                                                                            \
    struct pmemcpy::StructMembers<Struct> {                                                                \
        static constexpr auto list() {                                                                     \
            return std::make_tuple(PMEMCPY_EXPAND(PMEMCPY_MEMBERS(Struct, __VA_ARGS__)));                  \
        }                                                                                                  \
    }

namespace pmemcpy {

/// A declared member: its name, pointer and offset.
template <class Struct, class T>
struct Member {
    using type = T;
    const char* name;
    T Struct::*pointer;
    std::size_t offset;
};

template <class Struct, class T>
constexpr Member<Struct, T> make_member(const char* name, T Struct::*pointer, std::size_t offset) {
    return {name, pointer, offset};
}

/// Lists the members of a struct. PMEMCPY_STRUCT specialises it with `static constexpr auto list()`, a tuple
/// of Member.
template <class Struct>
struct StructMembers {};

/// A struct whose members PMEMCPY_STRUCT declared.
template <class T>
concept DeclaredStruct = requires { StructMembers<T>::list(); };

/// Calls visit(name, member) for each declared member of `object`, in the order of declaration.
template <class Struct, class Visit>
    requires DeclaredStruct<std::remove_const_t<Struct>>
void for_each_member(Struct& object, Visit&& visit) {
    std::apply([&](const auto&... member) { (visit(member.name, object.*member.pointer), ...); },
               StructMembers<std::remove_const_t<Struct>>::list());
}

}  // namespace pmemcpy

// The preprocessor has no loops: each EXPAND rescans its argument, and each rescan yields one more member.
#define PMEMCPY_EXPAND(...) PMEMCPY_EXPAND3(PMEMCPY_EXPAND3(PMEMCPY_EXPAND3(PMEMCPY_EXPAND3(__VA_ARGS__))))
#define PMEMCPY_EXPAND3(...) PMEMCPY_EXPAND2(PMEMCPY_EXPAND2(PMEMCPY_EXPAND2(PMEMCPY_EXPAND2(__VA_ARGS__))))
#define PMEMCPY_EXPAND2(...) PMEMCPY_EXPAND1(PMEMCPY_EXPAND1(PMEMCPY_EXPAND1(PMEMCPY_EXPAND1(__VA_ARGS__))))
#define PMEMCPY_EXPAND1(...) __VA_ARGS__
#define PMEMCPY_PARENTHESES ()
#define PMEMCPY_MEMBERS(Struct, member, ...)                                   \
    ::pmemcpy::make_member(#member, &Struct::member, offsetof(Struct, member)) \
        __VA_OPT__(, PMEMCPY_MEMBERS_AGAIN PMEMCPY_PARENTHESES(Struct, __VA_ARGS__))
#define PMEMCPY_MEMBERS_AGAIN() PMEMCPY_MEMBERS
