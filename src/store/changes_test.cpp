#include "store/changes.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace pmemcpy::store {
namespace {

using Ids = std::vector<std::string>;

class changes : public testing::Test {
protected:
    changes() {
        Options options;
        options.max_bytes = 16 << 20;
        pool_.mmap(here_ / "pool", options);
        pool_.alloc<double>("u", {4});
        store();
        changed_.emplace(Store::open(here_ / "pool", options));
        take();
    }
    void store() {
        const double value = 1;
        pool_.store<double>("u", &value, Box{{1}, {1}});
    }
    Ids take() {
        Ids ids;
        changed_->take(ids);
        return ids;
    }

    Folder here_;
    PMEM pool_;
    std::optional<Changed> changed_;
};

// Whoever followed a pool looked at an array once for each store into it.
TEST_F(changes, of_one_array_are_taken_once) {
    for (int i = 0; i < 100; ++i) store();
    EXPECT_EQ(take(), Ids{"u"});
    EXPECT_EQ(take(), Ids{});
}

TEST_F(changes, of_one_array_in_a_step_are_taken_once_when_it_is_committed) {
    pool_.begin(1);
    for (int i = 0; i < 5; ++i) {
        for (int j = 0; j < 10; ++j) store();
        EXPECT_EQ(take(), Ids{"u"});
    }
    pool_.commit(1);
    EXPECT_EQ(take(), Ids{"u"});
    EXPECT_EQ(take(), Ids{});
}

}  // namespace
}  // namespace pmemcpy::store
