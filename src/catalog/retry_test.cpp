#include "catalog/retry.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/folder.hpp"
#include "tests/inside.hpp"

#include <pmemcpy/pmemcpy.hpp>

namespace pmemcpy::catalog {
namespace {

class RetryTest : public ::testing::Test {
protected:
    RetryTest() {
        {
            PMEM pmem;
            pmem.mmap(folder_ / "pool");
            pmem.store("a", 1);
        }
        inside_.emplace(folder_ / "pool");
    }
    Link record() { return *inside_->catalog().find("a"); }
    pool::Pool& pool() { return inside_->pool(); }

    const Folder folder_;
    std::optional<Inside> inside_;
};

// It took 256 tries in more than 50 ms for damage; a load beside four writers needed more.
TEST_F(RetryTest, calls_no_number_of_tries_damage) {
    Retry retry("a");
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(retry.once_more());
}

TEST_F(RetryTest, calls_a_record_damaged_to_which_the_same_word_leads_twice) {
    Retry retry("a");
    retry.doubt(pool(), record());
    EXPECT_TRUE(retry.once_more());
    retry.doubt(pool(), record());
    EXPECT_FALSE(retry.once_more());
    try {
        Retry throwing("a");
        for (int i = 0; i < 2; ++i) {
            throwing.doubt(pool(), record());
            throwing.again();
        }
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::corrupt);
    }
}

TEST_F(RetryTest, calls_no_record_damaged_while_the_words_that_lead_to_one_move) {
    Retry retry("a");
    const Link other = Link::to(record().offset(), 77);
    for (int i = 0; i < 300; ++i) {
        retry.doubt(pool(), i % 2 == 0 ? record() : other);
        ASSERT_TRUE(retry.once_more());
    }
}

TEST_F(RetryTest, calls_no_record_damaged_that_made_sense_in_between) {
    Retry retry("a");
    for (int i = 0; i < 300; ++i) {
        if (i % 2 == 0) retry.doubt(pool(), record());
        ASSERT_TRUE(retry.once_more());
    }
}

TEST_F(RetryTest, calls_no_record_damaged_while_its_bytes_change) {
    Retry retry("a");
    const Link there = record();
    auto& version = pool().as<heap::RecordHeader>(there.offset()).version;
    const std::uint64_t was = version;
    for (int i = 0; i < 300; ++i) {
        retry.doubt(pool(), there);
        ASSERT_TRUE(retry.once_more());
        ++version;
    }
    version = was;
}

// A store of a name that others store and erase was given an entry that was gone before its word was read, twice: that of a unit that is
// free, or of a draft in it, is the same each time. And a group that was to be made could come into such a draft.
TEST_F(RetryTest, is_given_no_word_of_what_has_been_freed) {
    const Link gone = record();
    EXPECT_TRUE(inside_->catalog().current_word(gone).has_value());
    inside_->catalog().erase(gone, "a");
    ASSERT_TRUE(inside_->scavenge());
    EXPECT_FALSE(inside_->catalog().current_word(gone).has_value());
    PMEM pmem;
    pmem.mmap(folder_ / "pool");
    pmem.store("a", 2);
    EXPECT_FALSE(inside_->catalog().current_word(gone).has_value()) << "another may have come into the place";
}

TEST_F(RetryTest, calls_a_word_damaged_that_leads_out_of_the_pool) {
    Retry retry("a");
    const Link nowhere = Link::to(pool().super().max_bytes, 1);
    retry.doubt(pool(), nowhere);
    EXPECT_TRUE(retry.once_more());
    retry.doubt(pool(), nowhere);
    EXPECT_FALSE(retry.once_more());
}

}  // namespace
}  // namespace pmemcpy::catalog
