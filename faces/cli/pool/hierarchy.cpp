#include "cli/pool/hierarchy.hpp"

#include <algorithm>
#include <utility>

#include "cli/pool/names.hpp"

namespace pmemcpy::cli {

namespace {

/// Puts a group right before what is in it, and names in their order: `/` comes before all other characters.
bool by_parts(const std::string& a, const std::string& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](char left, char right) {
        const auto rank = [](char c) { return c == '/' ? 0U : static_cast<unsigned char>(c) + 1U; };
        return rank(left) < rank(right);
    });
}

/// Where an id belongs; what is inserted comes sorted, so it can only be the last one on each level.
Branch& branch_of(Branch& root, const std::string& id, std::size_t skipped) {
    Branch* at = &root;
    for (std::size_t begin = skipped; begin <= id.size();) {
        const std::size_t end = std::min(id.find('/', begin), id.size());
        std::string name = id.substr(begin, end - begin);
        if (at->inside.empty() || at->inside.back().name != name)
            at->inside.push_back({std::move(name), id.substr(0, end), {}, {}});
        at = &at->inside.back();
        begin = end + 1;
    }
    return *at;
}

}  // namespace

Branch hierarchy(const PMEM& pmem, std::string_view id, Progress& progress) {
    Branch root;
    std::string prefix;
    if (!id.empty() && id != "/") {
        root.id = id;
        root.name = root.id.substr(root.id.rfind('/') + 1);
        root.info = pmem.info(id);
        if (!root.is_group()) return root;
        prefix = root.id + "/";
    }
    std::vector<std::string> ids = pmem.ids(prefix);
    const std::vector<std::string> groups = pmem.groups(prefix);
    ids.insert(ids.end(), groups.begin(), groups.end());
    std::sort(ids.begin(), ids.end(), by_parts);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        progress.show(i, ids.size());
        for (Info& info : existing(pmem, {ids[i]}))
            branch_of(root, ids[i], prefix.size()).info = std::move(info);
    }
    return root;
}

}  // namespace pmemcpy::cli
