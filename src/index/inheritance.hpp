#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/lookup.hpp"
#include "index/node.hpp"
#include "index/object.hpp"
#include "index/plan.hpp"

namespace pmemcpy::index {

/// Which objects have an attribute of something that they lie in, as an index says, for one query. Only what an object has itself is posted
/// for it: so a change of a group's attributes is one change, however many are in the group.
class Inheritance {
public:
    /// `pool`: itself as an object, null where it is none. `changed`, sorted: places of which the index tells nothing any more, and what is there now
    /// is called `changed_ids`.
    Inheritance(const Lookup& lookup, Object* pool, std::span<const std::uint64_t> changed,
                std::span<const std::string> changed_ids);

    /// Whether a word that may mean an attribute means what is known, of all objects but those that nobody knows of.
    bool means_known(const Key& key) const;
    /// Adds to what of themselves meets tests of one attribute those that meet them by what they lie in. False where it takes more than `most`.
    bool add_members(std::span<const Node* const> tests, const PostedKey& root, std::size_t most,
                     Postings& postings) const;
    /// Adds those that lie in something of which nobody knows what it has.
    void add_members_of_unknown(Postings& postings) const;
    /// Whether objects whose names begin with `scope` may have what something has whose name does not begin so.
    bool reaches_into(const std::string& scope, const Key& key) const;
    /// Whether anything may be inherited that a condition asks for.
    bool matters_to(const Node& condition) const;

private:
    enum class Meets { no, maybe, yes };
    using Holders = std::map<std::string, Meets, std::less<>>;
    bool pool_has(const Key& key) const;
    bool is_changed(std::uint64_t place) const;
    std::optional<std::string_view> id_of(const Posting& posting) const;
    const std::vector<std::string>& unknown() const;
    Holders holders(const PostedKey& root) const;
    template <class F>
    void walk_names(std::string_view within, F&& f) const;
    std::vector<Posting> all_with(const PostedKey& root) const;

    const Lookup& lookup_;
    Object* pool_;
    std::span<const std::uint64_t> changed_;
    std::span<const std::string> changed_ids_;
    mutable std::optional<std::vector<std::string>> unknown_;  // groups, sorted, with something in them
};

}  // namespace pmemcpy::index
