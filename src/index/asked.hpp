#pragma once

#include <optional>
#include <pmemcpy/query.hpp>
#include <span>
#include <vector>

#include "index/node.hpp"

namespace pmemcpy::index {

/// A condition and the values for its parameters, put together when that is needed: what looks up one value does without.
class Asked {
public:
    /// `condition` may be null: everything. Errors: invalid_argument for more or fewer values than parameters.
    Asked(NodePointer condition, std::span<const Literal> values);

    /// With the values in it; null for everything. Errors: type_mismatch.
    const NodePointer& condition();
    bool is_everything() const { return condition_ == nullptr; }
    bool is_bound() const { return bound_ != nullptr; }

    /// An attribute, and the value that it has to be equal to.
    struct Equality {
        const Key& key;
        const Literal& value;
    };
    /// Where that is all that is asked.
    std::optional<Equality> equality() const;
    /// One test of the name, and whether groups are meant too.
    struct OfNames {
        NodePointer test;
        bool are_groups_meant;
        std::vector<const Key*> keys;  // that might mean attributes
    };
    /// Where that is all. Errors: type_mismatch, as condition().
    std::optional<OfNames> of_names();

private:
    NodePointer condition_;
    std::span<const Literal> values_;
    NodePointer bound_;
};

}  // namespace pmemcpy::index
