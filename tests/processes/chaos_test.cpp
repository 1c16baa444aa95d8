// Six processes and a reader do everything at once while they are killed: one every few milliseconds beside a survivor,
// all at once, in the middle of an allocation, in the middle of a recovery. And sixty-four, while they are stopped and killed.

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <map>

#include "chaos_member.hpp"
#include "os/lock.hpp"
#include "pool/locks.hpp"

namespace {

using namespace processes;
using Clock = std::chrono::steady_clock;

constexpr std::size_t few = 6;

Options tight_pool(std::size_t writers) {
    Options options;
    options.max_bytes = std::uint64_t{writers} * (160 << 20);
    options.chunk_bytes = 16 << 10;
    return options;
}

int take_part(const Arguments& arguments) {
    const Shared<Ledger> ledger(arguments[1]);
    try {
        Member member(arguments[0], arguments[1], std::stoul(arguments[2]), std::stoull(arguments[3]));
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

// Does little but take names out of their chains, under the name lock.
int erase_names(const Arguments& arguments) {
    const Shared<Ledger> ledger(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    ++ledger->opened;
    const std::string large(200'000, 'a');
    if (pmem.exists("erased too")) pmem.erase("erased too");  // another died before that
    for (;;) {
        pmem.store("erased", large);
        pmem.rename("erased", "erased too");
        pmem.erase("erased too");
    }
}
const Job erase_names_job("erase_names", erase_names);

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

/// How long the calls of a survivor took.
class Times {
public:
    void add(Clock::duration time) { all_.push_back(milliseconds(time)); }
    std::string describe() {
        if (all_.empty()) return "none";
        std::sort(all_.begin(), all_.end());
        std::ostringstream text;
        text << std::fixed << std::setprecision(2) << all_[all_.size() / 2] << " ms in the median, "
             << all_[all_.size() * 99 / 100] << " at the 99th percentile, " << all_.back() << " at most";
        return text.str();
    }

private:
    std::vector<double> all_;
};

/// A process that is attached all the time and needs what the dead may have held: space, the name lock, a name.
class Witness {
public:
    explicit Witness(const std::string& pool) { pmem_.mmap(pool); }
    void call() {
        pmem_.store("witness", ++calls_);
        pmem_.store("witness_large", large_);
        pmem_.erase("witness_large");
        EXPECT_EQ(pmem_.load<std::uint64_t>("witness"), calls_);
    }
    Clock::duration time_of_call() {
        const auto begin = Clock::now();
        call();
        return Clock::now() - begin;
    }

private:
    PMEM pmem_;
    std::uint64_t calls_ = 0;
    const std::string large_ = std::string(100'000, 'w');
};

class Chaos {
public:
    explicit Chaos(std::size_t writers = few) : writers_(writers), random_(seed()), ledger_(ledger_path()) {
        ledger_->writers = writers;
        { PMEM().mmap(pool(), tight_pool(writers)); }
        for (std::size_t i = 0; i <= writers; ++i) workers_.push_back(start(i));
    }
    Worker start(std::size_t who, bool only_look = false) {
        Arguments arguments{pool(), ledger_path(), std::to_string(who), std::to_string(random_())};
        if (only_look) arguments.emplace_back("look");
        if (who == writers_) ledger_->views_of_reader = 0;
        return Worker("take_part", arguments);
    }
    std::string pool() const { return folder_ / "pool"; }
    std::mt19937_64& random() { return random_; }
    std::string ledger_path() const { return folder_ / "ledger"; }
    Ledger& ledger() { return *ledger_; }
    bool has_failed() const { return ledger_->failures != 0; }
    void count_kill() { ++kills_; }
    std::size_t readers_killed() const { return readers_killed_; }

    void kill_all() {
        for (Worker& worker : workers_) ::kill(worker.pid(), SIGKILL);
        for (Worker& worker : workers_) EXPECT_EQ(worker.wait(), 1000 + SIGKILL);
        kills_ += workers_.size();
    }
    void start_all() {
        for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i] = start(i);
    }
    void kill_one() {
        victim_ = random_() % workers_.size();
        if (!workers_[victim_].is_running()) {
            ADD_FAILURE() << "process " << victim_ << " ended by itself with " << workers_[victim_].last();
            ledger_->failures.fetch_add(1);
            return;
        }
        workers_[victim_].kill();
        ++kills_;
        if (victim_ == writers_ && ledger_->views_of_reader != 0) ++readers_killed_;
    }
    void replace_victim() { workers_[victim_] = start(victim_); }
    std::size_t victim() const { return victim_; }
    pid_t process(std::size_t who) const { return workers_[who].pid(); }
    std::size_t draw() { return random_() % workers_.size(); }

    void stop() {
        ledger_->stop = 1;
        for (Worker& worker : workers_) EXPECT_EQ(worker.wait(), 0);
        // Once more from outside: what everybody was told is there.
        for (std::size_t i = 0; i <= writers_; ++i) EXPECT_EQ(start(i, true).wait(), 0);
    }
    // Process 0 may have been killed in a step, and stopped before it came to begin it anew. As long as a step is open,
    // the last to leave a pool does not call it clean: whoever opens it next drops what the step has left.
    void close_step() {
        PMEM pmem;
        pmem.mmap(pool());
        const std::uint64_t step = pmem.info().committed_step + 1;
        pmem.begin(step);
        pmem.commit(step);
    }
    void expect_no_failure(const std::string& victims) {
        EXPECT_EQ(ledger_->failures, 0u) << ledger_->message;
        std::uint64_t done = 0;
        for (const auto& count : ledger_->done) done += count;
        std::cout << "chaos: " << done << " calls by " << writers_ + 1 << " processes, " << kills_
                  << " killed, " << victims << "\n";
    }
    // Nothing is open any more: the pool holds what its variables need, and says so by itself.
    void expect_whole_pool() {
        std::uint64_t recoveries = 0;
        for (int open = 0; open < 2; ++open) {
            Inside inside(pool());
            if (open == 0) recoveries = inside.pool().recovery_count();
            EXPECT_EQ(inside.pool().recovery_count(), recoveries)
                << "the last to leave did not close it cleanly";
            expect_clean(inside.audit());
        }
        PMEM pmem;
        pmem.mmap(pool());
        EXPECT_TRUE(pmem.verify().empty());
        expect_that_all_can_go(pmem);
    }

private:
    const std::size_t writers_;
    std::mt19937_64 random_;
    Folder folder_;
    Shared<Ledger> ledger_;
    std::vector<Worker> workers_;
    std::size_t victim_ = 0;
    std::size_t kills_ = 0;
    std::size_t readers_killed_ = 0;
};

TEST(processes, in_chaos_beside_a_survivor_nothing_acknowledged_is_lost_and_no_space) {
    Chaos chaos;
    Times after_death, otherwise;
    {
        Inside survivor(chaos.pool());
        Witness witness(chaos.pool());
        const int kills = is_long() ? 20'000 : 500;
        for (int kill = 0; kill < kills && !chaos.has_failed(); ++kill) {
            sleep_us(1000 + chaos.random()() % 8000);
            otherwise.add(witness.time_of_call());
            chaos.kill_one();
            after_death.add(witness.time_of_call());
            chaos.replace_victim();
        }
        chaos.stop();
        chaos.close_step();
        EXPECT_TRUE(survivor.scavenge());
        const auto audit = survivor.audit();
        expect_clean(audit);
        EXPECT_EQ(audit.undefined_entries, 0u);
        EXPECT_EQ(survivor.pool().recovery_count(), 0u);
    }
    EXPECT_GT(chaos.readers_killed(), 0u) << "of readers that held a view";
    chaos.expect_no_failure(std::to_string(chaos.readers_killed()) +
                            " of them with views; a survivor's four calls right after a death took " +
                            after_death.describe() + "; before it " + otherwise.describe());
    chaos.expect_whole_pool();
}

TEST(processes, in_chaos_with_everybody_killed_at_once_nothing_acknowledged_is_lost_and_no_space) {
    Chaos chaos;
    const int rounds = is_long() ? 400 : 20;
    std::size_t recoveries_killed = 0;
    for (int round = 0; round < rounds && !chaos.has_failed(); ++round) {
        sleep_us(10'000 + chaos.random()() % 60'000);
        chaos.kill_all();
        // Those who come to recover are killed at it, one after the other.
        for (std::uint64_t victims = chaos.random()() % 4; victims > 0; --victims) {
            Ledger& ledger = chaos.ledger();
            const std::uint64_t opening = ledger.opening, opened = ledger.opened;
            Worker recovering = chaos.start(chaos.random()() % few);
            EXPECT_TRUE(wait_until([&] { return ledger.opening != opening; }));
            sleep_us(chaos.random()() % 2000);
            recovering.kill();
            chaos.count_kill();
            if (ledger.opened == opened) ++recoveries_killed;
        }
        {
            Inside inside(chaos.pool());
            expect_clean(inside.audit());
        }
        chaos.start_all();
    }
    chaos.stop();
    EXPECT_GT(recoveries_killed, 0u);
    chaos.expect_no_failure(std::to_string(recoveries_killed) + " of them while they recovered the pool");
    chaos.close_step();
    chaos.expect_whole_pool();
}

// The victim is stopped first: if it holds the lock then, it dies with it.
TEST(processes, in_chaos_with_those_killed_who_hold_the_name_lock_nobody_waits_for_the_dead) {
    Chaos chaos;
    Times after_death;
    int kill = 0;
    {
        Inside survivor(chaos.pool());
        Witness witness(chaos.pool());
        auto looking = pmemcpy::os::File::open(chaos.pool() + ".rt", O_RDWR);
        const int kills = is_long() ? 1000 : 50;
        chaos.kill_all();  // whoever holds the lock is known then
        while (kill < kills && !chaos.has_failed()) {
            const std::uint64_t opened = chaos.ledger().opened;
            Worker holder("erase_names", {chaos.pool(), chaos.ledger_path()});
            // A stop that meets an exec with several threads, as under TSan, is lost for ever.
            ASSERT_TRUE(wait_until([&] { return chaos.ledger().opened != opened; }));
            for (int tries = 0; tries < 10'000 && kill < kills; ++tries) {
                sleep_us(chaos.random()() % 300);
                ASSERT_TRUE(holder.stop());
                const bool holds = pmemcpy::os::conflicts(looking, pmemcpy::os::LockKind::exclusive,
                                                          pmemcpy::pool::name_byte, 1);
                if (!holds) {
                    holder.go_on();
                    continue;
                }
                holder.kill();
                chaos.count_kill();
                ++kill;
                after_death.add(witness.time_of_call());
                break;
            }
        }
        chaos.start_all();
        sleep_us(50'000);
        chaos.stop();
        chaos.close_step();
        EXPECT_TRUE(survivor.scavenge());
        expect_clean(survivor.audit());
    }
    chaos.expect_no_failure(std::to_string(kill) +
                            " of them with the name lock; a survivor's four calls right after took " +
                            after_death.describe());
    chaos.expect_whole_pool();
}

/// Those that are stopped, and until when.
class Stops {
public:
    using Time = Clock::time_point;

    bool has(std::size_t who) const { return until_.contains(who); }
    std::size_t count() const { return until_.size(); }
    void stop(Chaos& chaos, std::size_t who, Clock::duration time) {
        ::kill(chaos.process(who), SIGSTOP);
        until_[who] = Clock::now() + time;
    }
    void forget(std::size_t who) { until_.erase(who); }
    void go_on(const Chaos& chaos, Time now) {
        std::erase_if(until_, [&](const auto& one) {
            if (one.second > now) return false;
            ::kill(chaos.process(one.first), SIGCONT);
            return true;
        });
    }

private:
    std::map<std::size_t, Time> until_;
};

/// From a tenth of a millisecond to `most`, each magnitude as often.
Clock::duration drawn_time(std::mt19937_64& random, std::chrono::seconds most) {
    const double magnitudes = std::log(std::chrono::duration<double>(most).count() / 1e-4);
    const double drawn = static_cast<double>(random() % 1'000'000) / 1e6;
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(1e-4 * std::exp(drawn * magnitudes)));
}

std::chrono::seconds length_of_storm() {
    const char* given = std::getenv("PMEMCPY_STORM_SECONDS");
    if (given != nullptr) return std::chrono::seconds(std::strtoull(given, nullptr, 10));
    return std::chrono::seconds(is_long() ? 3600 : 20);
}

// Stopped wherever they are, for up to ten seconds, at most half of them at a time; and killed, the stopped ones too: those hold
// whatever they hold while others go on, and die with it.
TEST(processes, in_a_storm_of_stops_and_deaths_nothing_acknowledged_is_lost_and_no_space) {
    Chaos chaos(most_writers);
    chaos.ledger().stops = 1;
    Stops stops;
    std::size_t stopped = 0, killed_while_stopped = 0;
    {
        Inside survivor(chaos.pool());
        const auto end = Clock::now() + length_of_storm();
        while (Clock::now() < end && !chaos.has_failed()) {
            sleep_us(1000 + chaos.random()() % 4000);
            stops.go_on(chaos, Clock::now());
            if (chaos.random()() % 4 == 0) {
                chaos.kill_one();
                if (stops.has(chaos.victim())) ++killed_while_stopped;
                stops.forget(chaos.victim());
                chaos.replace_victim();
            } else if (const std::size_t who = chaos.draw();
                       !stops.has(who) && stops.count() < most_writers / 2) {
                stops.stop(chaos, who, drawn_time(chaos.random(), std::chrono::seconds(10)));
                ++stopped;
            }
        }
        stops.go_on(chaos, Stops::Time::max());
        chaos.stop();
        chaos.close_step();
        EXPECT_TRUE(survivor.scavenge());
        const auto audit = survivor.audit();
        expect_clean(audit);
        EXPECT_EQ(audit.undefined_entries, 0u);
        EXPECT_EQ(survivor.pool().recovery_count(), 0u);
    }
    EXPECT_GT(killed_while_stopped, 0u);
    chaos.expect_no_failure(std::to_string(killed_while_stopped) + " of them while they were stopped, " +
                            std::to_string(stopped) + " stopped, " + std::to_string(chaos.ledger().busy) +
                            " calls busy");
    chaos.expect_whole_pool();
}

}  // namespace
