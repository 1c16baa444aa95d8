#include "cli/pool/place.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <pmemcpy/error.hpp>
#include <pmemcpy/namespaces.hpp>
#include <system_error>

namespace pmemcpy::cli {

namespace {

bool is_there(const std::string& path) {
    std::error_code
        ignored;  // what cannot be looked at is opened later, and then there is an error with its reason
    return std::filesystem::exists(path, ignored);
}

/// As no name of a namespace is written.
std::string plain_path(const std::string& path) {
    const bool is_reference = path.find(':') != std::string::npos && path.find('/') == std::string::npos;
    return is_reference ? "./" + path : path;
}

/// The path of the shared pool, if `name` is that of a namespace.
std::optional<std::string> shared_pool_of(const std::string& name) {
    try {
        const std::string reference = name + ":";
        const std::string path = resolve_pool(reference);
        if (path != reference) return path;
    } catch (const Error& error) {
        if (error.kind() != Code::not_found && error.kind() != Code::invalid_argument) throw;
    }
    return std::nullopt;
}

/// The path of the pool `pool` beside the shared one, if there is one.
std::optional<std::string> pool_beside(const std::string& name, const std::string& pool) {
    try {
        const std::string path = resolve_pool(name + ":" + pool);
        if (is_there(path)) return path;
    } catch (const Error& error) {
        if (error.kind() != Code::invalid_argument) throw;  // an id that no pool can be called
    }
    return std::nullopt;
}

std::optional<Place> in_namespace(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return std::nullopt;
    const std::string name = text.substr(0, colon);
    const auto shared = shared_pool_of(name);
    if (!shared) return std::nullopt;
    const std::string rest = text.substr(colon + 1);
    const std::size_t next = std::min(rest.find(':'), rest.size());
    const std::string id = rest.substr(std::min(next + 1, rest.size()));
    if (next == 0 && !rest.empty()) return Place{*shared, id};
    if (next > 0 && rest.find('/') >= next) {
        if (const auto pool = pool_beside(name, rest.substr(0, next))) return Place{*pool, id};
    }
    return Place{*shared, rest};
}

}  // namespace

Place parse_place(const std::string& text) {
    if (const auto place = in_namespace(text)) return *place;
    if (is_there(text)) return {plain_path(text), ""};
    for (std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0;
         colon = text.rfind(':', colon - 1)) {
        const std::string pool = text.substr(0, colon);
        if (is_there(pool)) return {plain_path(pool), text.substr(colon + 1)};
    }
    const std::size_t colon = text.rfind(':');
    const bool has_id = colon != std::string::npos && colon > 0;
    throw Error(Code::not_found,
                fmt::format("there is no pool at '{}'{}; write POOL or POOL:ID", text,
                            has_id ? fmt::format(", and none at '{}'", text.substr(0, colon)) : ""));
}

std::string name_everywhere(const Namespace& space, const NamespacePool& pool, const std::string& id) {
    if (pool.name != "shared") return space.name + ":" + pool.name + ":" + id;
    const bool is_mistakable = id.find(':') != std::string::npos ||
                               std::any_of(space.pools.begin(), space.pools.end(),
                                           [&](const NamespacePool& its) { return its.name == id; });
    return space.name + (is_mistakable ? "::" : ":") + id;
}

}  // namespace pmemcpy::cli
