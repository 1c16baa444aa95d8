#include "catalog/creation.hpp"

#include "catalog/format.hpp"
#include "heap/fields.hpp"

#include <cstring>
#include <string_view>

namespace pmemcpy::catalog {

namespace {

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

std::string_view as_text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

CreatedField created_field(std::uint64_t created_ns) {
    const heap::FieldHeader header{entry_created, sizeof created_ns};
    CreatedField field;
    std::memcpy(field.data(), &header, sizeof header);
    std::memcpy(field.data() + sizeof header, &created_ns, sizeof created_ns);
    return field;
}

std::vector<std::byte> creator_field(const Origin& origin) {
    constexpr std::size_t most = 255;
    const std::string_view host = std::string_view(origin.host).substr(0, most);
    const std::string_view program = std::string_view(origin.program).substr(0, most);
    const Creator creator{origin.user, origin.ranks, static_cast<std::uint8_t>(host.size()),
                          static_cast<std::uint8_t>(program.size()), 0};
    std::vector<std::byte> value;
    for (const auto part :
         {bytes_of(creator), std::as_bytes(std::span(host)), std::as_bytes(std::span(program))})
        value.insert(value.end(), part.begin(), part.end());
    std::vector<std::byte> field;
    heap::append_field(field, entry_creator, value);
    return field;
}

std::optional<Origin> read_origin(std::span<const std::byte> entry) {
    const auto created = heap::field_of(entry, entry_created);
    const auto told = heap::field_of(entry, entry_creator);
    Creator creator{};
    Origin origin;
    if (created.size() != sizeof origin.created_ns || told.size() < sizeof creator) return {};
    std::memcpy(&origin.created_ns, created.data(), sizeof origin.created_ns);
    std::memcpy(&creator, told.data(), sizeof creator);
    const std::string_view names = as_text(told.subspan(sizeof creator));
    if (names.size() < std::size_t{creator.host_bytes} + creator.program_bytes) return {};
    origin.user = creator.user;
    origin.ranks = creator.ranks;
    origin.host = names.substr(0, creator.host_bytes);
    origin.program = names.substr(creator.host_bytes, creator.program_bytes);
    return origin;
}

}  // namespace pmemcpy::catalog
