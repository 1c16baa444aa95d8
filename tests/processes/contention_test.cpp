// Everybody does everything to the same few variables, while some die and others clean up after them. What a verb may say
// then is that something is there, is not there or is something else; what it reads is what somebody has stored, whole.

#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Options;
using pmemcpy::PMEM;

constexpr std::uint64_t names = 5;
constexpr std::uint64_t columns = 40;
constexpr std::size_t crowd = 4;
constexpr std::uint64_t verbs = 18, verbs_under_the_promise = 15, step_verb = 14;

struct Board {
    Word stop;
    Word done;
    Word failures;
    char message[400];
};

std::string name(std::uint64_t k) {
    return (k % 2 == 0 ? "group/" : "") + std::string("v") + std::to_string(k);
}

using Words = std::vector<std::uint64_t>;

// As many words as each of them says, so that a torn one shows.
Words content(std::uint64_t state) {
    const std::uint64_t length = 1 + state % 7 * (state % 3 == 0 ? 300 : 3);
    return Words(length, state);
}

class Member {
public:
    Member(PMEM& pmem, const Shared<Board>& board, std::uint64_t seed, std::uint64_t of_verbs)
        : pmem_(pmem), board_(board), random_(seed), verbs_(of_verbs) {}

    void go_on() {
        while (board_->stop == 0) {
            const std::uint64_t verb = random_() % verbs_;
            const std::string id = name(random_() % names);
            try {
                act(verb, id);
            } catch (const Error& error) {
                if (!is_expected(error.kind()))
                    fail("verb " + std::to_string(verb) + " of " + id + ": " + error.what());
            }
            ++board_->done;
        }
    }

private:
    // A step that another has committed meanwhile, or that somebody has died in; and in one nothing is erased.
    static bool is_expected(Code code) {
        return code == Code::not_found || code == Code::already_exists || code == Code::type_mismatch ||
               code == Code::busy || code == Code::invalid_argument || code == Code::unsupported;
    }

    void act(std::uint64_t verb, const std::string& id) {
        switch (verb) {
            case 0:
            case 1:
                return pmem_.store(id, content(random_()));
            case 2:
                return pmem_.alloc<std::uint64_t>(id, {3, columns});
            case 3: {
                const Words row(columns, random_());
                return pmem_.store(id, row.data(), Box{{random_() % 3, 0}, {1, columns}});
            }
            case 4:
                return pmem_.erase(id);
            case 5:
                return pmem_.rename(id, name(random_() % names));
            case 6:
                return pmem_.set_attribute(id, random_() % 2 == 0 ? "a" : "b", content(random_()));
            case 7:
                return pmem_.remove_attribute(id, random_() % 2 == 0 ? "a" : "b");
            case 8:
                return expect_content(pmem_.get_attribute<Words>(id, "a"), "an attribute of " + id);
            case 9:
                return expect_content(pmem_.load<Words>(id), id);
            case 10: {
                Words row(columns);
                pmem_.load(id, row.data(), Box{{random_() % 3, 0}, {1, columns}});
                return expect_same(row, "a row of " + id);
            }
            case 11: {
                const auto view = pmem_.view<std::uint64_t>(id, Box{{random_() % 3, 0}, {1, columns}});
                const Words first(view.begin(), view.end());
                expect_same(first, "a view of " + id);
                sleep_us(random_() % 300);
                if (!std::equal(view.begin(), view.end(), first.begin()))
                    fail("a view of " + id + " has changed");
                return;
            }
            case 12: {
                const auto info = pmem_.info(id);
                if (info.id != id) fail("the info of " + id + " is of " + info.id);
                return;
            }
            case step_verb: {
                const std::uint64_t step = pmem_.info().committed_step + 1;
                pmem_.begin(step);
                for (int stores = 0; stores < 3; ++stores) {
                    try {
                        act(random_() % 4, name(random_() % names));
                    } catch (const Error& error) {
                        if (!is_expected(error.kind())) throw;
                    }
                }
                return pmem_.commit(step);
            }
            case 15: {  // of another type, so that nobody looks at it as at what is under the promise
                pmemcpy::ArrayOptions options;
                options.contiguous = true;
                return pmem_.alloc<std::int64_t>(id, {3, columns}, options);
            }
            case 16: {
                const std::vector<std::int64_t> row(columns, static_cast<std::int64_t>(random_()));
                return pmem_.store(id, row.data(), Box{{random_() % 3, 0}, {1, columns}});
            }
            case 17: {
                const auto update = pmem_.update<std::int64_t>(id, Box{{random_() % 3, 0}, {1, columns}});
                for (int times = 0; times < 3; ++times) {
                    std::fill(update.begin(), update.end(), static_cast<std::int64_t>(random_()));
                    sleep_us(random_() % 100);
                }
                return;
            }
            default:
                for (const std::string& found : pmem_.ids()) {
                    if (found.find('v') == std::string::npos) fail("there is an id '" + found + "'");
                }
                static_cast<void>(pmem_.exists(id));
                static_cast<void>(pmem_.attributes(id));
                if (random_() % 16 == 0) pmem_.erase("group");
                return;
        }
    }

