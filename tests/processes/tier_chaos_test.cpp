// Processes that store, load, view, move, flush and change modes in one pool with two targets below it, while they, whoever leads in the
// background, and a daemon are killed: one every few milliseconds, and now and then all at once.

#include <optional>
#include <sstream>

#include <pmemcpy/caching.hpp>
#include <pmemcpy/tiers.hpp>

#include "chaos_looks.hpp"

namespace {

using namespace processes;
using namespace pmemcpy;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr std::size_t writers = 4;
constexpr std::uint64_t rows_of_each = 24;
constexpr std::uint64_t words = 2048;  // of a row: all rows together are twice what the pool may have

struct TierLedger {
    Word stop, failures, stores, loads, moves, flushes, without_space, opened;
    Track row[writers][rows_of_each];
    char message[600];
};

std::string array(std::size_t who) { return "t" + std::to_string(who); }

class TierMember {
public:
    TierMember(const std::string& pool, const std::string& ledger, std::size_t me, std::uint64_t seed)
        : ledger_(ledger), me_(me), random_(seed) {
        pmem_.mmap(pool);
        pmem_.alloc<std::uint64_t>(array(me_), {rows_of_each, words});
        for (std::uint64_t r = 0; r < rows_of_each; ++r) settle(r);
        ++ledger_->opened;
    }

    void go_on() {
        while (ledger_->stop == 0) act();
    }

private:
    void fail(const std::string& what) {
        if (ledger_->failures.fetch_add(1) != 0) return;
        const std::string text = "process " + std::to_string(me_) + ": " + what;
        text.copy(ledger_->message, sizeof ledger_->message - 1);
    }

    // What a dead predecessor intended may have happened or not; from here on it is known.
    void settle(std::uint64_t r) {
        Track& track = ledger_->row[me_][r];
        const std::uint64_t found = look(me_, r);
        if (found != track.acknowledged && found != track.intended) {
            std::ostringstream text;
            text << "row " << r << " is " << found << ", acknowledged " << track.acknowledged << ", intended "
                 << track.intended;
            fail(text.str());
        }
        track.intended = found;
        track.acknowledged = found;
    }

    // 0 where nothing was stored yet.
    std::uint64_t look(std::size_t who, std::uint64_t r) {
        Words row(words);
        try {
            pmem_.load(array(who), row.data(), Box{{r, 0}, {1, words}});
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) fail("a load: " + std::string(error.what()));
            return 0;
        }
        ++ledger_->loads;
        if (row != content(who, row[0], words)) fail("a row is torn or foreign");
        return row[0];
    }

    // One row, or several as one block.
    void store() {
        const std::uint64_t first = random_() % rows_of_each;
        const std::uint64_t count = std::min<std::uint64_t>(rows_of_each - first, random_() % 8 == 0 ? 3 : 1);
        const std::uint64_t next = ledger_->row[me_][first].acknowledged + 1 + random_() % 5;
        Words data;
        for (std::uint64_t r = first; r < first + count; ++r) {
            const Words row = content(me_, next, words);
            data.insert(data.end(), row.begin(), row.end());
            ledger_->row[me_][r].intended = next;
        }
        try {
            pmem_.store(array(me_), data.data(), Box{{first, 0}, {count, words}});
        } catch (const Error& error) {
            // What did not fit has not happened.
            if (error.kind() != Code::no_space) throw;
            ++ledger_->without_space;
            for (std::uint64_t r = first; r < first + count; ++r) settle(r);
            return;
        }
        for (std::uint64_t r = first; r < first + count; ++r) ledger_->row[me_][r].acknowledged = next;
        ++ledger_->stores;
    }

    void hold_a_view() {
        const std::size_t who = random_() % writers;
        const auto view =
            pmem_.view<std::uint64_t>(array(who), Box{{random_() % rows_of_each, 0}, {1, words}});
        const Words first(view.begin(), view.end());
        if (first != content(who, first[0], words)) fail("a view is torn or foreign");
        sleep_us(random_() % 3000);
        if (!std::equal(view.begin(), view.end(), first.begin())) fail("a view has changed");
    }

    void change_mode() {
        constexpr std::array modes = {Buffering::write_back, Buffering::write_through, Buffering::none};
        set_mode(pmem_, array(me_), modes.at(random_() % modes.size()));
    }

