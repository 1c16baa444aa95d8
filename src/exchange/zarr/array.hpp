#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exchange/intake.hpp"
#include "exchange/zarr/metadata.hpp"

namespace pmemcpy::exchange {

/// The elements of one Zarr array into a pool.
class ZarrArrayReader {
public:
    /// `folder` is that of the array, `place` what Errors call it, `path` its name in the pool.
    ZarrArrayReader(std::string folder, std::string place, std::string path, const ZarrArray& array,
                    Intake& intake);

    void read();

private:
    struct Shard;  // the one that was used last, with its index

    void measure();
    void read_value();
    void read_block(const Box& block);
    void read_piece(const Box& piece);
    bool is_there(const Dimensions& chunk) const;
    /// Whether there is such a chunk, or inner chunk; if so it is in decoded_.
    bool decode(const Dimensions& chunk, const Box& leaf);
    const Dimensions& leaf_shape() const;
    void store(const Box& box, std::span<std::byte> elements);
    template <class Go>
    auto at(const Dimensions& chunk, Go&& go) const;

    std::string folder_;
    std::string place_;
    std::string path_;
    const ZarrArray& array_;
    Intake& intake_;
    Dimensions grid_;
    std::vector<std::uint64_t> there_;
    Type type_;
    ZarrCell cell_;
    std::vector<std::byte> fill_;
    std::shared_ptr<Shard> shard_;
    Bytes decoded_, piece_;
};

}  // namespace pmemcpy::exchange