    void expect_same(const Words& words, const std::string& what) {
        if (!std::equal(words.begin() + 1, words.end(), words.begin())) fail(what + " is torn");
    }
    void expect_content(const Words& words, const std::string& what) {
        if (words.empty() || words != content(words[0])) fail(what + " is torn");
    }
    void fail(const std::string& what) {
        if (board_->failures.fetch_add(1) == 0) what.copy(board_->message, sizeof board_->message - 1);
    }

    PMEM& pmem_;
    const Shared<Board>& board_;
    std::mt19937_64 random_;
    std::uint64_t verbs_;
};

int contend(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    Member(pmem, board, std::stoull(arguments[2]), verbs).go_on();
    return 0;
}
const Job contend_job("contend", contend);

class Contention : public ::testing::Test {
protected:
    void SetUp() override {
        Options options;
        options.max_bytes = 64 << 20;
        options.chunk_bytes = 16 << 10;
        pmem_.mmap(folder_ / "pool", options);
    }
    Worker start() {
        return Worker("contend", {folder_ / "pool", folder_ / "board", std::to_string(random_())});
    }
    // True when that many more calls have been made, or somebody has failed.
    bool wait_for_calls(std::uint64_t calls) {
        const std::uint64_t before = board_->done;
        return wait_until([&] { return board_->done > before + calls || has_failed(); });
    }
    bool has_failed() {
        return board_->failures != 0 ||
               !std::all_of(workers_.begin(), workers_.end(), [](Worker& w) { return w.is_running(); });
    }
    void run(int rounds, std::uint64_t calls, bool with_deaths) {
        for (std::size_t i = 0; i < crowd; ++i) workers_.push_back(start());
        Inside inside(folder_ / "pool");
        for (int round = 0; round < rounds && !has_failed(); ++round) {
            EXPECT_TRUE(wait_for_calls(calls));
            if (!with_deaths) continue;
            Worker& victim = workers_[random_() % crowd];
            victim.kill();
            victim = start();
            inside.scavenge();
        }
        EXPECT_FALSE(has_failed());
        board_->stop = 1;
        for (Worker& worker : workers_) EXPECT_EQ(worker.wait(), 0);
        EXPECT_TRUE(inside.scavenge());
        expect_all_whole(inside);
    }
    // That share one handle, and with it what a process knows of the pool. Two that fill one array in place race by
    // themselves, so they leave that.
    void run_threads(std::uint64_t calls) {
        const PutOff put_off;
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < crowd; ++i)
            threads.emplace_back(
                [this, seed = random_()] { Member(pmem_, board_, seed, verbs_under_the_promise).go_on(); });
        EXPECT_TRUE(wait_for_calls(calls));
        board_->stop = 1;
        for (std::thread& thread : threads) thread.join();
        pmem_.trim();
        Inside inside(folder_ / "pool");
        expect_all_whole(inside);
    }
    void expect_all_whole(Inside& inside) {
        EXPECT_EQ(board_->failures, 0u) << board_->message;
        const auto audit = inside.audit();
        expect_clean(audit);
        EXPECT_EQ(audit.undefined_entries, 0u);
        for (const auto& damage : pmem_.verify())
            ADD_FAILURE() << damage.id << " " << to_string(damage.box) << ": " << damage.what;
    }
    // What a step has left that nobody committed goes with the next one.
    void expect_that_all_can_go_after_a_step() {
        const std::uint64_t step = pmem_.info().committed_step + 1;
        pmem_.begin(step);
        pmem_.commit(step);
        expect_that_all_can_go(pmem_);
    }

private:
    const Folder folder_;
    const Shared<Board> board_{folder_ / "board"};
    std::mt19937_64 random_{seed()};
    std::vector<Worker> workers_;
    PMEM pmem_;  // of somebody who has the pool open all the time
};

TEST_F(Contention, of_the_living_leaves_all_whole) {
    run(is_long() ? 10'000 : 50, 1000, false);
    expect_that_all_can_go_after_a_step();
}

TEST_F(Contention, of_threads_leaves_all_whole) {
    run_threads(is_long() ? 1'000'000 : 20'000);
    expect_that_all_can_go_after_a_step();
}

TEST_F(Contention, with_deaths_leaves_all_whole) {
    run(is_long() ? 10'000 : 150, 40, true);
    expect_that_all_can_go_after_a_step();
}

}  // namespace