    void act() {
        constexpr std::array names = {"pool", "between", "pfs"};
        const std::uint64_t what = random_() % 32;
        try {
            if (what < 12) return store();
            if (what < 20) return static_cast<void>(look(random_() % writers, random_() % rows_of_each));
            if (what < 23) return hold_a_view();
            if (what < 26) {
                move(pmem_, array(random_() % writers), names.at(random_() % names.size()));
                ++ledger_->moves;
            } else if (what < 28) {
                flush(pmem_, array(random_() % writers));
                ++ledger_->flushes;
            } else if (what == 28) {
                will_need(pmem_, array(random_() % writers), Box{{random_() % rows_of_each, 0}, {1, words}});
            } else if (what == 29) {
                change_mode();
            } else if (what == 30) {
                pmem_.compact();
            } else {
                reserve(pmem_, random_() % 2 * 32'768);
            }
        } catch (const Error& error) {
            // A view, hint or flush of what nobody has stored yet; and what there is no room for stays where it is.
            if (error.kind() != Code::not_found && error.kind() != Code::no_space)
                fail("call " + std::to_string(what) + ": " + error.what());
        }
    }

    Shared<TierLedger> ledger_;
    std::size_t me_;
    std::mt19937_64 random_;
    PMEM pmem_;
};

int take_part(const Arguments& arguments) {
    const Shared<TierLedger> ledger(arguments[1]);
    try {
        TierMember member(arguments[0], arguments[1], std::stoul(arguments[2]), std::stoull(arguments[3]));
        if (arguments.size() == 4) member.go_on();
        return 0;
    } catch (const std::exception& error) {
        if (ledger->failures.fetch_add(1) == 0) {
            const std::string text = "process " + arguments[2] + " ended by: " + error.what();
            text.copy(ledger->message, sizeof ledger->message - 1);
        }
        return 1;
    }
}
const Job take_part_job("take_part", take_part);

int organize(const Arguments& arguments) {
    const Shared<TierLedger> ledger(arguments[1]);
    const Organizer organizer(arguments[0]);
    ++ledger->opened;
    while (ledger->stop == 0) sleep_us(1000);
    return 0;
}
const Job organize_job("organize", organize);

class TierChaos {
public:
    TierChaos() : random_(seed()), ledger_(ledger_path()) {
        for (const char* name : {"between", "pfs"}) fs::create_directory(below_ / name);
        PMEM pmem;
        Options options;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        pmem.mmap(pool(), options);
        set_hierarchy(pmem, hierarchy());
    }
    std::string pool() const { return folder_ / "pool"; }
    TierLedger& ledger() { return *ledger_; }

