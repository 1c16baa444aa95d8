#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/json.hpp>
#include <vector>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/pool/open.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::json;

struct Arguments {
    std::string pool;
    std::string target;
    std::optional<std::string> value;
    bool is_text = false;
    bool removes = false;
};

struct Target {
    std::string id;  // "/" for the pool
    std::string attribute;
};

/// Ids and names may have dots in them: of the ways to part it that with the longest id that is there.
Target target_in(const PMEM& pmem, const std::string& text) {
    for (std::size_t dot = text.rfind('.'); dot != std::string::npos;
         dot = dot == 0 ? std::string::npos : text.rfind('.', dot - 1)) {
        const std::string id = text.substr(0, dot);
        const bool is_pool = id.empty() || id == "/";
        if (dot + 1 < text.size() && (is_pool || pmem.exists(id)))
            return {is_pool ? "/" : id, text.substr(dot + 1)};
    }
    throw Error(
        Code::not_found,
        fmt::format("'{}' names no attribute of anything that is there: write ID.ATTRIBUTE, or .ATTRIBUTE "
                    "for the pool's own; `pmemcpy ls -g` lists what is there",
                    text));
}

/// A list of numbers, as other programs store it; nothing for other lists.
template <class T>
std::optional<std::vector<T>> numbers_in(const Json& list, bool (*is_one)(const Json&)) {
    if (list.empty() || !std::all_of(list.begin(), list.end(), is_one)) return std::nullopt;
    return list.get<std::vector<T>>();
}

void set_json(PMEM& pmem, const Target& target, const Json& value) {
    const auto set = [&](const auto& typed) { pmem.set_attribute(target.id, target.attribute, typed); };
    if (value.is_boolean()) return set(value.get<bool>());
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)
        return set(value.get<std::uint64_t>());
    if (value.is_number_integer()) return set(value.get<std::int64_t>());
    if (value.is_number()) return set(value.get<double>());
    if (value.is_string()) return set(value.get<std::string>());
    if (value.is_array()) {
        const auto is_whole = [](const Json& one) {
            return one.is_number_integer() &&
                   !(one.is_number_unsigned() && one.get<std::uint64_t>() > INT64_MAX);
        };
        if (const auto whole = numbers_in<std::int64_t>(value, is_whole)) return set(*whole);
        if (const auto real = numbers_in<double>(value, [](const Json& one) { return one.is_number(); }))
            return set(*real);
    }
    set(value);
}

int set(const Arguments& arguments) {
    if (arguments.value.has_value() == arguments.removes)
        throw Error(Code::invalid_argument, "set POOL ID.ATTRIBUTE VALUE, or set POOL ID.ATTRIBUTE --remove");
    PMEM pmem = open_for_writing(arguments.pool);
    const Target target = target_in(pmem, arguments.target);
    if (arguments.removes) {
        pmem.remove_attribute(target.id, target.attribute);
    } else {
        const Json value = arguments.is_text ? Json(Json::value_t::discarded)
                                             : Json::parse(*arguments.value, nullptr, false);
        if (value.is_discarded())
            pmem.set_attribute(target.id, target.attribute, *arguments.value);
        else
            set_json(pmem, target, value);
    }
    pmem.munmap();  // on page media this syncs, which may fail
    return exit_ok;
}

}  // namespace

void add_set(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "set", "Set an attribute of a variable, of a group or of the pool")
        .needs("POOL", arguments->pool, "The pool")
        .needs("TARGET", arguments->target, "ID.ATTRIBUTE; .ATTRIBUTE is one of the pool's own")
        .takes("VALUE", arguments->value,
               "A number, true, false, a list or an object as JSON has it; else text")
        .takes("--text", arguments->is_text, "The value is text, whatever it looks like")
        .takes("--remove", arguments->removes, "Remove the attribute")
        .tells(
            "  pmemcpy set run.pmem ocean/TEMP.units K\n"
            "  pmemcpy set run.pmem .author li                       of the pool, and so of all in it: see "
            "find\n"
            "  pmemcpy set run.pmem ocean.valid_range '[-2, 40]'\n"
            "  pmemcpy set run.pmem ocean.run '{\"author\": \"li\", \"dt\": 0.5}'\n"
            "  pmemcpy set run.pmem run7.version 2 --text\n"
            "\n"
            "An attribute that is there gets the new value, of whatever type.\n")
        .runs([arguments](bool) { return set(*arguments); });
}

}  // namespace pmemcpy::cli
