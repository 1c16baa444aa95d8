// What is left when processes die while others are at the same space.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "heap/heap_suite.hpp"
#include "pool/format.hpp"

namespace pmemcpy::heap {
namespace {

class heap_after_deaths : public heap_room {
protected:
    using heap_room::heap_room;

    /// A process attaches, does that, and dies.
    void dies_after(const std::function<void(Attached&)>& work) {
        const pid_t child = ::fork();
        if (child == 0) {
            work(*new Attached(path_));
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
    }
    static std::uint64_t head_of(Attached& a, Link record) {
        return a.pool.chunk_of(a.pool.as<TestRecord>(record.offset()).extent.offset);
    }
    /// As a process that is held, or has died, while it frees a run: the chunks from there on are free.
    static void free_from(Attached& a, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t i = begin; i < end; ++i) a.pool.medium().store(&a.heap.chunk(i).word, 0);
        a.pool.medium().store(&a.pool.state().search_hint.value, begin);
    }
};

class heap_that_wipes_after_deaths : public heap_after_deaths {
protected:
    heap_that_wipes_after_deaths() : heap_after_deaths(pool::feature_wipes) {}
};

constexpr std::uint64_t chunk_bytes = 64 << 10;

// Nobody came by the chunk: a search for what the dead had claimed stepped over the whole length of the run.
TEST_F(heap_after_deaths, takes_back_what_was_claimed_inside_a_run_that_is_half_freed) {
    Attached survivor(path_);
    const std::uint64_t head = head_of(survivor, survivor.make(4 * chunk_bytes));
    free_from(survivor, head + 2, head + 4);
    dies_after([](Attached& dying) { dying.heap.allocate_extent(2 * chunk_bytes, 64 * 1000); });
    ASSERT_EQ(ChunkWord{survivor.heap.chunk(head + 2).word}.kind(), ChunkKind::run_head);
    EXPECT_TRUE(survivor.pool.scavenge_dead(survivor));
    for (std::uint64_t i = head + 2; i < head + 4; ++i)
        EXPECT_TRUE(ChunkWord{survivor.heap.chunk(i).word}.is_idle()) << i - head;
    EXPECT_EQ(ChunkWord{survivor.heap.chunk(head).word}.length(), 4U);
    EXPECT_EQ(ChunkWord{survivor.heap.chunk(head + 1).word}.kind(), ChunkKind::run_body);
}

// The rest of the run was wiped whole, with what others had stored there by then.
TEST_F(heap_that_wipes_after_deaths, wipes_of_a_run_that_is_half_freed_only_what_is_still_its_own) {
    Attached a(path_);
    const Link record = a.make(4 * chunk_bytes);
    const std::uint64_t head = head_of(a, record);
    free_from(a, head + 2, head + 4);
    const Extent others = a.heap.allocate_extent(2 * chunk_bytes, 64 * 1000);
    ASSERT_EQ(others.offset, a.pool.chunk_offset(head + 2));
    std::byte* const begin = a.pool.at(others.offset);
    constexpr std::byte stored{7};
    std::fill(begin, begin + others.length, stored);
    a.heap.retire(record);
    EXPECT_TRUE(a.heap.reclaim(Heap::Effort::thorough));
    EXPECT_TRUE(ChunkWord{a.heap.chunk(head).word}.is_idle());
    EXPECT_TRUE(std::all_of(begin, begin + others.length, [&](std::byte each) { return each == stored; }));
}

// A slab in which nothing is left was wiped with its head while the table still called it one. A death in between left a damaged slab, which
// gave nothing and took nothing back.
TEST_F(heap_that_wipes_after_deaths, wipes_a_slab_that_the_dead_had_begun_to_give_back) {
    Attached survivor(path_);
    dies_after([](Attached& dying) {
        const Extent unit = dying.heap.allocate_extent(1000, 64 * 1000);
        dying.heap.free_extent(unit, 64 * 1000);
        const std::uint64_t slab = dying.pool.chunk_of(unit.offset);
        dying.pool.medium().store(&dying.heap.chunk(slab).word,
                                  ChunkWord::claimed(dying.pool.owner(), 0).word);
        dying.pool.medium().store(&dying.pool.state().search_hint.value, slab);
    });
    const std::uint64_t chunk = survivor.pool.state().search_hint.value;
    EXPECT_TRUE(survivor.heap.damaged_slabs().empty());
    EXPECT_TRUE(survivor.pool.scavenge_dead(survivor));
    EXPECT_TRUE(ChunkWord{survivor.heap.chunk(chunk).word}.is_idle());
    EXPECT_FALSE(survivor.heap.find_unwiped());
}

// The dead process had meant a slot of an array whose space is another array's by now. Emptied with the tag of that one, the
// slot would be open to a store that comes late to the first.
TEST_F(heap_after_deaths, empties_a_slot_with_the_tag_of_the_segment_that_it_is_in) {
    Attached survivor(path_);
    constexpr std::uint64_t length = sizeof(RecordHeader) + 2 * sizeof(std::uint64_t);
    const std::uint64_t segment = survivor.heap.allocate_record(length);
    const std::uint64_t slot = segment + length - sizeof(std::uint64_t);
    RecordHeader header{};
    header.kind = static_cast<std::uint8_t>(RecordKind::segment);
    header.length = length;
    survivor.pool.medium().write(survivor.pool.at(segment), &header, offsetof(RecordHeader, state));
    const std::uint64_t version = survivor.pool.draw_version();
    seal(survivor.pool, segment, version);
    const Link block = survivor.make(1000);
    survivor.pool.medium().store(&survivor.pool.as<RecordHeader>(block.offset()).home, slot);
    survivor.pool.medium().store(&survivor.pool.as<std::uint64_t>(slot), block.dead().word);
    dies_after([&](Attached& dying) {
        dying.pool.slot().step_a = slot;
        dying.pool.slot().step_b = Link::mark(mark_empty, version + 1).word;
        dying.pool.slot().step_intent = static_cast<std::uint64_t>(pool::Intent::unlink);
    });
    EXPECT_TRUE(survivor.pool.scavenge_dead(survivor));
    EXPECT_FALSE(is_current(survivor.pool, block));
    EXPECT_EQ(survivor.pool.as<std::uint64_t>(slot), Link::mark(mark_empty, version).word);
}

// A record that is hidden, and that its eraser has not retired yet, was taken for one that nobody had finished, and freed under
// a view.
TEST_F(heap_after_deaths, keeps_what_is_hidden_as_long_as_there_is_a_view_of_it) {
    Attached survivor(path_);
    const std::uint64_t mine = survivor.pool.slot_index();
    dies_after([mine](Attached& dying) {
        dying.pool.runtime().slot(mine).rank = dying.make(4 * chunk_bytes).word;  // tells of it
    });
    const Link record{survivor.pool.slot().rank};
    ASSERT_TRUE(is_current(survivor.pool, record));
    const Extent extent = survivor.pool.as<TestRecord>(record.offset()).extent;
    survivor.heap.pins().pin(record);
    survivor.heap.hide(record.offset(), survivor.pool.as<RecordHeader>(record.offset()));
    EXPECT_FALSE(is_whole(survivor.pool, record.offset(), survivor.pool.room_in_chunk(record.offset())));
    EXPECT_FALSE(survivor.pool.scavenge_dead(survivor));
    EXPECT_TRUE(survivor.heap.is_taken(extent, record));
    survivor.heap.pins().unpin(record);
    EXPECT_TRUE(survivor.pool.scavenge_dead(survivor));
    EXPECT_FALSE(survivor.heap.is_taken(extent, record));
}

}  // namespace
}  // namespace pmemcpy::heap
