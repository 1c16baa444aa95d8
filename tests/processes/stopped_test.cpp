// A process that is stopped while it holds a lock of the pool: others store, load, view and overwrite beside it, also some that come only
// then; what waits for the lock says after a second which process has it, and goes on as soon as that one does, or has died.

#include <csignal>
#include <iomanip>
#include <map>
#include <pmemcpy/index.hpp>
#include <pmemcpy/operations.hpp>
#include <pmemcpy/tiers.hpp>
#include <sstream>

#include "operate/job.hpp"
#include "os/lock.hpp"
#include "pool/locks.hpp"
#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Inside;
using pmemcpy::Options;
using pmemcpy::PMEM;
using pmemcpy::pool::Pool;

using Words = std::vector<std::uint64_t>;
const Words small(10, 1);
const Words large(100'000, 2);  // a run of chunks

template <class Lock>
void stop_with(Pool& pool) {
    const Lock lock(pool);
    ::raise(SIGSTOP);
}
void stop_with_room(Pool& pool) {
    const Pool::RoomLock lock(pool, 0, [] { return false; });
    ::raise(SIGSTOP);
}
// Before it can say that it has it.
void stop_before_it_says_so(Pool& pool) {
    if (!pmemcpy::os::try_lock(pool.runtime().file(), pmemcpy::os::LockKind::exclusive,
                               pmemcpy::pool::name_byte, 1))
        throw std::logic_error("somebody has the lock");
    ::raise(SIGSTOP);
}
void stop_with_operation(Pool& pool) {
    const Pool::OperationLock lock(pool, pmemcpy::operate::lock_number("u"));
    ::raise(SIGSTOP);
}
const std::map<std::string, void (*)(Pool&)> locks = {
    {"names_unsaid", stop_before_it_says_so},  {"operation", stop_with_operation},
    {"names", stop_with<Pool::NameLock>},      {"groups", stop_with<Pool::GroupLock>},
    {"space", stop_with<Pool::SpaceLock>},     {"steps", stop_with<Pool::StepLock>},
    {"leaving", stop_with<Pool::LeavingLock>}, {"sync", stop_with<Pool::SyncLock>},
    {"feed", stop_with<Pool::FeedLock>},       {"room", stop_with_room}};

int stop_holding(const Arguments& arguments) {
    Inside inside(arguments[0]);
    locks.at(arguments[1])(inside.pool());
    return 0;
}
const Job stop_holding_job("stop_holding", stop_holding);

int come_and_store(const Arguments& arguments) {
    PMEM pmem;
    pmem.mmap(arguments[0]);
    pmem.store("newcomer", small);
    pmem.store("newcomer's", large);
    pmem.store("newcomer", large);
    return pmem.load<Words>("newcomer") == large ? 0 : 1;
}
int die_with_the_pool_open(const Arguments& arguments) {
    PMEM pmem;
    pmem.mmap(arguments[0]);
    pmem.store("last", small);
    ::raise(SIGKILL);
    return 0;
}
const Job die_job("die_with_the_pool_open", die_with_the_pool_open);

const Job come_and_store_job("come_and_store", come_and_store);

class Stopped : public ::testing::TestWithParam<std::string> {
protected:
    Stopped() {
        Options options;
        options.max_bytes = 64 << 20;
        options.chunk_bytes = 64 << 10;
        pmem_.mmap(folder_ / "pool", options);
        for (const char* id : {"a", "b", "c", "g/x"}) pmem_.store(id, small);
        pmem_.make_group("empty");
    }
    void hold() {
        holder_.emplace("stop_holding", Arguments{folder_ / "pool", GetParam()});
        ASSERT_TRUE(holder_->wait_until_stopped());
    }
    void expect_told(const std::function<void()>& call) {
        try {
            call();
            ADD_FAILURE() << "this waits for the lock";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::busy);
            const std::string number = std::to_string(holder_->pid());
            EXPECT_NE(std::string(error.what()).find("process " + number + " ("), std::string::npos)
                << error.what();
            EXPECT_NE(std::string(error.what()).find("is stopped in "), std::string::npos) << error.what();
        }
    }

    const Folder folder_;
    PMEM pmem_;
    std::optional<Worker> holder_;
};