    void run(std::chrono::seconds duration) {
        for (std::size_t i = 0; i <= writers; ++i) workers_.push_back(start(i));
        const auto end = Clock::now() + duration;
        while (Clock::now() < end && ledger_->failures == 0) {
            sleep_us(2000 + random_() % 60'000);
            if (random_() % 16 == 0) {
                for (Worker& worker : workers_) ::kill(worker.pid(), SIGKILL);
                for (std::size_t i = 0; i <= writers; ++i) replace(i);
            } else {
                replace(random_() % workers_.size());
            }
        }
        // On a slow machine nobody may have come to do anything before he was killed.
        EXPECT_TRUE(wait_until([&] { return ledger_->stores > 100 || ledger_->failures != 0; }, 600));
        ledger_->stop = 1;
        for (Worker& worker : workers_) EXPECT_EQ(worker.wait(), 0) << ledger_->message;
        // Once more from outside: what everybody was told is there.
        for (std::size_t i = 0; i < writers; ++i) EXPECT_EQ(start(i, true).wait(), 0);
        EXPECT_EQ(ledger_->failures, 0U) << ledger_->message;
        std::cout << "chaos: with tiers " << ledger_->stores << " stores, " << ledger_->loads << " loads, "
                  << ledger_->moves << " moves, " << ledger_->flushes << " flushes, " << kills_ << " killed, "
                  << ledger_->without_space << " without space\n";
    }

    // Whoever comes now leads, and does what the dead have left.
    void expect_that_all_is_flushed() {
        PMEM pmem;
        pmem.mmap(pool());
        Hierarchy h = hierarchy();
        h.rules.clear();
        set_hierarchy(pmem, h);
        EXPECT_TRUE(wait_until([&] { return unflushed(pmem).of_blocks == 0; }, 600));
        std::size_t blocks = 0;
        for (std::size_t i = 0; i < writers; ++i) {
            for (const Receipt& receipt : receipts(pmem, array(i))) {
                EXPECT_TRUE(receipt.is_flushed);
                ++blocks;
            }
        }
        EXPECT_GT(blocks, 0U);
        for (const Damage& damage : pmem.verify()) ADD_FAILURE() << damage.what;
    }

    void expect_that_no_space_is_lost() {
        expect_clean(Inside(pool()).audit());
        PMEM pmem;
        pmem.mmap(pool());
        Hierarchy h = hierarchy();
        h.mode = Buffering::none;
        h.promotion = Promotion::never;
        h.rules.clear();
        set_hierarchy(pmem, h);
        for (const std::string& id : pmem.ids()) pmem.erase(id);
        pmem.trim();
        EXPECT_TRUE(wait_until([&] {
            flush(pmem);  // which also removes copies of what is gone
            return files().empty();
        })) << "left in the targets: "
            << testing::PrintToString(files());
        for (const TargetInfo& target : targets(pmem)) {
            if (target.target.path.empty()) continue;
            EXPECT_EQ(target.used_bytes, 0U) << target.target.name;
        }
        remove_hierarchy(pmem);
        pmem.trim();
        EXPECT_EQ(pmem.info().data_bytes, 0U);
    }

private:
    std::string ledger_path() const { return folder_ / "ledger"; }
    Hierarchy hierarchy() const {
        Hierarchy h;
        h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {9e9, 1e-6}},
                     {.name = "between",
                      .path = below_ / "between",
                      .capacity_bytes = 512 << 10,
                      .write = {2e9, 1e-4},
                      .read = {2e9, 1e-4}},
                     // Said to be so slow that it is on no machine slower than that by far.
                     {.name = "pfs",
                      .kind = TargetKind::shared,
                      .path = below_ / "pfs",
                      .write = {1e9, 5},
                      .read = {1e9, 5}}};
        h.granularity_bytes = 4096;
        h.flush.period_s = 0.05;
        h.rules = {{.match = array(1), .drop_after_flush = true},
                   {.match = array(2), .mode = Buffering::write_through},
                   {.match = array(3), .mode = Buffering::none}};
        return h;
    }
    Worker start(std::size_t who, bool only_look = false) {
        if (who == writers) return Worker("organize", {pool(), ledger_path()});
        Arguments arguments{pool(), ledger_path(), std::to_string(who), std::to_string(random_())};
        if (only_look) arguments.emplace_back("look");
        return Worker("take_part", arguments);
    }
    void replace(std::size_t who) {
        if (!workers_[who].is_running() && workers_[who].last() != 1000 + SIGKILL) {
            ADD_FAILURE() << "process " << who << " ended by itself with " << workers_[who].last();
            ++ledger_->failures;
        }
        workers_[who].kill();
        ++kills_;
        workers_[who] = start(who);
    }
    // Whole blocks and copies, and what the dead have left of them.
    std::vector<std::string> files() const {
        std::vector<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(below_.path())) {
            constexpr std::size_t digits = 16;
            const std::string name = entry.path().filename();
            const bool is_torn = name.starts_with("copying-");
            if (entry.is_regular_file() && (name.size() == digits || is_torn))
                found.push_back(fs::relative(entry.path(), below_.path()));
        }
        return found;
    }

    std::mt19937_64 random_;
    Folder folder_;
    Folder below_{fs::temp_directory_path()};
    Shared<TierLedger> ledger_;
    std::vector<Worker> workers_;
    std::size_t kills_ = 0;
};

TEST(processes, in_chaos_on_tiers_nothing_acknowledged_is_lost_and_no_space) {
    TierChaos chaos;
    chaos.run(std::chrono::seconds(is_long() ? 300 : 8));
    chaos.expect_that_all_is_flushed();
    chaos.expect_that_no_space_is_lost();
}

}  // namespace
