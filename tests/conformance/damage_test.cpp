// Bytes that change without anybody's doing: verify() and verify_loads find them.

#include <fstream>
#include <functional>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/repair.hpp>
#include <string>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

class damage : public PoolSuite {
protected:
    /// A process that scribbles over mapped memory: a view is const, and this one does not care.
    static void flip(const void* byte) { *static_cast<unsigned char*>(const_cast<void*>(byte)) ^= 0x10; }

    Options checked() const {
        Options chosen = options();
        chosen.verify_loads = true;
        return chosen;
    }
};
INSTANTIATE_TEST_SUITE_P(layouts, damage, layouts(), name_of_layout);

TEST_P(damage, verify_finds_a_flipped_byte_of_a_block) {
    open();
    pmem.alloc<int>("A", Dimensions{200, 100});
    const std::vector<int> data(10'000, 1);
    pmem.store<int>("A", data.data(), Box{{0, 0}, {100, 100}});
    pmem.store<int>("A", data.data(), Box{{100, 0}, {100, 100}});
    EXPECT_TRUE(pmem.verify().empty());
    flip(&pmem.view<int>("A", Box{{150, 50}, {1, 1}})[0]);
    const auto damages = pmem.verify();
    ASSERT_EQ(damages.size(), 1u);
    EXPECT_EQ(damages[0].id, "A");
    EXPECT_EQ(damages[0].box, Selection(Box({100, 0}, {100, 100})));
    EXPECT_NE(damages[0].what.find("checksum"), std::string::npos) << damages[0].what;
}

TEST_P(damage, verify_finds_a_flipped_byte_of_a_value_or_compressed_block) {
    open();
    pmem.store("g/v", std::string(10'000, 'v'));
    flip(pmem.view_bytes("g/v").data() + 5000);
    auto damages = pmem.verify();
    ASSERT_EQ(damages.size(), 1u);
    EXPECT_EQ(damages[0].id, "g/v");
    pmem.erase("g/v");
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(damage, verify_finds_a_flipped_byte_of_an_attribute) {
    open();
    std::string mark = "here is the attribute, and nowhere else";
    pmem.store("v", 1);
    pmem.set_attribute("v", "long", mark + std::string(10'000, 'l'));
    pmem.munmap();
    if (GetParam() != Layout::file) GTEST_SKIP() << "looks for the bytes in the one file";
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes(16 << 20, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.clear();
    const std::size_t at = bytes.find(mark);
    ASSERT_NE(at, std::string::npos);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('H');
    file.close();
    open();
    const auto damages = pmem.verify();
    ASSERT_EQ(damages.size(), 1u);
    EXPECT_EQ(damages[0].id, "v");
    EXPECT_NE(damages[0].what.find("long"), std::string::npos) << damages[0].what;
}

TEST_P(damage, checked_loads_say_corrupt_instead_of_wrong_data) {
    pmem.mmap(path(), checked());
    pmem.alloc<int>("A", Dimensions{10'000});
    const std::vector<int> data(10'000, 1);
    pmem.store<int>("A", data.data(), Box{{0}, {10'000}});
    pmem.store("v", std::string(10'000, 'v'));
    std::vector<int> back(10'000);
    pmem.load<int>("A", back.data(), Box{{0}, {10'000}});
    EXPECT_EQ(back, data);
    flip(&pmem.view<int>("A")[7777]);
    flip(pmem.view_bytes("v").data() + 9999);
    expect_error(Code::corrupt,
                 [&] {
                     pmem.load<int>("A", back.data(), Box{{0}, {10'000}});
                 },
                 {"'A'", "checksum"});
    expect_error(Code::corrupt, [&] { pmem.load<std::string>("v"); }, {"checksum"});
    pmem.store<int>("A", data.data(), Box{{0}, {10'000}});
    pmem.load<int>("A", back.data(), Box{{0}, {10'000}});
    EXPECT_EQ(back, data);
    if (!is_available(Codec::Kind::zstd)) return;
    pmem.alloc<int>("P", Dimensions{10'000});
    pmem.store<int>("P", data.data(), Box{{0}, {10'000}}, parse_codec("zstd"));
    pmem.load<int>("P", back.data(), Box{{0}, {10'000}});
    EXPECT_EQ(back, data);
}

TEST_P(damage, verify_tells_how_far_it_is) {
    open();
    for (int i = 0; i < 10; ++i) pmem.store("v" + std::to_string(i), std::string(100'000, 'v'));
    std::uint64_t last = 0;
    int calls = 0;
    pmem.verify([&](std::uint64_t done, std::uint64_t all) {
        EXPECT_GE(done, last);
        EXPECT_LE(done, all);
        EXPECT_GE(all, 1'000'000u);
        last = done;
        ++calls;
    });
    EXPECT_GE(calls, 10);
}

TEST_P(damage, a_reader_may_verify_too) {
    open();
    pmem.store("v", std::string(10'000, 'v'));
    PMEM reader;
    reader.mmap(path(), options(Mode::read));
    EXPECT_TRUE(reader.verify().empty());
    flip(pmem.view_bytes("v").data());
    EXPECT_EQ(reader.verify().size(), 1u);
}

class repairing : public damage {
protected:
    std::string records() const { return path() + (GetParam() == Layout::directory ? ".pool" : ""); }
    // As after a sync that the device refused (docs/format.md, PoolState).
    void latch() {
        std::fstream file(records(), std::ios::in | std::ios::out | std::ios::binary);
        const std::uint64_t one = 1;
        file.seekp(2 * 4096 + 448);
        file.write(reinterpret_cast<const char*>(&one), sizeof one);
    }
    void fill() {
        open();
        pmem.store("v", 42);
        pmem.store("g/long", std::string(100'000, 'l'));
        pmem.set_attribute("g/long", "units", "m");
        pmem.alloc<int>("A", Dimensions{200, 100});
        for (const std::uint64_t row : {0U, 100U})
            pmem.store<int>("A", numbers.data(), Box{{row, 0}, {100, 100}});
        pmem.munmap();
    }
    void expect_all() {
        EXPECT_EQ(pmem.load<int>("v"), 42);
        EXPECT_EQ(pmem.load<std::string>("g/long"), std::string(100'000, 'l'));
        EXPECT_EQ(pmem.get_attribute<std::string>("g/long", "units"), "m");
        std::vector<int> found(10'000);
        pmem.load<int>("A", found.data(), Box{{100, 0}, {100, 100}});
        EXPECT_EQ(found, numbers);
        EXPECT_EQ(pmem.blocks("A").size(), 2u);
    }
    const std::vector<int> numbers = std::vector<int>(10'000, 7);
};
INSTANTIATE_TEST_SUITE_P(layouts, repairing, layouts(), name_of_layout);

TEST_P(repairing, a_pool_whose_device_refused_a_sync_becomes_a_new_one) {
    fill();
    latch();
    for (const Mode mode : {Mode::create_or_update, Mode::update, Mode::read})
        expect_error(Code::io_error, [&] { pmem.mmap(path(), options(mode)); },
                     {"refused", "pmemcpy repair"});
    const Repair result = repair(path(), path("new"));
    EXPECT_EQ(result.variables, 3u);
    EXPECT_EQ(result.unreadable_bytes, 0u);
    EXPECT_TRUE(result.damages.empty());
    pmem.mmap(path("new"), options(Mode::update));
    expect_all();
    pmem.store("v", 43);
    pmem.munmap();
    pmem.mmap(path("new"), options(Mode::read));
    EXPECT_EQ(pmem.load<int>("v"), 43);
    EXPECT_TRUE(pmem.verify().empty());
}

TEST_P(repairing, leaves_out_what_is_damaged_and_tells) {
    fill();
    pmem.mmap(path(), options());
    flip(pmem.view_bytes("g/long").data() + 5000);
    pmem.munmap();
    latch();
    const Repair result = repair(path(), path("new"));
    EXPECT_EQ(result.variables, 2u);
    ASSERT_EQ(result.damages.size(), 1u);
    EXPECT_EQ(result.damages[0].id, "g/long");
    pmem.mmap(path("new"), options(Mode::read));
    EXPECT_TRUE(pmem.verify().empty());
    EXPECT_FALSE(pmem.exists("g/long"));
    EXPECT_EQ(pmem.load<int>("v"), 42);
}

TEST_P(repairing, leaves_out_a_damaged_block_and_keeps_the_others) {
    fill();
    pmem.mmap(path(), options());
    flip(&pmem.view<int>("A", Box{{150, 50}, {1, 1}})[0]);
    pmem.munmap();
    const Repair result = repair(path(), path("new"));
    EXPECT_EQ(result.variables, 3u);
    ASSERT_EQ(result.damages.size(), 1u);
    EXPECT_EQ(result.damages[0].id, "A");
    EXPECT_EQ(result.damages[0].box, Selection(Box({100, 0}, {100, 100})));
    pmem.mmap(path("new"), options(Mode::read));
    EXPECT_TRUE(pmem.verify().empty());
    std::vector<int> found(10'000);
    pmem.load<int>("A", found.data(), Box{{0, 0}, {100, 100}});
    EXPECT_EQ(found, numbers);
    expect_error(Code::not_found, [&] { pmem.load<int>("A", found.data(), Box{{100, 0}, {100, 100}}); });
}

TEST_P(repairing, copies_a_healthy_pool) {
    fill();
    EXPECT_EQ(repair(path(), path("new")).variables, 3u);
    pmem.mmap(path("new"), options(Mode::update));
    expect_all();
    PMEM old;
    old.mmap(path(), options(Mode::update));
    EXPECT_NE(old.info().uuid, pmem.info().uuid);
}

TEST_P(repairing, says_what_it_cannot_do) {
    expect_error(Code::not_found, [&] { repair(path(), path("new")); }, {"no pool"});
    fill();
    expect_error(Code::already_exists, [&] { repair(path(), path()); });
    expect_error(Code::invalid_argument, [&] { repair("", path("new")); });
    pmem.mmap(path(), options());
    expect_error(Code::busy, [&] { repair(path(), path("new")); }, {"in use"});
    EXPECT_FALSE(std::filesystem::exists(path("new")));
}

}  // namespace
}  // namespace pmemcpy::conformance
