#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/holding.hpp"
#include "exchange/zarr/plan.hpp"

namespace pmemcpy::exchange {

/// One array or value of a pool as the chunks of a Zarr array.
class ZarrArrayWriter {
public:
    /// Errors: unsupported for what Zarr does not hold.
    ZarrArrayWriter(const Variable& variable, Holding& holding);

    const ZarrPlan& plan() const { return plan_; }
    /// The chunks, below the array's folder: those that hold something else than the fill value.
    void write(const std::string& folder);

private:
    ZarrPlan planned();
    std::vector<std::uint64_t> touched() const;
    void write_chunks(const Box& box);
    void write_shard(const Box& box);
    /// Calls visit(box, elements in the file's form, in C order) for all of `box`, in pieces on a grid of `chunk`.
    using Visit = std::function<void(const Box&, std::span<const std::byte>)>;
    void each_piece(const Box& box, const Dimensions& chunk, const Visit& visit) const;
    /// A chunk of that shape of which only `part` of a piece is in the array: the rest is the fill value.
    std::span<const std::byte> filled(const Box& part, const Box& piece, std::span<const std::byte> elements,
                                      const Dimensions& shape);
    std::string file_of(const Box& box) const;

    const Variable& variable_;
    Holding& holding_;
    std::optional<Datum> value_;
    ZarrSubject subject_;
    ZarrPlan plan_;
    ZarrPacking packing_;
    ZarrCell cell_;
    std::string folder_;
    std::vector<std::byte> chunk_;
};

}  // namespace pmemcpy::exchange
