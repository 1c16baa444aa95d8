#include "cli/pool/place.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <pmemcpy/error.hpp>
#include <system_error>

namespace pmemcpy::cli {

namespace {

bool is_there(const std::string& path) {
    std::error_code
        ignored;  // what cannot be looked at is opened later, and then there is an error with its reason
    return std::filesystem::exists(path, ignored);
}

}  // namespace

Place parse_place(const std::string& text) {
    if (is_there(text)) return {text, ""};
    for (std::size_t colon = text.rfind(':'); colon != std::string::npos && colon > 0;
         colon = text.rfind(':', colon - 1)) {
        const std::string pool = text.substr(0, colon);
        if (is_there(pool)) return {pool, text.substr(colon + 1)};
    }
    const std::size_t colon = text.rfind(':');
    const bool has_id = colon != std::string::npos && colon > 0;
    throw Error(Code::not_found,
                fmt::format("there is no pool at '{}'{}; write POOL or POOL:ID", text,
                            has_id ? fmt::format(", and none at '{}'", text.substr(0, colon)) : ""));
}

}  // namespace pmemcpy::cli
