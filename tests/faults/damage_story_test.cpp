// Damage that was once taken for something else, each told by its smallest example.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>

#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/repair.hpp>

#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::faults {
namespace {

class DamageStory : public ::testing::Test {
protected:
    std::string path() const { return folder_ / "pool"; }
    Options options(Mode mode, bool checked = false) const {
        Options options;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = chunk_bytes_;
        options.mode = mode;
        options.verify_loads = checked;
        return options;
    }
    void make(const std::function<void(PMEM&)>& fill) {
        PMEM pmem;
        pmem.mmap(path(), options(Mode::exclusive));
        fill(pmem);
    }
    /// Finds a place in the pool, with the records at hand, and turns over a bit of the byte there.
    void flip(const std::function<std::uint64_t(Inside&)>& find) {
        std::uint64_t at = 0;
        {
            Inside inside(path());
            at = find(inside);
        }
        flip(at);
    }
    void flip(std::uint64_t at) {
        os::File file = os::File::open(path(), O_RDWR);
        unsigned char byte = 0;
        file.read_exactly(&byte, 1, at);
        byte ^= 4;
        file.write_exactly(&byte, 1, at);
    }
    static heap::Link definition(Inside& inside, const std::string& id) {
        return *inside.catalog().definition(*inside.catalog().find(id));
    }
    static Code kind_of_error(const std::function<void()>& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.kind();
        }
        ADD_FAILURE() << "no error";
        return Code::invalid_argument;
    }

    std::uint64_t chunk_bytes_ = 4096;
    Folder folder_;
};

// The record of the newer of two blocks was damaged. A load of their common part found the older one, and gave that.
// A checked load of an array with a damaged record says so now.
TEST_F(DamageStory, a_checked_load_does_not_give_what_lay_below_a_damaged_block) {
    make([](PMEM& pmem) {
        const std::vector<int> old(100, 1);
        const std::vector<int> fresh(60, 2);
        pmem.alloc<int>("A", Dimensions{100});
        pmem.store<int>("A", old.data(), Box{{0}, {100}});
        pmem.store<int>("A", fresh.data(), Box{{0}, {60}});
    });
    flip([](Inside& inside) {
        const auto& array = inside.pool().as<catalog::Array>(definition(inside, "A").offset());
        const std::uint64_t segment = heap::Link{array.header.word}.offset();
        const auto* slots =
            reinterpret_cast<const std::uint64_t*>(&inside.pool().as<catalog::Segment>(segment) + 1);
        return heap::Link{slots[1]}.offset() + offsetof(catalog::Block, crc);
    });
    PMEM pmem;
    pmem.mmap(path(), options(Mode::read, true));
    std::vector<int> found(60);
    EXPECT_EQ(kind_of_error([&] { pmem.load<int>("A", found.data(), Box{{0}, {60}}); }), Code::corrupt);
}

// A bit of the committed step was turned over. The pool's mark did not fit any more, which was taken for a crash, and
// recovery threw away what the step had stored. Words that do not fit their mark are damage now, and repair finds the step.
TEST_F(DamageStory, a_damaged_step_number_loses_no_step) {
    make([](PMEM& pmem) {
        for (const std::uint64_t step : {3U, 4U}) {
            pmem.begin(step);
            pmem.store("v", static_cast<int>(step));
            pmem.commit(step);
        }
    });
    flip(pool::state_offset + offsetof(pool::PoolState, committed_step));  // 4 becomes 0
    PMEM pmem;
    for (const Mode mode : {Mode::read, Mode::update})
        EXPECT_EQ(kind_of_error([&] { pmem.mmap(path(), options(mode)); }), Code::corrupt);
    repair(path(), path() + ".new");
    pmem.mmap(path() + ".new", options(Mode::read));
    EXPECT_EQ(pmem.load<int>("v"), 4);
    EXPECT_EQ(pmem.info().committed_step, 4u);
}

// The head of a slab was damaged. Recovery skips such a slab, so that repair lost all records in it, though they were
// whole. Repair finds what the head must have said from the records now.
TEST_F(DamageStory, a_damaged_head_of_a_slab_costs_no_record) {
    chunk_bytes_ = 64 << 10;
    make([](PMEM& pmem) {
        for (int i = 0; i < 100; ++i) pmem.store("v" + std::to_string(i), i);
    });
    for (const std::uint64_t where : {offsetof(heap::SlabHeader, units), offsetof(heap::SlabHeader, magic)}) {
        flip([&](Inside& inside) {
            const std::uint64_t chunk = inside.pool().chunk_of(definition(inside, "v0").offset());
            return inside.pool().chunk_offset(chunk) + where;
        });
        const Repair result = repair(path(), path() + ".new");
        EXPECT_EQ(result.variables, 100u);
        EXPECT_EQ(result.damages.size(), 1u);
        PMEM pmem;
        pmem.mmap(path() + ".new", options(Mode::update));
        EXPECT_TRUE(pmem.verify().empty());
        for (int i = 0; i < 100; ++i) EXPECT_EQ(pmem.load<int>("v" + std::to_string(i)), i);
        pmem.munmap();
        std::filesystem::remove(path());
        std::filesystem::rename(path() + ".new", path());
    }
}

