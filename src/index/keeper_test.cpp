#include "index/keeper.hpp"

#include <fcntl.h>

#include <memory>
#include <optional>

#include "index/index_suite.hpp"
#include "os/lock.hpp"

namespace pmemcpy::index {
namespace {

constexpr std::uint64_t objects = 500;

/// By one process that keeps the index, without the thread of Index.
class kept_index : public index_beside_a_pool {
protected:
    kept_index() {
        PMEM made = open(IndexMode::async);
        for (std::uint64_t i = 0; i < objects; ++i) made.store("v" + std::to_string(i), i);
        made.munmap();
        remove_index();
        Options options;
        options.mode = Mode::read;
        reader_.mmap(path_, options);
        options.mode = Mode::update;
        store_ = store::Store::open(path_, options);
        keeper_.emplace(reader_, *store_, *store_, Generations(*store_), std::uint64_t{64} << 20);
    }
    std::uint64_t indexed() { return keeper_->engine()->read()->size(Table::objects); }

    PMEM reader_;
    std::shared_ptr<store::Store> store_;
    std::optional<Keeper> keeper_;
};

// The index that was begun after another was removed had that one's number again. A process that had begun to look at everything for the one
// called the other complete, though it had only the rest.
TEST_F(kept_index, is_not_complete_when_it_was_removed_while_all_was_looked_at) {
    int asked = 0;
    EXPECT_FALSE(keeper_->complete([&] {
        if (++asked == 3) remove_index();
        return false;
    }));
    EXPECT_LT(indexed(), objects);
    EXPECT_TRUE(keeper_->complete([] { return false; }));
    EXPECT_EQ(indexed(), objects);
}

TEST_F(kept_index, has_a_copy_in_each_generation) {
    const auto copy = [&] {
        const Generations generations(*store_);
        return generations.copy_path(generations.newest().value_or(0));
    };
    ASSERT_TRUE(keeper_->complete([] { return false; }));
    EXPECT_TRUE(keeper_->publish_copy());
    EXPECT_TRUE(std::filesystem::exists(copy()));
    remove_index();
    ASSERT_TRUE(keeper_->complete([] { return false; }));
    EXPECT_TRUE(keeper_->publish_copy());
    EXPECT_TRUE(std::filesystem::exists(copy()));
}

// Its passing name had the number of the process, which others have in other containers.
TEST_F(kept_index, is_copied_by_one_process_at_a_time) {
    ASSERT_TRUE(keeper_->complete([] { return false; }));
    os::File another = os::File::open(keeper_->lock_path(), O_RDWR);
    ASSERT_TRUE(os::try_lock(another, os::LockKind::exclusive, 0, 1));
    EXPECT_FALSE(keeper_->publish_copy());
    another.close();
    EXPECT_TRUE(keeper_->publish_copy());
}

}  // namespace
}  // namespace pmemcpy::index
