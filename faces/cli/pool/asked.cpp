#include "cli/pool/asked.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>

#include "cli/call/alike.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/note.hpp"
#include "cli/terminal/printable.hpp"

namespace pmemcpy::cli {

Unheard::Unheard(const Query& query) {
    for (const Key& key : query.keys()) {
        if (key.means() == Key::Means::attribute) keys_.push_back(key);
    }
}

void Unheard::look_into(const PMEM& pmem) {
    std::erase_if(keys_, [&](const Key& key) { return !ids(pmem, Query(key.exists()).limit(1)).empty(); });
    if (keys_.empty()) return;
    const auto add = [&](const std::string& id) {
        try {
            for (std::string& name : pmem.attributes(id)) attributes_.insert(std::move(name));
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;  // erased just now
        }
    };
    add("/");
    for (const std::string& id : pmem.groups()) add(id);
    for (const std::string& id : pmem.ids()) add(id);
}

void Unheard::tell() const {
    for (const Key& key : keys_) {
        const std::string& root = key.parts().front();
        const std::string alike = attributes_.contains(root) ? "" : most_alike(root, attributes_);
        const std::string more = attributes_.contains(root)
                                     ? "; there is `" + printable(root) + "`, without that in it"
                                 : alike.empty() ? ""
                                                 : "; did you mean `" + printable(alike) + "`?";
        note("nothing here has an attribute `{}`{}", printable(key.text()), more);
    }
}

std::string shown(const Literal& value) {
    if (const auto* text = std::get_if<std::string>(&value.value())) return printable(*text);
    // Which no query can say.
    if (const auto* number = std::get_if<double>(&value.value());
        number != nullptr && !std::isfinite(*number))
        return fmt::format("{}", *number);
    return value.text();
}

std::string shown_under(const PMEM& pmem, const std::string& id, const Key& key) {
    std::string all;
    for (const Literal& value : values_under(pmem, id, key)) all += (all.empty() ? "" : " ") + shown(value);
    return all.empty() ? "-" : all;
}

}  // namespace pmemcpy::cli
