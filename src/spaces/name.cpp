#include "spaces/name.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <array>

namespace pmemcpy::spaces {
namespace {

// What `NAME:` would be taken for otherwise: words of the command, and the schemes of addresses.
constexpr std::array<std::string_view, 8> reserved_spaces = {"all",  "shared", "private", "file",
                                                             "http", "https",  "s3",      "ftp"};

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool has_legal_letters(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; });
}

void check(const char* what, const std::string& name) {
    const auto refuse = [&](const std::string& why) {
        throw Error(Code::invalid_argument, "'" + name + "' cannot be the name of a " + what + ": " + why);
    };
    if (name.empty()) refuse("it is empty");
    if (name.size() > longest_name) {
        refuse("it has " + std::to_string(name.size()) + " characters, and at most " +
               std::to_string(longest_name) + " are allowed");
    }
    if (!has_legal_letters(name)) refuse("only letters, digits, '_', '-' and '.' are allowed");
    if (name.front() == '.' || name.front() == '-')
        refuse(std::string("it begins with '") + name.front() + "'");
}

}  // namespace

bool is_name(std::string_view text) noexcept {
    return !text.empty() && text.size() <= longest_name && has_legal_letters(text) && text.front() != '.' &&
           text.front() != '-';
}

void check_namespace_name(const std::string& name) {
    check("namespace", name);
    if (std::find(reserved_spaces.begin(), reserved_spaces.end(), name) == reserved_spaces.end()) return;
    throw Error(Code::invalid_argument, "'" + name +
                                            "' cannot be the name of a namespace: it is reserved; take "
                                            "another, such as '" +
                                            name + "-1'");
}

void check_pool_name(const std::string& name) {
    check("pool in a namespace", name);
    if (name.ends_with(pool_suffix) || name.ends_with(".rt")) {
        throw Error(Code::invalid_argument,
                    "'" + name +
                        "' cannot be the name of a pool in a namespace: it ends as the files of pools do; "
                        "write NAME:x for the pool in x.pmem, or ./" +
                        name + " for a file here");
    }
    // A pool of each user, for what he does not share, is to lie beside the shared one.
    if (name == "private" || name.starts_with("private-")) {
        throw Error(Code::invalid_argument, "'" + name +
                                                "' cannot be the name of a pool in a namespace: it is "
                                                "reserved; take another");
    }
}

std::optional<Reference> parse_reference(const std::string& path) {
    const auto colon = path.find(':');
    if (colon == std::string::npos || path.find('/') != std::string::npos) return std::nullopt;
    Reference reference{path.substr(0, colon), path.substr(colon + 1)};
    if (!is_name(reference.space)) return std::nullopt;
    if (reference.pool.empty()) reference.pool = shared_pool;
    try {
        check_namespace_name(reference.space);
        check_pool_name(reference.pool);
    } catch (const Error& error) {
        throw Error(error.kind(), std::string(error.what()) + " (a file of this name is './" + path + "')");
    }
    return reference;
}

std::optional<std::string> pool_of_file(const std::string& file) {
    if (!file.ends_with(pool_suffix)) return std::nullopt;
    std::string name = file.substr(0, file.size() - pool_suffix.size());
    if (!is_name(name)) return std::nullopt;
    return name;
}

std::optional<std::string> pool_of_private_file(const std::string& file) {
    const std::size_t end = file.rfind(private_part);
    if (end == std::string::npos || end == 0 || file.ends_with(".rt") || file.ends_with(".feed")) return {};
    return file.substr(0, end);
}

}  // namespace pmemcpy::spaces
