#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <span>
#include <utility>
#include <vector>

namespace pmemcpy::cli {

/// Where elements come from: an array, or a part of it, as it is now or as it was at a step. It is loaded piece by piece,
/// in bounded memory.
class Source {
public:
    using Visit = std::function<void(std::span<const std::byte> elements, const Selection& piece)>;

    Source(const PMEM& pmem, Info info, const Selection& selection, std::optional<std::uint64_t> step = {});

    const Info& info() const noexcept { return info_; }
    const Selection& selection() const noexcept { return selection_; }

    /// Loads the pieces one behind the other in `order`; the elements of each lie in the array's own order.
    /// Errors: as PMEM::load; so not_found where nobody has stored an element.
    void each(Order order, const Visit& visit);
    /// The same in an order that is good to load, without what nobody has stored. Returns how many elements that is.
    /// Errors: as PMEM::load; not_found of a step, which may not be kept.
    std::uint64_t each_stored(const Visit& visit);

    // What each_stored() is made of, for who loads two arrays side by side.

    /// A part of the selection, with the blocks that meet it.
    struct Part {
        Selection selection;
        std::vector<std::size_t> blocks;
    };
    Part whole() const;
    /// Where a part of at least two elements is best cut in two: so many elements of a dimension go to the first half.
    struct Cut {
        int dimension;
        Extent count;
    };
    /// Cuts at the edges of blocks, as long as there are any: then each compressed block is unpacked once, and what nobody
    /// has stored is soon left alone. Else in the middle of the slowest dimension.
    Cut cut_of(const Part& part) const;
    std::pair<Part, Part> halves(const Part& part, const Cut& cut) const;
    bool fits(const Part& part) const {
        return part.selection.elements() * info_.type.size() <= piece_bytes_;
    }
    /// Sure where true; a part of which it is false may have nothing stored in it all the same.
    bool has_nothing(const Part& part) const {
        return part.blocks.empty() && info_.fill_value.empty() && !step_;
    }
    /// True: loaded() are all elements of the part. False: somebody has stored only some of them, or none.
    bool try_load(const Part& part);
    std::span<const std::byte> loaded() const noexcept { return buffer_; }

private:
    void load(const Selection& piece);
    std::optional<Extent> edge_in(const Part& part, int dimension) const;
    std::vector<std::size_t> meeting(const Selection& part, const std::vector<std::size_t>& blocks) const;

    const PMEM& pmem_;
    Info info_;
    Selection selection_;
    std::optional<std::uint64_t> step_;
    std::vector<BlockInfo> blocks_;
    std::uint64_t piece_bytes_;
    std::vector<std::byte> buffer_;
};

/// Whether two selections, neither of them empty, may have an element in common. Where it is false they have none; those
/// with strides may pass each other by all the same.
bool meet(const Selection& a, const Selection& b);

}  // namespace pmemcpy::cli
