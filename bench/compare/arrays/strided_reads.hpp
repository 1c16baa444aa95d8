#pragma once

#include <memory>
#include <pmemcpy/box.hpp>
#include <vector>

namespace compare::arrays {

/// The smallest box with all that is selected.
pmemcpy::Box bounds_of(const pmemcpy::Selection& where);

/// For libraries that read boxes only: each strided selection is read as its bounding box, and picked out of that.
class StridedReads {
public:
    /// Where to read the bounding box of `where` to, so that pick() puts the selection to `to`; `to` itself for a box.
    void* box_for(const pmemcpy::Selection& where, std::size_t element_bytes, void* to);
    /// To be called when all boxes are there.
    void pick();

private:
    struct Pick {
        pmemcpy::Selection where;
        std::size_t element_bytes;
        std::unique_ptr<char[]> box;
        void* to;
    };
    std::vector<Pick> picks_;
};

}  // namespace compare::arrays
