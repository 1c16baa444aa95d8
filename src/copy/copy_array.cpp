#include "copy/copy_array.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace pmemcpy::copy {

namespace {

constexpr std::uint64_t piece_bytes = 64ULL << 20;

ArrayOptions options_of(const Info& info) {
    ArrayOptions options;
    options.serializer = info.serializer;
    options.codec = info.codec;
    options.order = info.order;
    options.contiguous = info.is_contiguous;
    options.fill_value = info.fill_value;
    return options;
}

/// A store may have asked for another codec than the array has; then its level is not recorded.
std::optional<Codec> codec_of(const Info& info, const BlockInfo& block) {
    if (info.is_contiguous) return std::nullopt;
    return info.codec.kind == block.codec ? info.codec : Codec{block.codec};
}

/// Whether elements with these distances lie densely, in the array's order.
bool is_dense(const Dimensions& strides, const Dimensions& count, Order order) {
    Extent expected = 1;
    for (int i = 0; i < count.size(); ++i) {
        const int d = order == Order::c ? count.size() - 1 - i : i;
        if (count[d] != 1 && strides[d] != expected) return false;
        expected *= count[d];
    }
    return true;
}

Extent end_of(const Selection& box, int dimension) {
    return box.offset[dimension] + (box.count[dimension] - 1) * box.stride[dimension] + 1;
}

bool may_meet(const Selection& a, const Selection& b) {
    for (int d = 0; d < a.size(); ++d) {
        if (a.offset[d] >= end_of(b, d) || b.offset[d] >= end_of(a, d)) return false;
    }
    return true;
}

/// Whether what was loaded from the blocks `before` is still what readers see there: none of them has gone, and nothing
/// new lies over them. That an array grows meanwhile does no harm.
bool still_holds(const std::vector<BlockInfo>& before, const std::vector<BlockInfo>& now) {
    std::set<std::uint64_t> old;
    for (const BlockInfo& block : before) old.insert(block.version);
    std::size_t found = 0;
    for (const BlockInfo& block : now) {
        if (old.contains(block.version)) {
            ++found;
        } else if (std::any_of(before.begin(), before.end(),
                               [&](const BlockInfo& its) { return may_meet(its.box, block.box); })) {
            return false;
        }
    }
    return found == before.size();
}

/// Copies one array block by block.
class ArrayCopy {
public:
    ArrayCopy(const PMEM& source, const Info& info, PMEM& target, const std::string& to)
        : source_(source), info_(info), target_(target), to_(to) {}

    void copy(const BlockInfo& block) {
        if (!copy_as_it_lies(block)) copy_by_load(block);
    }

    /// What was copied as it lay was not checked on the way: the copy has the checksum of what came.
    void compare_checksums(const std::vector<BlockInfo>& copies) const {
        for (const BlockInfo& copy : copies) {
            const auto found = checksums_.find(to_string(copy.box));
            if (found == checksums_.end() || found->second == copy.crc || !copy.is_frozen) continue;
            throw Error(
                Code::corrupt,
                "block " + to_string(copy.box) + " of " + info_.id +
                    " has another checksum than when it was stored; pmemcpy verify tells what else is "
                    "damaged");
        }
    }

private:
    /// A block of any size in one store, straight from where it lies; only if one uncompressed block has all of its box.
    bool copy_as_it_lies(const BlockInfo& block) {
        if (block.codec != Codec::Kind::none) return false;
        try {
            const PMEM::RawView view = source_.view(info_.id, info_.type, block.box, false);
            const std::span<const std::byte> all = view.pin.bytes();
            if (view.data != all.data() || all.size() != block.bytes ||
                !is_dense(view.strides, block.box.count, info_.order))
                return false;
            target_.store(to_, info_.type, view.data, block.box, codec_of(info_, block));
            // Of equal boxes this is called for the newest last, which is the one that was seen each time.
            if (block.crc != 0 && block.is_frozen) checksums_[to_string(block.box)] = block.crc;
            return true;
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;
            return false;
        }
    }

    void copy_by_load(const BlockInfo& block) {
        const bool is_packed =
            block.codec != Codec::Kind::none;  // the library unpacks such a block whole, each time
        std::vector<std::byte> buffer;
        each_piece(block.box, info_.order, info_.type.size(), is_packed ? UINT64_MAX : piece_bytes,
                   [&](const Selection& piece) {
                       buffer.resize(piece.elements() * info_.type.size());
                       source_.load(info_.id, info_.type, buffer.data(), piece);
                       target_.store(to_, info_.type, buffer.data(), piece, codec_of(info_, block));
                   });
    }

    const PMEM& source_;
    const Info& info_;
    PMEM& target_;
    const std::string& to_;
    std::map<std::string, std::uint32_t> checksums_;  // by box
};

}  // namespace

bool copy_array(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                const Copied& copied) {
    const Info info = source.info(from);
    const std::vector<BlockInfo> blocks = source.blocks(from);
    Dimensions dims = info.dims;
    if (info.is_unlimited) dims[0] = unlimited;
    target.alloc(to, info.type, dims, options_of(info));
    ArrayCopy copy(source, info, target, to);
    for (const BlockInfo& block : blocks) {
        copy.copy(block);
        copied(block.stored_bytes);
    }
    if (info.is_contiguous && info.is_frozen) target.freeze(to);
    if (!still_holds(blocks, source.blocks(from))) return false;
    copy.compare_checksums(target.blocks(to));
    return true;
}

}  // namespace pmemcpy::copy
