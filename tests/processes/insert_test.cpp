// Four processes insert the same keys at once, undisturbed and with one of them killed again and again.

#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Options;
using pmemcpy::PMEM;

constexpr std::uint64_t keys = 10'000;
constexpr std::size_t inserters = 4;

struct Progress {
    Word go;  // keys below this may be inserted
    Word opened[inserters];
    Word acknowledged[inserters];  // this many keys have been stored
};

std::string key(std::uint64_t i) { return "k" + std::to_string(i); }

Options small_pool() {
    Options options;
    options.max_bytes = 256 << 20;
    options.chunk_bytes = 64 << 10;
    return options;
}

int insert(const Arguments& arguments) {
    const Shared<Progress> progress(arguments[1]);
    const std::size_t me = std::stoul(arguments[2]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    progress->opened[me] = 1;
    for (std::uint64_t i = progress->acknowledged[me]; i < keys; ++i) {
        while (progress->go <= i) std::this_thread::yield();
        pmem.store(key(i), i);
        progress->acknowledged[me] = i + 1;
    }
    return 0;
}
const Job insert_job("insert", insert);

Worker inserter(const Folder& folder, std::size_t me) {
    return Worker("insert", {folder / "pool", folder / "progress", std::to_string(me)});
}

void expect_each_key_once(PMEM& pmem, std::uint64_t expected) {
    const std::vector<std::string> ids = pmem.ids();
    EXPECT_EQ(ids.size(), expected);
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
    for (std::uint64_t i = 0; i < expected; ++i) ASSERT_EQ(pmem.load<std::uint64_t>(key(i)), i);
}

// What the same content takes in a pool that one process has filled in peace.
std::pair<std::uint64_t, std::uint64_t> bytes_of_the_same_in_peace(const Folder& folder) {
    PMEM pmem;
    pmem.mmap(folder / "peace", small_pool());
    for (std::uint64_t i = 0; i < keys; ++i) pmem.store(key(i), i);
    return {pmem.info().metadata_bytes, pmem.info().data_bytes};
}

TEST(processes, four_insert_the_same_keys_and_each_exists_once) {
    const Folder folder;
    const Shared<Progress> progress(folder / "progress");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    std::vector<Worker> workers;
    for (std::size_t i = 0; i < inserters; ++i) workers.push_back(inserter(folder, i));
    ASSERT_TRUE(wait_until([&] {
        return std::all_of(std::begin(progress->opened), std::end(progress->opened),
                           [](auto& o) { return o == 1; });
    }));
    progress->go = keys;
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    expect_each_key_once(pmem, keys);
    const auto [metadata, data] = bytes_of_the_same_in_peace(folder);
    EXPECT_EQ(pmem.info().metadata_bytes, metadata);
    EXPECT_EQ(pmem.info().data_bytes, data);
    Inside inside(folder / "pool");
    expect_clean(inside.audit());
}

TEST(processes, an_inserter_killed_200_times_loses_no_key_and_no_space) {
    const Folder folder;
    std::mt19937_64 random(seed());
    const Shared<Progress> progress(folder / "progress");
    const std::uint64_t kills = is_long() ? 2000 : 200;
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    Inside inside(folder / "pool");
    std::vector<Worker> workers;
    for (std::size_t i = 0; i < inserters; ++i) workers.push_back(inserter(folder, i));
    for (std::uint64_t kill = 0; kill < kills; ++kill) {
        ASSERT_TRUE(wait_until([&] { return progress->opened[0] == 1; }));
        progress->go = (kill + 1) * keys / (kills + 1);
        sleep_us(random() % 300);
        workers[0].kill();
        const std::uint64_t acknowledged = progress->acknowledged[0];
        if (acknowledged > 0) {
            ASSERT_EQ(pmem.load<std::uint64_t>(key(acknowledged - 1)), acknowledged - 1);
        }
        progress->opened[0] = 0;
        workers[0] = inserter(folder, 0);
    }
    progress->go = keys;
    for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    EXPECT_TRUE(inside.scavenge());
    expect_each_key_once(pmem, keys);
    const auto [metadata, data] = bytes_of_the_same_in_peace(folder);
    EXPECT_EQ(pmem.info().metadata_bytes, metadata);
    EXPECT_EQ(pmem.info().data_bytes, data);
    const auto audit = inside.audit();
    EXPECT_EQ(audit.undefined_entries, 0u);
    expect_clean(audit);
}

TEST(processes, all_inserters_killed_at_once_lose_no_key_and_no_space) {
    const Folder folder;
    std::mt19937_64 random(seed());
    const Shared<Progress> progress(folder / "progress");
    { PMEM().mmap(folder / "pool", small_pool()); }
    const std::uint64_t rounds = is_long() ? 200 : 20;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        std::vector<Worker> workers;
        for (auto& opened : progress->opened) opened = 0;
        for (std::size_t i = 0; i < inserters; ++i) workers.push_back(inserter(folder, i));
        ASSERT_TRUE(wait_until([&] {
            return std::all_of(std::begin(progress->opened), std::end(progress->opened),
                               [](auto& o) { return o == 1; });
        }));
        progress->go = (round + 1) * keys / (rounds + 1);
        sleep_us(random() % 1000);
        for (Worker& worker : workers) ::kill(worker.pid(), SIGKILL);
        workers.clear();
        PMEM pmem;
        pmem.mmap(folder / "pool");
        for (const auto& acknowledged : progress->acknowledged) {
            for (std::uint64_t i = 0; i < acknowledged; ++i) ASSERT_EQ(pmem.load<std::uint64_t>(key(i)), i);
        }
        Inside inside(folder / "pool");
        expect_clean(inside.audit());
    }
}

// An eraser that had seen the group empty, and a storer that had seen the group there, must not both go on.
struct Contest {
    Word stored;
    Word erased;
    Word stop;
    Word alone;  // times that something lay in a group that was not there
};

constexpr std::uint64_t least_stored = 10'000;
constexpr std::uint64_t least_erased = 150;

int store_in_group(const Arguments& arguments) {
    const Shared<Contest> contest(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    while (contest->stop == 0) {
        pmem.store("outer/inner/x", 1);
        if (!pmem.exists("outer/inner") || !pmem.exists("outer")) ++contest->alone;
        pmem.erase("outer/inner/x");
        ++contest->stored;
    }
    return 0;
}
const Job store_in_group_job("store in group", store_in_group);

int erase_group(const Arguments& arguments) {
    const Shared<Contest> contest(arguments[1]);
    PMEM pmem;
    pmem.mmap(arguments[0]);
    while (contest->stop == 0) {
        for (const char* group : {"outer/inner", "outer"}) {
            try {
                pmem.erase(group);
                ++contest->erased;
            } catch (const pmemcpy::Error&) {  // not empty, or not there
            }
        }
    }
    return 0;
}
const Job erase_group_job("erase group", erase_group);

TEST(processes, a_group_is_not_erased_from_under_what_another_stores_in_it) {
    const Folder folder;
    const Shared<Contest> contest(folder / "contest");
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    Worker storer("store in group", {folder / "pool", folder / "contest"});
    Worker eraser("erase group", {folder / "pool", folder / "contest"});
    EXPECT_TRUE(
        wait_until([&] { return contest->stored >= least_stored && contest->erased >= least_erased; }));
    contest->stop = 1;
    EXPECT_EQ(storer.wait(), 0);
    EXPECT_EQ(eraser.wait(), 0);
    EXPECT_EQ(contest->alone, 0U);
    EXPECT_TRUE(pmem.verify().empty());
}

}  // namespace
