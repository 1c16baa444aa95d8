#include "exchange/zarr/array.hpp"

#include <algorithm>
#include <new>
#include <pmemcpy/error.hpp>

#include "exchange/pieces.hpp"
#include "exchange/zarr/chunks.hpp"
#include "exchange/zarr/strided.hpp"
#include "exchange/zarr/vlen.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::uint64_t small_grid =
    1U << 20;  // of chunks, that are asked for one after another though most are not there

}  // namespace

struct ZarrArrayReader::Shard {
    Shard(const std::string& path, const ZarrShard& how, const Dimensions& shape)
        : file(path), places(how.read_index(file, shape.elements() / how.chunk.elements())) {}

    std::uint64_t number = 0;
    ZarrFile file;
    std::vector<ZarrShard::Place> places;
};

ZarrArrayReader::ZarrArrayReader(std::string folder, std::string place, std::string path,
                                 const ZarrArray& array, Intake& intake)
    : folder_(std::move(folder)),
      place_(std::move(place)),
      path_(std::move(path)),
      array_(array),
      intake_(intake),
      grid_(array.grid()),
      there_(zarr_chunks_in(folder_, array)),
      type_(array.element.type),
      fill_(array.fill) {
    if (fill_.empty()) fill_.resize(type_.size());
}

template <class Go>
auto ZarrArrayReader::at(const Dimensions& chunk, Go&& go) const {
    const auto where = [&] { return place_ + ": chunk " + array_.key(chunk) + ": "; };
    try {
        return go();
    } catch (const Error& error) {
        throw Error(error.kind(), where() + error.what());
    } catch (const std::bad_alloc&) {
        throw Error(Code::no_space, where() + "there is not as much memory");
    }
}

void ZarrArrayReader::read() {
    if (array_.element.has_any_length()) measure();
    cell_ = {type_.size(), array_.element.has_any_length(), fill_};
    if (array_.shape.empty()) return read_value();
    ArrayOptions options;
    if (!array_.has_no_fill) options.fill_value = fill_;
    intake_.array(path_, type_, array_.shape, options);
    if (there_.empty()) return;
    const Dimensions leaf = leaf_shape();
    const std::uint64_t count = grid_.elements();
    if (count > small_grid && there_.size() < count / 16) {
        for (const std::uint64_t number : there_)
            read_block(box_of_chunk(place_of_number(number, grid_), array_));
        return;
    }
    each_piece(Box::whole(array_.shape), array_.chunk, type_.size(), intake_.piece_bytes(),
               [&](const Box& block) { read_block(block); });
}

const Dimensions& ZarrArrayReader::leaf_shape() const {
    const ZarrShard* shard = array_.chain.plain_shard();
    return shard != nullptr ? shard->chunk : array_.chunk;
}

// Text of any length: padded to the longest, for which all of it is looked at twice.
void ZarrArrayReader::measure() {
    VlenLook all{std::max<std::uint64_t>(fill_.size(), 1), false};
    for (const std::uint64_t number : there_) {
        const Dimensions chunk = place_of_number(number, grid_);
        at(chunk, [&] {
            const ZarrFile file(folder_ + "/" + array_.key(chunk));
            const VlenLook look = array_.chain.look(file, array_.chunk);
            all = {std::max(all.longest, look.longest), all.has_zeros_at_an_end || look.has_zeros_at_an_end};
        });
    }
    if (all.has_zeros_at_an_end) intake_.warn(path_, "the zeros at the ends of its texts are not kept");
    fill_.resize(all.longest);
    type_ = Type::fixed_string(all.longest, array_.element.any_length == ZarrElement::AnyLength::text);
}

void ZarrArrayReader::read_value() {
    std::vector<std::byte> bytes = fill_;
    bytes.resize(type_.size());
    if (decode({}, Box::whole({}))) std::copy(decoded_.begin(), decoded_.end(), bytes.begin());
    if (!array_.element.has_any_length()) return intake_.value(path_, type_, bytes);
    while (!bytes.empty() && bytes.back() == std::byte{0}) bytes.pop_back();
    if (array_.element.any_length == ZarrElement::AnyLength::text)
        return intake_.value(path_, Type::string(), bytes);
    bytes.resize(std::max<std::size_t>(bytes.size(), 1));
    intake_.value(path_, Type::fixed_string(bytes.size(), false), bytes);
}

