#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/scope.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

/// The names of the MOSIQS paper (its Listing 1) for what a pool has anyway: a group is a group, a PMO is a
/// variable, an attribute an attribute. All other calls, queries and commands see the same objects.
/// Everything here is in namespace `pmemcpy::mosiqs`.
///
/// Source: Khan et al., Persistent Memory Object Storage and Indexing for Scientific Computing (MOSIQS),
///     section III-D and Listing 1.
namespace pmemcpy::mosiqs {

/// The visibility of an object: all users who may read the pool, or its owner alone. See <pmemcpy/scope.hpp>.
enum scope_t { SHARE, PRIVATE };

/// The kind of a PMO's elements. `Int` covers integers, truth values and enumerations, `Float` also complex
/// numbers, `Struct` also serialized objects. Lists and arrays have the kind of their elements.
enum type_t { String, Int, Float, Struct };

/// A tag. Its value is text or a number: "1401" is text, and 1401 can be compared with numbers.
struct mosiqs_attribute_t {
    std::string key;
    std::variant<std::string, std::int64_t, std::uint64_t, double> value;
};

/// A group in a pool. The pool must stay open as long as this is used.
struct group_id_t {
    PMEM* pool = nullptr;
    std::string id;  ///< "/" is the outermost group
};

/// A PMO in a pool. The pool must stay open as long as this is used. The PMO exists once pmo_persist() has
/// stored it.
struct pmo_id_t {
    PMEM* pool = nullptr;
    std::string id;
};

namespace detail {

inline std::string inside(const group_id_t& group, std::string_view name) {
    if (group.pool == nullptr)
        throw Error(Code::invalid_argument, "no group: it comes from root() or create_group()");
    return group.id == "/" ? std::string(name) : group.id + '/' + std::string(name);
}

inline mosiqs_attribute_t parsed(std::string_view text) {
    const std::size_t at = text.find('=');
    if (at == std::string_view::npos || at == 0) {
        throw Error(Code::invalid_argument,
                    "annotate wants key=value, and was given \"" + std::string(text) + '"');
    }
    return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

inline void store_all(PMEM& pool, const std::string& id, const std::optional<scope_t>& scope,
                      const std::vector<mosiqs_attribute_t>& attributes) {
    std::vector<Attribute> all;
    for (const auto& [key, value] : attributes)
        std::visit([&, &name = key](const auto& plain) { all.emplace_back(name, plain); }, value);
    pool.set_attributes(id, all);
    if (scope) set_scope(pool, id, *scope == SHARE ? Scope::shared : Scope::own);
}

inline type_t type_of_elements(const Type& type) {
    switch (type.kind()) {
        case Kind::sequence:
        case Kind::array:
            return type_of_elements(type.element());
        case Kind::string:
        case Kind::fixed_string:
            return String;
        case Kind::structure:
        case Kind::opaque:
            return Struct;
        case Kind::float16:
        case Kind::bfloat16:
        case Kind::float32:
        case Kind::float64:
        case Kind::complex64:
        case Kind::complex128:
            return Float;
        default:
            return Int;
    }
}

}  // namespace detail

/// Collects the properties of a group for group_init().
struct group_info_t {
    void set_groupid(group_id_t group) { group_ = std::move(group); }
    void set_scope(scope_t scope) { scope_ = scope; }
    void set_attr(const mosiqs_attribute_t* attributes, std::size_t count) {
        attributes_.insert(attributes_.end(), attributes, attributes + count);
    }
    /// The attribute of `text`, "key=value"; the value is text. Errors: invalid_argument.
    void annotate(std::string_view text) { attributes_.push_back(detail::parsed(text)); }
    /// Sets the number of members in a segment() of the group. Errors: invalid_argument (0).
    void set_split_value(std::uint64_t members) {
        if (members == 0) throw Error(Code::invalid_argument, "a segment has at least one member");
        split_value_ = members;
    }

private:
    friend void group_init(const group_info_t& info);
    group_id_t group_;
    std::optional<scope_t> scope_;
    std::vector<mosiqs_attribute_t> attributes_;
    std::uint64_t split_value_ = 0;
};

/// Collects the properties and the value of a PMO for pmo_persist().
struct pmo_info_t {
    void set_objectid(pmo_id_t pmo) { pmo_ = std::move(pmo); }
    void set_scope(scope_t scope) { scope_ = scope; }
    /// Declares the kind of the value, which pmo_persist() checks. Without it the value's own type counts.
    void set_type(type_t type) { type_ = type; }
    /// Copies the value: a number, a text, a struct declared by PMEMCPY_STRUCT, a vector, or an object of a
    /// serializer.
    template <class T>
        requires(!std::is_pointer_v<T>)
    void set_pmoval(const T& value) {
        value_type_ = pmemcpy::detail::value_type<T>();
        store_ = [value](PMEM& pool, const std::string& id) { pool.store(id, value); };
    }
    void set_pmoval(const char* text) { set_pmoval(std::string(text)); }
    /// Refers to an array without copying it: `data` must stay until pmo_persist() has stored it.
    /// Shape: `data` holds the elements densely, the last dimension fastest.
    template <class T>
    void set_pmoval(const T* data, const Dimensions& dims) {
        value_type_ = pmemcpy::type_of<T>();
        store_ = [data, dims](PMEM& pool, const std::string& id) {
            pool.alloc<T>(id, dims);
            pool.store(id, data, Box::whole(dims));
        };
    }
    /// The attribute of `text`, "key=value"; the value is text. Errors: invalid_argument.
    void annotate(std::string_view text) { attributes_.push_back(detail::parsed(text)); }
    void set_attr(const mosiqs_attribute_t* attributes, std::size_t count) {
        attributes_.insert(attributes_.end(), attributes, attributes + count);
    }

private:
    friend Oid pmo_persist(const pmo_info_t& info);
    pmo_id_t pmo_;
    std::optional<scope_t> scope_;
    std::optional<type_t> type_;
    Type value_type_;
    std::function<void(PMEM&, const std::string&)> store_;
    std::vector<mosiqs_attribute_t> attributes_;
};

/// The outermost group of a pool; the paper's listing calls it NULL.
/// Source: MOSIQS, section III-E: "Any object inside the PM pool is reachable via Root object pointer."
inline group_id_t root(PMEM& pool) { return {&pool, "/"}; }

/// Makes an empty group, or finds it. Errors: already_exists (a variable), invalid_argument (name, no parent), no_space.
inline group_id_t create_group(std::string_view name, const group_id_t& parent) {
    group_id_t made{parent.pool, detail::inside(parent, name)};
    made.pool->make_group(made.id);
    return made;
}

/// Sets the group's attributes. Other attributes of the group stay.
/// Crash: each attribute is whole or absent; all at once in a step of the pool, PMEM::begin().
/// Errors: not_found, invalid_argument (no group), no_space.
inline void group_init(const group_info_t& info) {
    if (info.group_.pool == nullptr)
        throw Error(Code::invalid_argument, "group_init wants set_groupid() first");
    PMEM& pool = *info.group_.pool;
    detail::store_all(pool, info.group_.id, info.scope_, info.attributes_);
    if (info.split_value_ != 0) pool.set_attribute(info.group_.id, "split_value", info.split_value_);
}

/// Names a PMO in a group. Nothing is stored yet. Errors: invalid_argument (no group).
inline pmo_id_t create_pmo(std::string_view name, const group_id_t& group) {
    return {group.pool, detail::inside(group, name)};
}

/// Stores the value and its attributes. The value replaces an older one.
/// Crash: the value and each attribute are whole or absent, the value first; all at once in a step of the
///     pool, PMEM::begin(). When the call returns they survive all that the medium can survive.
/// Errors: type_mismatch (the value is not of set_type()), invalid_argument (no id or no value, name),
///     already_exists (a group, or an array of another type or shape), no_space.
/// Cost: one sync for each call on `page` media. A program that stores many objects there should use the
///     pool's own calls and sync once.
inline Oid pmo_persist(const pmo_info_t& info) {
    if (info.pmo_.pool == nullptr)
        throw Error(Code::invalid_argument, "pmo_persist wants set_objectid() first");
    if (!info.store_)
        throw Error(Code::invalid_argument, info.pmo_.id + " has no value: set_pmoval() comes first");
    if (info.type_ && *info.type_ != detail::type_of_elements(info.value_type_)) {
        throw Error(Code::type_mismatch, info.pmo_.id + ": the value is of the type " +
                                             info.value_type_.name() + ", and set_type() announced another");
    }
    PMEM& pool = *info.pmo_.pool;
    const bool is_private = info.scope_ == PRIVATE && !pool.exists(info.pmo_.id);  // from the beginning
    info.store_(is_private ? private_side(pool) : pool, info.pmo_.id);
    detail::store_all(pool, info.pmo_.id, info.scope_, info.attributes_);
    pool.sync();
    return pool.oid(info.pmo_.id);
}

/// The ids of one segment of a group's members, sorted. Segment k holds members n*k to n*(k+1)-1 by name,
/// where n is the group's split value; without one, segment 0 holds all. Segments past the last are empty.
/// Groups are no members.
///
/// In the journal version of the paper groups split and merge by set_split_value(). Here only n is stored, as the attribute
/// `split_value`, and each call cuts the segment anew. A stored list of members would change with each
/// member, in two places at once, and go wrong when several processes add members. So a new member shifts the
/// segments behind it by one.
/// Errors: not_found (the group), invalid_argument.
/// Cost: as the query `group = "..."`, of which it skips what comes before the segment.
inline std::vector<std::string> segment(const group_id_t& group, std::uint64_t number) {
    detail::inside(group, "");
    std::uint64_t members = 0;
    for (const std::string& name : group.pool->attributes(group.id)) {
        if (name == "split_value") members = group.pool->get_attribute<std::uint64_t>(group.id, name);
    }
    if (members == 0 && number != 0) return {};
    std::vector<std::string> ids;
    std::uint64_t place = 0;
    for (const Found& found : query(*group.pool, Key("@group") == group.id && Key("@kind") != "group")) {
        const std::uint64_t its_segment = members == 0 ? 0 : place++ / members;
        if (its_segment > number) break;
        if (its_segment == number) ids.push_back(found.id);
    }
    return ids;
}

}  // namespace pmemcpy::mosiqs
