// Renaming while others rename, erase and store the same variables, die in the middle, and are cleaned up after.

#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Options;
using pmemcpy::PMEM;

constexpr std::uint64_t variables = 12;

struct Board {
    Word stop;
    Word done;
};

/// One of the two names of variable `k`.
std::string name(std::uint64_t k, std::uint64_t which) {
    return (which % 2 == 0 ? "even/" : "odd/") + std::to_string(k);
}

void store(PMEM& pmem, std::uint64_t k) { pmem.store(name(k, 0), std::vector<std::uint64_t>(100, k)); }

// False where another process was faster.
template <class F>
bool try_it(F&& f) {
    try {
        f();
        return true;
    } catch (const Error& error) {
        const bool is_expected = error.kind() == Code::not_found || error.kind() == Code::already_exists ||
                                 error.kind() == Code::busy;
        if (!is_expected) throw;
        return false;
    }
}

// With a third argument it erases too, and stores anew.
int keep_renaming(const Arguments& arguments) {
    const Shared<Board> board(arguments[1]);
    std::mt19937_64 random(std::stoull(arguments[2]));
    const bool erases = arguments.size() > 3;
    PMEM pmem;
    pmem.mmap(arguments[0]);
    while (board->stop == 0) {
        const std::uint64_t k = random() % variables;
        const std::uint64_t which = random() % 2;
        if (!erases || random() % 4 != 0) {
            try_it([&] { pmem.rename(name(k, which), name(k, which + 1)); });
        } else if (try_it([&] { pmem.erase(name(k, which)); })) {
            store(pmem, k);
        }
        ++board->done;
    }
    return 0;
}
const Job keep_renaming_job("keep_renaming", keep_renaming);

class Renaming : public ::testing::Test {
protected:
    void SetUp() override {
        Options options;
        options.max_bytes = 64 << 20;
        options.chunk_bytes = 16 << 10;
        pmem.mmap(folder / "pool", options);
        for (std::uint64_t k = 0; k < variables; ++k) store(pmem, k);
    }
    Worker start(bool erases) {
        Arguments arguments{folder / "pool", folder / "board", std::to_string(random())};
        if (erases) arguments.emplace_back("erases");
        return Worker("keep_renaming", arguments);
    }
    // Of some processes that do it at once, now and then one dies; somebody else looks after the dead all the time.
    void run(bool erases) {
        std::vector<Worker> workers;
        for (int i = 0; i < 3; ++i) workers.push_back(start(erases));
        Inside inside(folder / "pool");
        const int deaths = is_long() ? 5000 : 100;
        for (int death = 0; death < deaths; ++death) {
            const std::uint64_t done = board->done;
            const auto are_running = [&] {
                return std::all_of(workers.begin(), workers.end(), [](Worker& w) { return w.is_running(); });
            };
            EXPECT_TRUE(wait_until([&] { return board->done > done + 20 || !are_running(); }));
            ASSERT_TRUE(are_running());
            Worker& victim = workers[random() % workers.size()];
            victim.kill();
            victim = start(erases);
            inside.scavenge();
        }
        board->stop = 1;
        for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
        EXPECT_TRUE(inside.scavenge());
        const auto audit = inside.audit();
        expect_clean(audit);
        EXPECT_EQ(audit.undefined_entries, 0u);
        EXPECT_TRUE(pmem.verify().empty());
    }
    // How many names a variable has; what it is under each of them is looked at.
    std::size_t count_names(std::uint64_t k) const {
        std::size_t names = 0;
        for (const std::uint64_t which : {0U, 1U}) {
            if (!pmem.exists(name(k, which))) continue;
            ++names;
            EXPECT_EQ(pmem.load<std::vector<std::uint64_t>>(name(k, which)),
                      std::vector<std::uint64_t>(100, k));
        }
        return names;
    }
    const Folder folder;
    const Shared<Board> board{folder / "board"};
    std::mt19937_64 random{seed()};
    PMEM pmem;  // of somebody who has the pool open all the time
};

// A record that the dead had made was called unreachable while another process was just taking its name from it: its space
// was given out while the chain of names still led there.
TEST_F(Renaming, beside_deaths_loses_no_variable) {
    run(false);
    for (std::uint64_t k = 0; k < variables; ++k) EXPECT_EQ(count_names(k), 1u) << k;
}

// An erase that had read the name before a rename gave the variable another one left that one in its chain, leading to
// what was gone.
TEST_F(Renaming, beside_deaths_and_erases_leaves_no_name_of_what_is_gone) {
    run(true);
    // Two that stored it anew, the one after the other had renamed it, have made two variables of it.
    for (std::uint64_t k = 0; k < variables; ++k) EXPECT_LE(count_names(k), 2u) << k;
    expect_that_all_can_go(pmem);
}

}  // namespace
