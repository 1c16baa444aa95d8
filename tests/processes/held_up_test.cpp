// Processes that are stopped in the middle of a verb, as by SIGSTOP, a debugger or a machine that gives them no processor,
// or that have died there and nobody has cleaned up yet. However long that lasts, others find what is there, and see no damage.

#include <csignal>

#include "base/hash.hpp"
#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;
using pmemcpy::heap::Link;
using pmemcpy::persist::Medium;
using pmemcpy::pool::Intent;

struct Board {
    Word done;
};

using Words = std::vector<std::uint64_t>;
const Words content(100, 7);

int rename_for_ever(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    for (bool is_a = pmem.exists("a");; is_a = !is_a) {
        pmem.rename(is_a ? "a" : "b", is_a ? "b" : "a");
        board->done.fetch_add(1);
    }
}
const Job rename_for_ever_job("rename_for_ever", rename_for_ever);

int erase_for_ever(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    for (;;) {
        pmem.store("c", content);
        pmem.set_attribute("c", "about", content);
        pmem.erase("c");
        board->done.fetch_add(1);
    }
}
const Job erase_for_ever_job("erase_for_ever", erase_for_ever);

class HeldUp : public ::testing::TestWithParam<Mode> {
protected:
    HeldUp() {
        Options options;
        options.max_bytes = 64 << 20;
        options.chunk_bytes = 16 << 10;
        pmem_.mmap(folder_ / "pool", options);
        pmem_.store("a", content);
        options.mode = GetParam();
        reader_.mmap(folder_ / "pool", options);
    }
    Worker start(const std::string& job) {
        const std::uint64_t done = board_->done;
        Worker worker(job, Arguments{folder_ / "pool", folder_ / "board"});
        EXPECT_TRUE(wait_until([&] { return board_->done > done + 10; }));
        return worker;
    }
    // Whether a process has said that it is in the middle of this.
    bool is_in(Inside& inside, Intent intent) {
        for (std::uint64_t i = 0; i < pmemcpy::pool::slot_count; ++i) {
            if (Medium::load(&inside.pool().runtime().slot(i).intent) == static_cast<std::uint64_t>(intent))
                return true;
        }
        return false;
    }
    // Stops the process at a moment that nobody has chosen, looks around, and lets it go on; until it was in the middle often.
    template <class F>
    void hold_again_and_again(const std::string& job, Intent intent, F&& look) {
        Inside inside(folder_ / "pool");
        Worker worker = start(job);
        int caught = 0;
        for (int round = 0; caught < (is_long() ? 2000 : 60) && round < 100'000; ++round) {
            sleep_us(random_() % 500);
            ASSERT_TRUE(worker.stop());
            if (is_in(inside, intent)) {
                ++caught;
                look();
                for (const auto& damage : reader_.verify()) ADD_FAILURE() << damage.id << ": " << damage.what;
            }
            worker.go_on();
            if (HasFailure()) return;
        }
        EXPECT_GT(caught, 10);
    }

    const Folder folder_;
    const Shared<Board> board_{folder_ / "board"};
    std::mt19937_64 random_{seed()};
    PMEM pmem_;
    PMEM reader_;
};

// Verify gave a new name that was not valid yet, or an old one that was not any more, 50 ms; then it said that the record it names has
// another name, and that to be damage.
TEST_P(HeldUp, in_a_rename_leaves_one_name_and_no_damage) {
    hold_again_and_again("rename_for_ever", Intent::rename, [&] {
        const bool is_a = reader_.exists("a");
        EXPECT_NE(is_a, reader_.exists("b"));
        EXPECT_EQ(reader_.load<Words>(is_a ? "a" : "b"), content);
        EXPECT_EQ(reader_.ids(), std::vector<std::string>{is_a ? "a" : "b"});
    });
}

TEST_P(HeldUp, in_an_erase_leaves_nothing_half_and_no_damage) {
    hold_again_and_again("erase_for_ever", Intent::erase, [&] {
        if (reader_.exists("c")) {
            EXPECT_EQ(reader_.load<Words>("c"), content);
        }
        EXPECT_EQ(reader_.load<Words>("a"), content);
    });
}

// The name that a dead process was about to give, of a variable that another has erased since, leads to what is gone. A look for it was
// said to have found damage.
TEST_P(HeldUp, for_good_before_a_rename_leaves_a_name_that_is_free) {
    Inside inside(folder_ / "pool");
    auto& pool = inside.pool();
    const auto is_in_chain = [&](const std::string& id, Link name) {
        const std::uint64_t bucket = pmemcpy::base::xxh3_64(id) & (pool.super().bucket_count - 1);
        Link link{Medium::load(&pool.as<std::uint64_t>(pool.super().bucket_offset + 8 * bucket))};
        while (link.is_record() && link != name)
            link = {Medium::load(&pool.as<pmemcpy::heap::RecordHeader>(link.offset()).next.word)};
        return link == name;
    };
    // It dies where a stop has caught it: a kill at a moment that nobody has chosen met the moment too seldom in a slow build.
    Worker worker = start("rename_for_ever");
    for (int round = 0; round < 100'000; ++round) {
        sleep_us(random_() % 500);
        ASSERT_TRUE(worker.stop());
        const std::string from = pmem_.exists("a") ? "a" : "b";
        const std::string to = from == "a" ? "b" : "a";
        Link name{};
        for (std::uint64_t i = 0; i < pmemcpy::pool::slot_count; ++i) {
            const auto& slot = pool.runtime().slot(i);
            if (slot.intent == static_cast<std::uint64_t>(Intent::rename)) name = {slot.intent_b};
        }
        if (!name.is_record() || !is_in_chain(to, name)) {
            worker.go_on();
            continue;
        }
        worker.kill();
        pmem_.erase(from);
        ASSERT_TRUE(is_in_chain(to, name));
        EXPECT_FALSE(reader_.exists(to));
        expect_error(Code::not_found, [&] { reader_.load<Words>(to); });
        for (const auto& damage : reader_.verify()) ADD_FAILURE() << damage.id << ": " << damage.what;
        pmem_.store(to, content);
        EXPECT_EQ(reader_.load<Words>(to), content);
        EXPECT_TRUE(inside.scavenge());
        EXPECT_EQ(reader_.load<Words>(to), content);
        EXPECT_TRUE(reader_.verify().empty());
        expect_clean(inside.audit());
        return;
    }
    ADD_FAILURE() << "no process was stopped between the name and the word that makes it one";
}

INSTANTIATE_TEST_SUITE_P(processes, HeldUp, ::testing::Values(Mode::update, Mode::read),
                         [](const auto& which) {
                             return which.param == Mode::read ? "seen_by_a_mere_reader" : "seen_by_a_writer";
                         });

}  // namespace
