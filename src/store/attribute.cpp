// Attributes: entries that hang on their owner's entry, each with a value of its own, so that each change is one CAS.

#include "catalog/retry.hpp"
#include "store/store.hpp"

#include <algorithm>

namespace pmemcpy::store {

using catalog::Retry;

namespace {

constexpr std::size_t most_attributes = 4096;
constexpr std::size_t longest_name = 4096;

void check_name(std::string_view name) {
    if (name.empty() || name.size() > longest_name || name.find('\0') != std::string_view::npos) {
        throw Error(Code::invalid_argument,
                    "an attribute's name must have 1 to 4096 bytes and no NUL, not '" +
                        std::string(name.substr(0, 80)) + "'");
    }
}

bool is_reserved(std::string_view name) { return name.starts_with(reserved_prefix); }

void refuse_reserved(std::string_view name) {
    if (!is_reserved(name)) return;
    throw Error(Code::invalid_argument,
                "an attribute's name must not begin with '" + std::string(reserved_prefix) + "', as '" +
                    std::string(name.substr(0, 80)) + "' does: these are the library's own");
}

}  // namespace

// Attributes of "/" are the pool's own; its group is made when the first is set.
Link Store::make_owner_of_attributes(std::string_view id) {
    return with_space([&] {
        if (id == "/" && !defined(id)) catalog_.make_group("/");
        return owner_of_attributes(id);
    });
}

Link Store::owner_of_attributes(std::string_view id) const {
    const auto named = defined(id);
    if (!named)
        throw Error(Code::not_found,
                    "there is no '" + std::string(id) + "' in " + pool_.path() + " to have attributes");
    return named->entry;
}

void Store::set_attribute(std::string_view id, std::string_view name, const Type& type,
                          SerializerType serializer, const Encoder& encoder, bool must_be_new) {
    check_writable();
    check_name(name);
    refuse_reserved(name);
    put_attribute(id, name, type, serializer, encoder, must_be_new);
}

void Store::set_attributes(std::string_view id, std::span<const Attribute> attributes) {
    check_writable();
    for (const Attribute& attribute : attributes) {
        check_name(attribute.name());
        refuse_reserved(attribute.name());
    }
    if (attributes.empty()) return;
    const Link owner = make_owner_of_attributes(id);
    // Counted once: each count is a walk along all that are there.
    const std::uint64_t there = catalog_.count_attributes(owner);
    const bool may_be_too_many = there + attributes.size() > most_attributes;
    pool::Feed::UnderWay under_way(feed());
    under_way.of(owner.offset());
    std::size_t placed = 0;
    const auto announce_them = [&] {
        if (placed > 0) announce(owner);
    };
    try {
        for (const Attribute& attribute : attributes) {
            if (may_be_too_many) check_room_for_attribute(id, owner, attribute.name());
            place_attribute(owner, attribute.name(), attribute.type(), attribute.serializer(),
                            BytesEncoder(attribute.bytes()));
            ++placed;
        }
    } catch (...) {
        announce_them();
        throw;
    }
    announce_them();
    heap_.reclaim();
}

void Store::put_attribute(std::string_view id, std::string_view name, const Type& type,
                          SerializerType serializer, const Encoder& encoder, bool must_be_new) {
    const Link owner = make_owner_of_attributes(id);
    check_room_for_attribute(id, owner, name);
    pool::Feed::UnderWay under_way(feed());
    under_way.of(owner.offset());
    place_attribute(owner, name, type, serializer, encoder, must_be_new);
    announce(owner);
    heap_.reclaim();
}

// Others may be setting some, too: they may come to be a few more.
void Store::check_room_for_attribute(std::string_view id, Link owner, std::string_view name) const {
    const std::uint64_t count = catalog_.count_attributes(owner);
    if (count < most_attributes || catalog_.find_attribute(owner, name)) return;
    throw Error(Code::out_of_range,
                "'" + std::string(id) + "' has " + std::to_string(count) + " attributes, which is the most");
}

// Nobody has been told of it yet.
void Store::place_attribute(Link owner, std::string_view name, const Type& type, SerializerType serializer,
                            const Encoder& encoder, bool must_be_new) {
    with_space([&] {
        put_value([&] { return catalog_.create_attribute(owner, name); }, name, type, serializer, encoder,
                  must_be_new);
    });
}

void Store::get_attribute(std::string_view id, std::string_view name, const PMEM::Decode& decode) const {
    check_readable();
    for (Retry retry(name);; retry.again()) {
        if (id == "/" && !defined(id)) break;
        const auto attribute = catalog_.find_attribute(owner_of_attributes(id), name);
        const auto seen = attribute ? read_value(*attribute) : std::nullopt;
        if (!seen) break;
        if (decode_value(name, *seen, decode)) return;
        retry.doubt(pool_, seen->link);
    }
    throw Error(Code::not_found, "'" + std::string(id) + "' has no attribute '" + std::string(name) + "'");
}

// An attribute's entry stays the same when it is set anew; one that is removed meanwhile is left out.
void Store::for_each_attribute(std::string_view id, const PMEM::VisitAttribute& visit) const {
    check_readable();
    if (id == "/" && !defined(id)) return;
    std::vector<std::pair<std::string, Link>> all;
    catalog_.for_each_attribute(owner_of_attributes(id), [&](const std::string& name, Link attribute) {
        if (!is_reserved(name)) all.emplace_back(name, attribute);
    });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [name, attribute] : all) {
        for (Retry retry(name);; retry.again()) {
            const auto seen = read_value(attribute);
            if (!seen) break;
            const bool is_told = decode_value(name, *seen,
                                              [&, &name = name](const Type& type, SerializerType serializer,
                                                                std::span<const std::byte> bytes) {
                                                  visit(name, type, serializer, bytes);
                                              });
            if (is_told) break;
            retry.doubt(pool_, seen->link);
        }
    }
}

std::vector<std::string> Store::attributes(std::string_view id) const {
    check_readable();
    std::vector<std::string> names;
    if (id == "/" && !defined(id)) return names;
    catalog_.for_each_attribute(owner_of_attributes(id), [&](const std::string& name, Link attribute) {
        if (!is_reserved(name) && read_value(attribute)) names.push_back(name);
    });
    std::sort(names.begin(), names.end());
    return names;
}

Info Store::attribute_info(std::string_view id, std::string_view name) const {
    check_readable();
    const auto attribute = catalog_.find_attribute(owner_of_attributes(id), name);
    const auto seen = attribute ? read_value(*attribute) : std::nullopt;
    if (!seen)
        throw Error(Code::not_found,
                    "'" + std::string(id) + "' has no attribute '" + std::string(name) + "'");
    return describe_value(name, *seen);
}

void Store::remove_attribute(std::string_view id, std::string_view name) {
    check_writable();
    refuse_reserved(name);
    const Link owner = owner_of_attributes(id);
    const auto attribute = catalog_.find_attribute(owner, name);
    if (!attribute || !catalog_.definition(*attribute)) {
        throw Error(Code::not_found,
                    "'" + std::string(id) + "' has no attribute '" + std::string(name) + "'");
    }
    pool::Feed::UnderWay under_way(feed());
    under_way.of(owner.offset());
    catalog_.erase_attribute(*attribute, name);
    announce(owner);
}

}  // namespace pmemcpy::store
