// What the fuzzers found, one story each: what happened, why, and what holds now. The inputs are in corpus/.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "target.hpp"

namespace pmemcpy::fuzz {
namespace {

void expect_answered(const std::string& target, const std::string& name) {
    std::ifstream file(std::filesystem::path(PMEMCPY_FUZZ_CORPUS) / target / (name + ".input"),
                       std::ios::binary);
    ASSERT_TRUE(file) << name << " is not in the corpus any more";
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (const Target& one : targets()) {
        if (one.name == target)
            EXPECT_NO_THROW(one.run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
    }
}

// To erase an attribute or give up an entry, its home was read and written at, though a home is derived, no checksum covers
// it, and a scribbled one leads anywhere, between two words too.
// A home counts only where a word that publishes something can be.
TEST(found, a_home_that_is_no_place_for_a_word) {
    expect_answered("pool", "a_home_that_is_no_place_for_a_word");
}

// A store into an array never returned: its directory ended in a word that was no link, not sealed, and not empty in the
// way that a new segment can replace, so that each round of the search for a slot changed nothing.
// Such an end is corrupt; and every search that others may upset has a limit.
TEST(found, a_directory_that_ends_in_no_word) { expect_answered("pool", "a_directory_that_ends_in_no_word"); }

// A repair never returned: a fifo lay in the place of a payload file, and who opens one waits for somebody who opens its
// other end.
// Nothing is opened so that it could wait, and a repair copies files only.
TEST(found, a_fifo_in_the_place_of_a_payload) {
    expect_answered("directory", "a_fifo_in_the_place_of_a_payload");
}

// A time near the earliest that 64 bits can say in attoseconds was printed wrong: the remainder of a division that rounds
// down was computed from its quotient, times ten to the eighteenth.
// The remainder comes from the division itself.
TEST(found, the_earliest_attosecond) { expect_answered("words", "the_earliest_attosecond"); }

}  // namespace
}  // namespace pmemcpy::fuzz
