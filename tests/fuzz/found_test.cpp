// What the fuzzers found, one story each: what happened, why, and what holds now. The inputs are in corpus/.

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <pmemcpy/pmemcpy.hpp>

#include "catalog/format.hpp"
#include "fenced_kernel.hpp"
#include "pool_mutation.hpp"
#include "target.hpp"

namespace pmemcpy::fuzz {
namespace {

void expect_answered(const std::string& target, const std::string& name) {
    std::ifstream file(std::filesystem::path(PMEMCPY_FUZZ_CORPUS) / target / (name + ".input"),
                       std::ios::binary);
    ASSERT_TRUE(file) << name << " is not in the corpus any more";
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (const Target& one : targets()) {
        if (one.name != target) continue;
        EXPECT_NO_THROW(one.run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
    }
}

// To erase an attribute or give up an entry, its home was read and written at, though a home is derived, no checksum covers
// it, and a scribbled one leads anywhere: out of the pool, or between two words.
// A home counts only where a word that publishes something can be.
TEST(found, a_home_outside_the_pool) { expect_answered("pool", "a_home_outside_the_pool"); }
TEST(found, a_home_that_is_no_place_for_a_word) {
    expect_answered("pool", "a_home_that_is_no_place_for_a_word");
}

// The target itself was wrong: it took the index of an element of a block of more than 2^63 elements for "no element".
TEST(found, block_of_2_to_the_63) { expect_answered("selection", "block_of_2_to_the_63"); }

// Listing ids never ended: an entry led to itself, and the only bound on a walk was the number of all entries that the pool
// has room for, 257 times, with a copy of each of them.
// A walk notices a circle after about as many steps as it is long, and it is corrupt.
TEST(found, entries_in_a_circle) { expect_answered("pool", "entries_in_a_circle"); }

// Opening an array took all memory: a segment of its directory led to itself, and each round was another segment.
// The directory notices, and the array is corrupt.
TEST(found, a_directory_in_a_circle) { expect_answered("pool", "a_directory_in_a_circle"); }

// An overwrite never ended: the old value's record said that it had replaced itself, and who retires a record retires what
// it has replaced too.
// The chain of what was replaced is followed once round.
TEST(found, a_value_that_replaced_itself) { expect_answered("pool", "a_value_that_replaced_itself"); }

// A verify, and so a repair, never ended: the older versions of a value, which readers of older steps see, led in a circle.
// The circle is noticed, and the value is damaged.
TEST(found, older_versions_in_a_circle) { expect_answered("directory", "older_versions_in_a_circle"); }

// A repair of a pool whose state does not fit its mark asked the chunk table how many chunks there were, which may be damaged
// too: the new pool was to take all the space that the old one could ever have had.
// What the file system holds of the old pool tells.
TEST(found, a_table_that_speaks_of_chunks_that_nobody_filled) {
    expect_answered("pool", "a_table_that_speaks_of_chunks_that_nobody_filled");
}

// The erase of an array went on behind its directory's segment, and retired what it took for links there: it believed the
// number of slots, which is no more covered by a look at the record's first line than the slots are.
// A segment has no more slots than there is room for in its record.
TEST(found, a_segment_of_more_slots_than_it_has) {
    expect_answered("pool", "a_segment_of_more_slots_than_it_has");
}

// A load copied a compressed block of no bytes from and to nowhere before its decoder was asked.
// Whatever is compressed has some bytes, and a block whose record says otherwise is damaged.
TEST(found, a_packed_block_of_no_bytes) { expect_answered("pool", "a_packed_block_of_no_bytes"); }

/// Which of a seed's records is the first block of two dimensions.
std::uint8_t first_block(const Seed& seed) {
    for (std::size_t i = 0; i < seed.records.size(); ++i) {
        catalog::Block block{};
        std::memcpy(&block, seed.bytes.data() + seed.records[i], sizeof block);
        const bool is_block = static_cast<heap::RecordKind>(block.header.kind) == heap::RecordKind::block;
        if (is_block && block.dimensions == 2) return static_cast<std::uint8_t>(i);
    }
    throw Broken("no block in the seed");
}

// A load of an array, one of whose blocks said that it had three dimensions instead of two, was corrupt once, and from then
// on gave fill values in the block's place: its slot counted as read before its record was judged.
// Such a block counts among the damaged ones, and whoever misses its elements is told, every time.
TEST(found, a_block_of_other_dimensions_than_its_array) {
    const Seed& seed = seeds(false)[0];
    constexpr std::uint8_t half_word = 4;
    constexpr std::uint8_t place = offsetof(catalog::Block, dimensions) / 4;
    constexpr std::uint8_t follows = 192;  // a number of four bytes: dimensions, flags, codec
    const std::vector<std::uint8_t> input = {
        0, half_word, first_block(seed), place, follows, 3, catalog::block_has_crc, 0, 0};
    Bytes bytes(input);
    const std::string path = folder() + "/found";
    Mutation(seed, bytes).write(path, "");
    const FencedKernel kernel;
    Options options;
    options.mode = Mode::read;
    PMEM pmem;
    pmem.mmap(path, options);
    std::vector<double> elements(64);
    for (int attempt = 0; attempt < 3; ++attempt) {
        try {
            pmem.load<double>("A", elements.data(), Box{{0, 0}, {8, 8}});
            ADD_FAILURE() << "load " << attempt << " gave what nobody knows";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::corrupt) << error.what();
        }
    }
    EXPECT_EQ(pmem.verify().size(), 1u);
}

// Asking a pool for its size read behind a chunk: a slab's header said that the words of its units lie there, and only their
// number had been checked.
// They lie between the bitmap and the units, or the chunk is no slab.
TEST(found, a_slab_whose_words_lie_elsewhere) { expect_answered("pool", "a_slab_whose_words_lie_elsewhere"); }

// The chunk table was read before the pool's first byte: its offset was near 2^64, and the check that the next thing lies
// behind its end added its length first, which wrapped around.
// Each offset is known to lie in the pool before anything is added to it.
TEST(found, a_table_that_begins_before_the_pool) {
    expect_answered("pool", "a_table_that_begins_before_the_pool");
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

// A store into a contiguous array wrote before the block that it was to fill: the block's record, with a right checksum, said
// that it began further on. The room behind a block had been checked, not that a contiguous array's only block is all of it.
// Such a block is damaged, as one is that is compressed.
TEST(found, a_block_that_is_a_part_of_a_contiguous_array) {
    expect_answered("pool", "a_block_that_is_a_part_of_a_contiguous_array");
}

// A rename never returned: a group's entry said that it was shorter than an entry is. The search for a name found it, whose use then
// called it gone; "erased just then", said the loop that makes groups, and searched anew, for ever.
// The search finds no entry that cannot be used, and one that is gone twice by the same word is damage.
TEST(found, an_entry_shorter_than_its_name) { expect_answered("pool", "an_entry_shorter_than_its_name"); }

// A time near the earliest that 64 bits can say in attoseconds was printed wrong: the remainder of a division that rounds
// down was computed from its quotient, times ten to the eighteenth.
// The remainder comes from the division itself.
TEST(found, the_earliest_attosecond) { expect_answered("words", "the_earliest_attosecond"); }

}  // namespace
}  // namespace pmemcpy::fuzz