TEST_P(Stopped, delays_no_store_load_view_or_overwrite) {
    hold();
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(Worker("come_and_store", Arguments{folder_ / "pool"}).wait(), 0);
    pmem_.store("new", small);
    pmem_.store("new large", large);
    pmem_.store("a", large);
    pmem_.store("a", small);
    pmem_.store("other/in/groups", small);
    pmem_.set_attribute("a", "units", "K");
    pmem_.alloc<std::uint64_t>("array", {1000});
    for (std::uint64_t i = 0; i < 10; ++i)
        pmem_.store("array", Words(100, i).data(), pmemcpy::Box{{i * 100}, {100}});
    EXPECT_EQ(pmem_.load<Words>("b"), small);
    EXPECT_EQ(pmem_.view<std::uint64_t>("array", pmemcpy::Box{{900}, {100}})[99], 9u);
    EXPECT_EQ(pmem_.ids().size(), 10u);
    EXPECT_TRUE(pmem_.verify().empty());
    // The newcomer closes the pool as well, and asks for a second whether it is the last.
    EXPECT_LT(std::chrono::steady_clock::now() - began,
              std::chrono::seconds(GetParam() == "leaving" ? 3 : 1));
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    pmem_.munmap();
    expect_clean(Inside(folder_ / "pool").audit());
}

TEST_P(Stopped, and_killed_keeps_nobody_waiting) {
    hold();
    holder_->kill();
    const auto began = std::chrono::steady_clock::now();
    pmem_.erase("a");
    pmem_.rename("b", "d");
    pmem_.erase("empty");
    pmem_.trim();
    pmem_.sync();
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
    pmem_.munmap();
    expect_clean(Inside(folder_ / "pool").audit());
}

INSTANTIATE_TEST_SUITE_P(processes, Stopped,
                         ::testing::Values("names", "groups", "space", "steps", "leaving", "sync", "feed"),
                         [](const auto& which) { return "while_it_holds_the_lock_for_" + which.param; });

class StoppedWithNames : public Stopped {};

// An erase is there with its first exchange; only its space comes back later.
TEST_P(StoppedWithNames, has_an_erase_take_effect_and_tells_what_would_have_to_wait) {
    hold();
    pmem_.erase("a");
    EXPECT_FALSE(pmem_.exists("a"));
    expect_told([&] { pmem_.erase("b"); });
    EXPECT_TRUE(pmem_.exists("b"));
    expect_told([&] { pmem_.rename("c", "d"); });
    pmem_.store("a", large);
    EXPECT_EQ(pmem_.load<Words>("a"), large);
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    pmem_.erase("b");
    pmem_.rename("c", "d");
    EXPECT_EQ(pmem_.load<Words>("d"), small);
    pmem_.munmap();
    expect_clean(Inside(folder_ / "pool").audit());
}

// Its own erase was not finished: as after its death, somebody finishes it.
TEST_P(StoppedWithNames, keeps_nobody_from_closing) {
    hold();
    pmem_.erase("a");
    pmem_.munmap();
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    Inside inside(folder_ / "pool");
    EXPECT_TRUE(inside.scavenge());
    expect_clean(inside.audit());
}

