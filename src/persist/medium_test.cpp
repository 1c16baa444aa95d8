#include "persist/medium.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace pmemcpy;
using persist::Medium;
using persist::Operation;
using persist::Site;

TEST(persist, words_are_stored_exchanged_and_counted) {
    const Medium medium(Durability::none);
    alignas(8) std::uint64_t word = 0;
    medium.store(&word, 5);
    EXPECT_EQ(Medium::load(&word), 5u);
    std::uint64_t expected = 4;
    EXPECT_FALSE(medium.compare_exchange(&word, expected, 9));
    EXPECT_EQ(expected, 5u);
    EXPECT_TRUE(medium.compare_exchange(&word, expected, 9));
    EXPECT_EQ(medium.fetch_add(&word, 1), 9u);
    EXPECT_EQ(medium.fetch_and(&word, 2), 10u);
    EXPECT_EQ(medium.fetch_or(&word, 5), 2u);
    EXPECT_EQ(Medium::load(&word), 7u);
}

TEST(persist, only_line_media_are_flushed) {
    EXPECT_TRUE(Medium(Durability::line).flushes());
    for (const Durability durability : {Durability::none, Durability::page, Durability::byte}) {
        EXPECT_FALSE(Medium(durability).flushes());
    }
}

TEST(persist, flushing_and_fencing_keep_the_bytes) {
    const Medium medium(Durability::line);
    std::vector<char> bytes(1000);
    medium.write(bytes.data() + 1, "abc", 3);
    medium.fill(bytes.data() + 4, 'x', 900);
    medium.persist(bytes.data() + 1, 903);
    EXPECT_EQ(std::string_view(bytes.data() + 1, 4), "abcx");
    const std::string_view name = persist::flush_instruction();
    EXPECT_TRUE(name.starts_with("cl") || name.starts_with("dc ")) << name;
}

/// Writes down what it sees, and leaves out what it is told to.
struct Recorder : persist::TraceSink {
    void on_store(const void*, std::size_t size, const Site&) override { seen += "s" + std::to_string(size); }
    void on_bulk(const void*, std::size_t size, const Site&) override { seen += "b" + std::to_string(size); }
    void on_flush(const void*, std::size_t size, const Site&) override { seen += "f" + std::to_string(size); }
    void on_fence(const Site& site) override {
        seen += "|";
        fence_line = site.line();
    }
    void on_sync(const Site&) override { seen += "S"; }
    bool site_enabled(Operation operation, const Site&) override { return operation != left_out; }

    std::string seen;
    unsigned fence_line = 0;
    Operation left_out = Operation::store;
};

TEST(persist, a_trace_build_sees_every_operation_with_its_site_and_can_leave_one_out) {
    if constexpr (!persist::tracing) {
        GTEST_SKIP() << "not a trace build";
    } else {
        Recorder recorder;
        persist::set_trace_sink(&recorder);
        const Medium medium(Durability::none);
        std::uint64_t words[2] = {};
        medium.write(&words[1], "abcd", 4);
        medium.flush(&words[1], 4);
        medium.fence();
        const unsigned line = __LINE__ - 1;
        std::uint64_t expected = 1;
        (void)medium.compare_exchange(&words[0], expected, 2);
        medium.store(&words[0], 1);
        EXPECT_EQ(recorder.seen, "s4f4|s8");
        EXPECT_EQ(recorder.fence_line, line);
        recorder = {};
        recorder.left_out = Operation::fence;
        medium.persist(&words[0], 8);
        EXPECT_EQ(recorder.seen, "f8");
        os::File file = os::File::create_unnamed("/dev/shm/unnamed", 0600);
        medium.sync(file);
        recorder.left_out = Operation::sync;
        medium.sync(file);
        EXPECT_EQ(recorder.seen, "f8S");
        persist::set_trace_sink(nullptr);
    }
}

}  // namespace
