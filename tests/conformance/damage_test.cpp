// Bytes that change without anybody's doing: verify() and verify_loads find them.

#include <fstream>
#include <functional>
#include <pmemcpy/pmemcpy.hpp>
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

}  // namespace
}  // namespace pmemcpy::conformance