TEST_P(StoppedWithNames, is_waited_for_while_it_goes_on_in_time) {
    hold();
    std::thread continued([&] {
        sleep_us(300'000);
        holder_->go_on();
    });
    pmem_.rename("c", "d");
    continued.join();
    EXPECT_EQ(holder_->wait(), 0);
    EXPECT_EQ(pmem_.load<Words>("d"), small);
}

int stop_erasing_a_group(const Arguments& arguments) {
    Inside inside(arguments[0]);
    const Pool::GroupLock lock(inside.pool());
    const Pool::GroupErasure announced(inside.pool());
    ::raise(SIGSTOP);
    return 0;
}
const Job stop_erasing_a_group_job("stop_erasing_a_group", stop_erasing_a_group);

class StoppedWithAGroup : public Stopped {
protected:
    void hold_erasure() {
        holder_.emplace("stop_erasing_a_group", Arguments{folder_ / "pool"});
        ASSERT_TRUE(holder_->wait_until_stopped());
    }
};

// What could not be stored had left its entry without a value: nothing listed it, and the group could not be erased any more.
TEST_P(StoppedWithAGroup, leaves_nothing_of_a_store_that_would_have_to_wait) {
    hold_erasure();
    expect_told([&] { pmem_.store("g/new", small); });
    expect_told([&] { pmem_.make_group("g/below"); });
    expect_told([&] { pmem_.alloc<int>("g/array", {10}); });
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    EXPECT_EQ(pmem_.ids("g/"), std::vector<std::string>{"g/x"});
    {
        Inside inside(folder_ / "pool");
        EXPECT_EQ(inside.audit().undefined_entries, 0u);
    }
    pmem_.erase("g/x");
    pmem_.erase("g");
    EXPECT_EQ(pmem_.groups(), std::vector<std::string>{"empty"});
    pmem_.store("g/new", large);
    EXPECT_EQ(pmem_.load<Words>("g/new"), large);
    pmem_.munmap();
    expect_clean(Inside(folder_ / "pool").audit());
}

INSTANTIATE_TEST_SUITE_P(processes, StoppedWithAGroup, ::testing::Values("groups"),
                         [](const auto&) { return std::string("that_it_erases"); });

INSTANTIATE_TEST_SUITE_P(processes, StoppedWithNames, ::testing::Values("names", "names_unsaid"),
                         [](const auto& which) { return which.param; });

// While one makes room, a store that has none waits for it.
class StoppedWithRoom : public Stopped {};

TEST_P(StoppedWithRoom, is_told_of_by_what_waits_for_room) {
    hold();
    Inside inside(folder_ / "pool");
    expect_told([&] { const Pool::RoomLock lock(inside.pool(), 0, [] { return false; }); });
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    EXPECT_TRUE(Pool::RoomLock(inside.pool(), 0, [] { return false; }));
}
INSTANTIATE_TEST_SUITE_P(processes, StoppedWithRoom, ::testing::Values("room"),
                         [](const auto&) { return std::string("that_it_makes"); });

int stop_locking(const Arguments& arguments) {
    using pmemcpy::os::File;
    File file = File::open(arguments[0], O_RDWR | O_CREAT, 0600);
    if (!pmemcpy::os::try_lock(file, pmemcpy::os::LockKind::exclusive, 0, 1)) return 1;
    ::raise(SIGSTOP);
    return 0;
}
const Job stop_locking_job("stop_locking", stop_locking);

// Locks whose holders say nothing of themselves: the kernel tells.
class StoppedAtWork : public Stopped {
protected:
    void hold_file(const std::string& path) {
        holder_.emplace("stop_locking", Arguments{path});
        ASSERT_TRUE(holder_->wait_until_stopped());
    }
};

TEST_P(StoppedAtWork, is_told_of_by_what_waits_for_an_operation) {
    pmem_.alloc<double>("u", {4});
    const std::vector<double> all = {1, 2, 3, 4};
    pmem_.store("u", all.data(), pmemcpy::Box{{0}, {4}});
    hold();
    pmemcpy::Hint hint;
    hint.mask = pmemcpy::operation_mask(pmem_, {"max"});
    expect_told([&] { pmemcpy::run_operations(pmem_, "u", hint); });
    pmemcpy::hint(pmem_, "u", hint);
    expect_told([&] { pmemcpy::wait_for_operations(pmem_); });
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    pmemcpy::wait_for_operations(pmem_);
    EXPECT_EQ(pmem_.load<double>("u.max"), 4);
}

TEST_P(StoppedAtWork, is_told_of_by_what_waits_for_the_index) {
    set_index_mode(pmem_, pmemcpy::IndexMode::async);
    flush_index(pmem_);
    hold_file(folder_ / "pool.idx/lock");
    {
        // Then everything is to be looked at again, for nobody knows what the dead one has not said.
        Worker dying("die_with_the_pool_open", Arguments{folder_ / "pool"});
        dying.wait();
    }
    pmem_.trim();
    expect_told([&] { flush_index(pmem_); });
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    flush_index(pmem_);
}

// It opened the index to write at once, and waited for a second; and a call that had to wait named nobody.
TEST_P(StoppedAtWork, in_the_index_delays_no_newcomer_and_is_told_of) {
    set_index_mode(pmem_, pmemcpy::IndexMode::async);
    flush_index(pmem_);
    pmem_.munmap();
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "pool.idx")) {
        if (entry.is_directory())
            hold_file(entry.path() / "tree");  // as a process that is stopped in a commit
    }
    const auto began = std::chrono::steady_clock::now();
    pmem_.mmap(folder_ / "pool");
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(900));
    pmem_.store("newcomer", small);
    expect_told([&] { flush_index(pmem_); });
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    flush_index(pmem_);
}

TEST_P(StoppedAtWork, is_told_of_by_what_waits_for_a_copy) {
    const std::string below = folder_ / "below";
    std::filesystem::create_directory(below);
    pmemcpy::Hierarchy tiers;
    tiers.targets = {
        {.name = "pool", .kind = pmemcpy::TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {8e9, 1e-6}},
        {.name = "below", .path = below, .write = {1e9, 1e-5}, .read = {1e9, 1e-5}}};
    tiers.mode = pmemcpy::Buffering::none;
    set_hierarchy(pmem_, tiers);
    pmem_.alloc<std::uint64_t>("u", {1000});
    pmem_.store("u", Words(1000, 1).data(), pmemcpy::Box{{0}, {1000}});
    std::ostringstream name;
    name << "copying-" << std::hex << std::setw(16) << std::setfill('0') << pmem_.blocks("u").at(0).version;
    for (const auto& entry : std::filesystem::directory_iterator(below)) {
        if (entry.is_directory()) hold_file(entry.path() / name.str());
    }
    expect_told([&] { pmemcpy::flush(pmem_); });
    holder_->go_on();
    EXPECT_EQ(holder_->wait(), 0);
    pmemcpy::flush(pmem_);
}

INSTANTIATE_TEST_SUITE_P(processes, StoppedAtWork, ::testing::Values("operation"),
                         [](const auto&) { return std::string("of_its_own"); });

}  // namespace