// The chunk table said of a slab that it was free, and recovery believed it.
TEST_F(DamageStory, a_damaged_chunk_table_costs_no_record) {
    make([](PMEM& pmem) { pmem.store("v", std::string(300, 'v')); });
    os::File file = os::File::open(path(), O_RDWR);
    const std::vector<std::byte> zeros(pool::page_bytes);
    file.write_exactly(zeros.data(), zeros.size(), pool::chunk_table_offset);
    {
        PMEM pmem;
        pmem.mmap(path(), options(Mode::read));
        EXPECT_EQ(pmem.verify().size(), 1u);
    }
    EXPECT_EQ(repair(path(), path() + ".new").variables, 1u);
    PMEM pmem;
    pmem.mmap(path() + ".new", options(Mode::read));
    EXPECT_EQ(pmem.load<std::string>("v"), std::string(300, 'v'));
}

// One entry was damaged, and verify ended with an error where it met the entry. It names what is damaged, and what cannot be
// found because of it, and goes on now; repair brings the others back, and the variable whose id is lost under another one.
TEST_F(DamageStory, one_damaged_entry_does_not_hide_the_rest) {
    make([](PMEM& pmem) {
        for (int i = 0; i < 200; ++i) pmem.store("v" + std::to_string(i), i);
    });
    flip([](Inside& inside) { return inside.catalog().find("v7")->offset() + sizeof(catalog::Entry); });
    PMEM pmem;
    pmem.mmap(path(), options(Mode::read));
    EXPECT_FALSE(pmem.verify().empty());
    pmem.munmap();
    const Repair result = repair(path(), path() + ".new");
    EXPECT_EQ(result.variables, 200u);
    pmem.mmap(path() + ".new", options(Mode::read));
    EXPECT_EQ(pmem.ids("v").size(), 199u);
    ASSERT_EQ(pmem.ids("lost+found/").size(), 1u);
    EXPECT_EQ(pmem.load<int>(pmem.ids("lost+found/")[0]), 7);
    EXPECT_TRUE(pmem.verify().empty());
}

// An attribute's entry was damaged so that nothing of it could be known, and repair did not say whose it was.
TEST_F(DamageStory, an_attribute_that_is_lost_with_its_name_is_told_of) {
    for (const char* lost : {"first", "second"}) {
        make([](PMEM& pmem) {
            pmem.store("v", 1);
            pmem.set_attribute("v", "first", 1);
            pmem.set_attribute("v", "second", 2);
        });
        std::uint64_t at = 0;
        {
            Inside inside(path());
            at = inside.catalog().find_attribute(*inside.catalog().find("v"), lost)->offset();
        }
        os::File file = os::File::open(path(), O_RDWR);
        const std::vector<std::byte> junk(sizeof(catalog::Entry) + 5, std::byte{0x5a});
        file.write_exactly(junk.data(), junk.size(), at);
        const Repair result = repair(path(), path() + ".new");
        const bool is_told = std::any_of(result.damages.begin(), result.damages.end(),
                                         [](const Damage& damage) { return damage.id == "v"; });
        EXPECT_TRUE(is_told) << lost;
        PMEM pmem;
        pmem.mmap(path() + ".new", options(Mode::read));
        EXPECT_EQ(pmem.load<int>("v"), 1);
        EXPECT_EQ(pmem.attributes("v").size(), 1U);
        pmem.munmap();
        std::filesystem::remove(path() + ".new");
        std::filesystem::remove(path());
    }
}

// The first entry of a renamed variable was damaged, and verify said nothing, or that the first name could not be found.
TEST_F(DamageStory, a_renamed_variable_is_told_of_by_its_name) {
    make([](PMEM& pmem) {
        pmem.store("before", 1);
        pmem.rename("before", "after");
    });
    flip(
        [](Inside& inside) { return inside.catalog().find("after")->offset() + sizeof(catalog::Entry) + 8; });
    PMEM pmem;
    pmem.mmap(path(), options(Mode::read));
    const std::vector<Damage> damages = pmem.verify();
    ASSERT_EQ(damages.size(), 1U);
    EXPECT_EQ(damages[0].id, "after") << damages[0].what;
}

// The directory of an array's blocks was damaged, and with it repair lost them all.
TEST_F(DamageStory, a_damaged_directory_costs_no_block) {
    const std::vector<double> row(100, 3);
    make([&](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{30, 100});
        for (std::uint64_t i = 0; i < 30; ++i) pmem.store<double>("A", row.data(), Box{{i, 0}, {1, 100}});
    });
    flip([](Inside& inside) {
        const auto& array = inside.pool().as<catalog::Array>(definition(inside, "A").offset());
        return heap::Link{array.header.word}.offset() + offsetof(heap::RecordHeader, version);
    });
    const Repair result = repair(path(), path() + ".new");
    EXPECT_FALSE(result.damages.empty());
    PMEM pmem;
    pmem.mmap(path() + ".new", options(Mode::update, true));
    std::vector<double> found(3000);
    pmem.load<double>("A", found.data(), Box{{0, 0}, {30, 100}});
    EXPECT_EQ(found, std::vector<double>(3000, 3));
    pmem.store<double>("A", row.data(), Box{{0, 0}, {1, 100}});
    EXPECT_TRUE(pmem.verify().empty());
}

}  // namespace
}  // namespace pmemcpy::faults
