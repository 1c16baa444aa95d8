#pragma once

#include <map>
#include <optional>
#include <pmemcpy/packing.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <string>
#include <vector>

#include "index/fact.hpp"
#include "index/known.hpp"
#include "index/surroundings.hpp"

namespace pmemcpy::index {

/// What the blocks of an array say of their elements.
struct Ranges {
    bool are_known = false;  // of all blocks
    std::optional<std::vector<BlockInfo>>
        seen{};  // of which this is all that is to be said; else elements tell
};

/// Whether an object has become another thing while it was looked at, such as an array where there was a value.
inline bool is_of_another_meanwhile(const Error& error) {
    return error.kind() == Code::type_mismatch || error.kind() == Code::out_of_range;
}

/// A look at one object. One that is erased meanwhile is passed over; one that becomes another thing is looked at anew.
template <class F>
void look_while_it_changes(F&& look) {
    constexpr int most_looks = 8;
    for (int looks = 1;; ++looks) {
        try {
            return look();
        } catch (const Error& error) {
            if (error.kind() == Code::not_found) return;
            if (!is_of_another_meanwhile(error) || looks == most_looks) throw;
        }
    }
}

/// A variable or group, or the pool, while it is looked at: reads from the pool what is asked for, once.
/// Errors: not_found by any call, when somebody erases it meanwhile; type_mismatch, out_of_range, when another thing comes in its place.
class Object {
public:
    /// What is asked of what it lies in `around` is asked for, too.
    Object(const PMEM& pool, std::string id, Surroundings& around)
        : pool_(&pool), around_(&around), id_(std::move(id)) {}

    const std::string& id() const noexcept { return id_; }
    const Info& info();
    const PMEM& pool() const noexcept { return *pool_; }
    /// What it has under a key; nothing if it has no such thing. Not for the elements of an array.
    /// An attribute is its own, or else that of the nearest of what it lies in.
    const Facts& facts(const Key& key);
    /// Whether it has an attribute of its own that is called so, whatever is in it.
    bool has_attribute(const std::string& name);
    bool has_attributes() { return !own_attributes().empty(); }
    /// Whether a key means an attribute here, and not what is known.
    bool means_attribute(const Key& key);

    /// All that its attributes say, under keys of them; of one that says more than `at_most` things only that.
    struct AttributeLeaves {
        std::string name;
        Leaves leaves;
    };
    std::vector<AttributeLeaves> attribute_leaves(std::size_t at_most);
    /// What the value itself says, if it is no more than so many bytes and things; of arrays nothing.
    Leaves value_leaves(std::uint64_t most_bytes, std::size_t at_most);
    /// What is known of who created it, under the members of `creator`.
    Leaves creator_leaves();
    /// Whether min and max are known without a look at any elements, of no more than so many blocks.
    bool has_cheap_range(std::uint64_t most_blocks);

    /// Whether a key means the elements of this array, which are looked at block by block.
    bool is_elements(const Key& key);

private:
    const std::vector<std::string>& own_attributes();
    bool has_own(const Key& key);
    bool may_lie_farther(const Key& key);
    Facts known(Known known, const Key& key);
    Facts attribute(const Key& key);
    Facts own_attribute(const Key& key);
    Facts stored_value(std::span<const std::string> members);
    const Packing& packing();
    Facts extreme(bool is_least);
    bool find_extremes();
    Facts mean();
    const Creation& creation();
    Facts creator(std::span<const std::string> members);
    const Facts& own_value();
    const Ranges& ranges();
    /// Whether the least and greatest elements of blocks tell those of the array, none of which is missing.
    bool has_ends();

    const PMEM* pool_;
    Surroundings* around_;
    std::string id_;
    std::optional<Info> info_;  // which takes as long as all the rest
    std::optional<Creation> creation_;
    std::optional<std::vector<std::string>> attributes_;  // their names, sorted
    std::map<std::string, Facts> seen_;                   // by the text of a key
    std::optional<Ranges> ranges_;
    std::optional<Packing> packing_;
    struct Extremes {
        Facts least;
        Facts greatest;
    };
    std::optional<Extremes> extremes_;  // of a value that is a list of floats
};

}  // namespace pmemcpy::index
