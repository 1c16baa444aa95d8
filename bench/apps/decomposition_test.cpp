#include "decomposition.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

using namespace domain3d;

TEST(decomposition, gives_every_element_to_exactly_one_rank) {
    const pmemcpy::Dimensions domain{5, 7, 11};
    const Grid grid{2, 3, 4};
    std::vector<int> owners(5 * 7 * 11);
    for (int rank = 0; rank < 24; ++rank) {
        const pmemcpy::Box box = part_of(domain, grid, rank);
        for (auto i = box.offset[0]; i < box.end(0); ++i) {
            for (auto j = box.offset[1]; j < box.end(1); ++j) {
                for (auto k = box.offset[2]; k < box.end(2); ++k) ++owners[(i * 7 + j) * 11 + k];
            }
        }
    }
    EXPECT_EQ(owners, std::vector<int>(owners.size(), 1));
}

TEST(decomposition, leaves_time_whole) {
    const pmemcpy::Box box = part_of({12, 4, 4, 4}, {2, 2, 1}, 3);
    EXPECT_EQ(box, (pmemcpy::Box{{0, 2, 2, 0}, {12, 2, 2, 4}}));
}

TEST(decomposition, refuses_more_ranks_than_elements) {
    EXPECT_THROW(part_of({2, 9, 9}, {3, 1, 1}, 0), std::invalid_argument);
}

TEST(decomposition, makes_a_domain_of_the_size_asked_for) {
    const auto shape = near_cube(1.0, 10);
    const auto bytes = static_cast<double>(shape.elements()) * 8 * 10;
    EXPECT_NEAR(bytes / (1 << 30), 1.0, 0.005);
    EXPECT_EQ(near_cube(0, 10).elements(), 1u);
}

TEST(decomposition, reads_grids_and_nothing_else) {
    EXPECT_EQ(parse_grid("2x3x1"), (Grid{2, 3, 1}));
    for (const char* wrong : {"", "2", "2x2", "2x2x1x1", "0x1x1", "axbxc", "2x2x1 "}) {
        EXPECT_THROW(parse_grid(wrong), std::invalid_argument) << wrong;
    }
}