bool ZarrArrayReader::is_there(const Dimensions& chunk) const {
    return std::binary_search(there_.begin(), there_.end(), number_of_place(chunk, grid_));
}

bool ZarrArrayReader::decode(const Dimensions& chunk, const Box& leaf) {
    if (!is_there(chunk)) return false;
    return at(chunk, [&] {
        const std::string file = folder_ + "/" + array_.key(chunk);
        const ZarrShard* how = array_.chain.plain_shard();
        decoded_.resize(chunk_bytes_of(leaf_shape(), type_.size()));
        if (how == nullptr) {
            array_.chain.decode(ZarrFile(file), array_.chunk, cell_, decoded_);
        } else {
            const std::uint64_t number = number_of_place(chunk, grid_);
            if (!shard_ || shard_->number != number) {
                shard_ = nullptr;  // its file and memory go before the next one's come
                shard_ = std::make_shared<Shard>(file, *how, array_.chunk);
                shard_->number = number;
            }
            Dimensions inner_grid, place;
            for (int d = 0; d < chunk.size(); ++d) {
                inner_grid.push_back(array_.chunk[d] / how->chunk[d]);
                place.push_back(leaf.offset[d] % array_.chunk[d] / how->chunk[d]);
            }
            const ZarrShard::Place found = shard_->places[number_of_place(place, inner_grid)];
            if (!found.is_there()) return false;
            how->inner->decode(ZarrRange(shard_->file, found.offset, found.bytes), how->chunk, cell_,
                               decoded_);
        }
        array_.element.to_pool(decoded_);
        return true;
    });
}

// Whole chunks, as many as fit a piece, or one of them; a shard may be larger than a piece, and goes in pieces then.
void ZarrArrayReader::read_block(const Box& block) {
    if (array_.chain.plain_shard() == nullptr) return read_piece(block);
    each_piece(block, leaf_shape(), type_.size(), intake_.piece_bytes(),
               [&](const Box& piece) { read_piece(piece); });
}

void ZarrArrayReader::read_piece(const Box& piece) {
    const std::uint64_t width = type_.size();
    const Dimensions steps = steps_of(piece.count), leaf_steps = steps_of(leaf_shape());
    std::vector<Box> found;
    std::uint64_t elements = 0;
    piece_.clear();
    // Shard by shard, so that each is opened once.
    each_piece(piece, array_.chunk, width, 0, [&](const Box& part) {
        Dimensions chunk;
        for (int d = 0; d < piece.size(); ++d) chunk.push_back(part.offset[d] / array_.chunk[d]);
        each_piece(part, leaf_shape(), width, 0, [&](const Box& leaf) {
            if (!decode(chunk, leaf)) return;
            if (piece_.empty()) piece_.resize(at(chunk, [&] { return chunk_bytes_of(piece.count, width); }));
            std::byte* to = piece_.data();
            for (int d = 0; d < piece.size(); ++d)
                to += (leaf.offset[d] - piece.offset[d]) * steps[d] * width;
            copy_strided(decoded_.data(), leaf_steps, to, steps, leaf.count, width);
            found.push_back(leaf);
            elements += leaf.elements();
        });
    });
    if (found.empty()) return;
    if (elements == piece.elements()) return intake_.store(path_, type_, piece_.data(), piece);
    // What is not there is not stored either.
    Bytes one;
    for (const Box& leaf : found) {
        const std::byte* from = piece_.data();
        for (int d = 0; d < piece.size(); ++d) from += (leaf.offset[d] - piece.offset[d]) * steps[d] * width;
        one.resize(leaf.elements() * width);
        copy_strided(from, steps, one.data(), steps_of(leaf.count), leaf.count, width);
        intake_.store(path_, type_, one.data(), leaf);
    }
}

}  // namespace pmemcpy::exchange
