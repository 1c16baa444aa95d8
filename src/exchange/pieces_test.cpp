#include "exchange/pieces.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pmemcpy::exchange {
namespace {

std::vector<Box> pieces_of(const Box& whole, const Dimensions& chunk, std::uint64_t piece_bytes) {
    std::vector<Box> pieces;
    each_piece(whole, chunk, 8, piece_bytes, [&](const Box& piece) { pieces.push_back(piece); });
    return pieces;
}

/// Every element of `whole` is in exactly one piece.
void expect_partition(const Box& whole, const std::vector<Box>& pieces) {
    std::vector<int> seen(whole.elements());
    for (const Box& piece : pieces) {
        for (Extent n = 0; n < piece.elements(); ++n) {
            Extent rest = n, place = 0, weight = 1;
            for (int d = piece.size(); d-- > 0; weight *= whole.count[d]) {
                place += (piece.offset[d] - whole.offset[d] + rest % piece.count[d]) * weight;
                rest /= piece.count[d];
            }
            ++seen.at(place);
        }
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(pieces, cover_each_element_once_and_are_as_small_as_asked) {
    for (const Extent bytes : {8U, 64U, 100U, 1000U, 100'000U}) {
        const Box whole{{3, 0, 5}, {7, 11, 13}};
        const std::vector<Box> pieces = pieces_of(whole, {}, bytes);
        expect_partition(whole, pieces);
        for (const Box& piece : pieces) EXPECT_LE(piece.elements() * 8, std::max<Extent>(bytes, 8));
    }
}

TEST(pieces, are_whole_chunks) {
    const Box whole{{0, 0}, {100, 60}};
    const std::vector<Box> pieces = pieces_of(whole, {16, 25}, 20'000);
    expect_partition(whole, pieces);
    for (const Box& piece : pieces) {
        EXPECT_EQ(piece.offset[0] % 16, 0u);
        EXPECT_EQ(piece.offset[1] % 25, 0u);
        EXPECT_TRUE(piece.count[0] % 16 == 0 || piece.end(0) == 100);
        EXPECT_TRUE(piece.count[1] % 25 == 0 || piece.end(1) == 60);
    }
    EXPECT_LT(pieces.size(), 7u * 3u) << "several chunks fit a piece";
    EXPECT_EQ(pieces_of(whole, {100, 60}, 8).size(), 1u) << "a chunk is read whole, however large";
}

TEST(pieces, of_nothing_and_of_one_element) {
    EXPECT_TRUE(pieces_of({{0, 0}, {0, 5}}, {}, 100).empty());
    EXPECT_EQ(pieces_of({{}, {}}, {}, 100).size(), 1u);
    const Dimensions ones = Dimensions::filled(32, 1);
    EXPECT_EQ(pieces_of({Dimensions::filled(32, 0), ones}, ones, 100).size(), 1u);
}

}  // namespace
}  // namespace pmemcpy::exchange
