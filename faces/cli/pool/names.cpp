#include "cli/pool/names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <pmemcpy/glob.hpp>
#include <unordered_set>

namespace pmemcpy::cli {

namespace {

using Ids = std::vector<std::string>;

bool is_glob_in(const PMEM& pmem, const std::string& word) {
    return Glob::is_glob(word) && !pmem.exists(word);
}

Ids with_prefix(const PMEM& pmem, std::string_view prefix, bool with_groups) {
    Ids ids = pmem.ids(prefix);
    if (!with_groups) return ids;
    const Ids groups = pmem.groups(prefix);
    ids.insert(ids.end(), groups.begin(), groups.end());
    std::sort(ids.begin(), ids.end());
    return ids;
}

Ids matching(const PMEM& pmem, const Glob& glob, bool with_groups) {
    Ids ids = with_prefix(pmem, glob.prefix(), with_groups);
    std::erase_if(ids, [&](const std::string& id) { return !glob.matches(id); });
    return ids;
}

std::string without_slash(std::string word) {
    if (word.size() > 1 && word.back() == '/') word.pop_back();
    return word;
}

}  // namespace

Listed listed(const PMEM& pmem, const std::vector<std::string>& words, bool with_groups) {
    if (words.empty()) return {with_prefix(pmem, "", with_groups), {}};
    Listed all;
    for (const std::string& word : words) {
        const Ids found = is_glob_in(pmem, word) ? matching(pmem, Glob(word), with_groups)
                                                 : with_prefix(pmem, word, with_groups);
        all.ids.insert(all.ids.end(), found.begin(), found.end());
        // Of an empty group there is nothing to list, but it is there.
        if (found.empty() && !pmem.exists(without_slash(word))) all.nothing.push_back(word);
    }
    std::sort(all.ids.begin(), all.ids.end());
    all.ids.erase(std::unique(all.ids.begin(), all.ids.end()), all.ids.end());
    return all;
}

std::vector<std::string> named(const PMEM& pmem, const std::vector<std::string>& words, bool with_groups) {
    Ids ids;
    std::unordered_set<std::string> known;
    for (const std::string& word : words) {
        const std::string id = without_slash(word);
        const bool is_glob = is_glob_in(pmem, id);
        const Ids found = is_glob ? matching(pmem, Glob(id), with_groups) : pmem.exists(id) ? Ids{id} : Ids{};
        if (found.empty()) {
            throw Error(
                Code::not_found,
                is_glob ? fmt::format("no {} matches '{}'; `pmemcpy ls` lists what is there",
                                      with_groups ? "variable and no group" : "variable", word)
                        : fmt::format(
                              "there is no variable and no group '{}'; `pmemcpy ls -g` lists what is there",
                              word));
        }
        for (const std::string& one : found) {
            if (known.insert(one).second) ids.push_back(one);
        }
    }
    return ids;
}

std::vector<std::string> outermost(const std::vector<std::string>& ids) {
    const std::unordered_set<std::string> all(ids.begin(), ids.end());
    Ids kept;
    for (const std::string& id : ids) {
        bool is_inside = false;
        for (std::size_t at = id.find('/'); at != std::string::npos && !is_inside; at = id.find('/', at + 1))
            is_inside = all.contains(id.substr(0, at));
        if (!is_inside) kept.push_back(id);
    }
    return kept;
}

std::vector<Info> existing(const PMEM& pmem, const std::vector<std::string>& ids) {
    std::vector<Info> infos;
    infos.reserve(ids.size());
    for (const std::string& id : ids) {
        try {
            infos.push_back(pmem.info(id));
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
    }
    return infos;
}

}  // namespace pmemcpy::cli
