#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/box.hpp>
#include <vector>

namespace pmemcpy::array {

/// Plans a load: which elements come from which block, so that each element comes once, from the newest block
/// that has it (highest version; of equal versions, the one added later).
///
///     Cover cover(wanted);
///     index.query(bounding_box(wanted), [&](auto handle) { cover.add(box_of(handle), version_of(handle),
///     handle); }); cover.plan([&](auto handle, const Selection& part) { CopyPlan(wanted, box_of(handle),
///     part, size)... },
///                [&](const Selection& part) { throw not_found(compose(wanted, part)) or fill; });
class Cover {
public:
    explicit Cover(const Selection& wanted);

    /// Offers a block. One without any wanted element is left out.
    void add(const Selection& block, std::uint64_t version, std::uint64_t handle);

    /// How many blocks were taken.
    std::size_t size() const noexcept { return handles_.size(); }

    /// Parts are in the index space of `wanted`; they are boxes unless a block was stored with a stride.
    using Take = std::function<void(std::uint64_t handle, const Selection& part)>;
    using Miss = std::function<void(const Selection& part)>;
    /// Calls take for every element that some block has, and miss for all others.
    /// Cost: about n log n for n blocks that do not overlap.
    void plan(const Take& take, const Miss& miss) const;

    /// The same for who copies in the order of the calls, each part over those before it: an element may be in several parts, and counts in
    /// the last. False, with nothing done, where plan() is the better way: no block has all, or few lie above it, or too much would be
    /// copied in vain. Cost: n log n, however the blocks lie.
    bool paint(const Take& take) const;

private:
    std::vector<std::uint32_t> newest_first() const;
    Selection part(std::uint32_t block) const;
    bool is_all(std::uint32_t block) const;

    Selection wanted_;
    // One entry per block, flat, because there may be 100,000. A block's part of the index space is a
    // selection of `dims` offsets, counts and strides.
    std::vector<std::uint64_t> parts_;
    std::vector<std::uint64_t> versions_;
    std::vector<std::uint64_t> handles_;
};

}  // namespace pmemcpy::array
