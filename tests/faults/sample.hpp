#pragma once

#include <functional>
#include <string>
#include <vector>

#include <pmemcpy/pmemcpy.hpp>

namespace pmemcpy::faults {

/// What a user may load alone: a value, an attribute, a group, what an array is, one of its boxes, one as an older step saw it.
struct Piece {
    enum class Kind { value, group, attribute, array, box } kind;
    std::string id;
    std::string attribute;  ///< its name
    Selection box;
    bool is_old;  ///< as an older step saw it
    /// The content, in whatever form: only to be compared.
    std::function<std::string(const PMEM&)> load;

    std::string name() const;
};

/// Something of everything that a pool can hold, in places of their own as far as that goes.
void fill_sample(PMEM& pmem);

/// All that can be loaded from a pool in order.
std::vector<Piece> pieces_of(const PMEM& pmem);

}  // namespace pmemcpy::faults
