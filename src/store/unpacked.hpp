#pragma once

#include "codec/blosc.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace pmemcpy::store {

/// The parts of compressed blocks that were unpacked last, so that who reads a block element by element does not have Blosc unpack the same
/// bytes each time. A block never changes, and its record's version is that of no other.
class Unpacked {
public:
    struct Piece {
        std::uint64_t version;  // of the block's record
        codec::RawRange range;
        std::vector<std::byte> bytes;
    };
    /// Pieces are no larger than this, and all together no larger than `most_bytes`.
    static constexpr std::uint64_t largest_piece_bytes = std::uint64_t{4} << 20;
    static constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;

    /// One that has all of the range, or null.
    std::shared_ptr<const Piece> find(std::uint64_t version, const codec::RawRange& range);
    void keep(std::shared_ptr<const Piece> piece);

private:
    std::mutex mutex_;
    std::list<std::shared_ptr<const Piece>> pieces_;  // the one that was read last comes first
    std::uint64_t bytes_ = 0;
};

}  // namespace pmemcpy::store
