// Length: one scenario after another of the same driver; splitting would part it from the scripts it drives.
// A process that is killed at any instruction: it is stepped through a verb and killed after its n-th instruction, while
// a survivor is attached, who then reads, writes, takes back what the dead one held, and audits.
//
// What a dead process leaves is the shared memory as it is and the locks that the kernel drops. So of all positions
// between two stores to shared memory or system calls one kill stands for all: the first pass finds those that differ.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <unordered_map>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pmemcpy/scope.hpp>
#include <pmemcpy/tiers.hpp>

#include "base/hash.hpp"
#include "content.hpp"
#include "os/calls.hpp"
#include "pmem/sides.hpp"
#include "stepping.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::crash {
namespace {

struct Verb {
    std::string name;
    std::function<void(PMEM&)> setup;    // of the pool, closed afterwards
    std::function<void(PMEM&)> prepare;  // in the child, not stepped
    std::function<void(PMEM&)> call;     // stepped
    bool opens = false;                  // the child's PMEM is not mapped before
    const char* dead_first = nullptr;    // another child is killed in the middle of this verb before
    bool alone = false;                  // nobody else has the pool open: the survivor comes after the death
    Mode mode = Mode::update;            // in which the child opens the pool
    bool wipes = false;                  // the pool: space is wiped before it is free
    bool has_targets = false;            // there is a directory for a target beside the pool
    bool is_long = false;                // so many instructions that it is stepped only where time is
    bool changes_hierarchy = false;      // which is looked at as the content is
    std::function<void(PMEM&)> meet{};   // by the survivor, who sees what the dead one's hierarchy shows
    bool has_private = false;            // there is a private side, too
    std::uint64_t chunk_bytes = 4096;    // of the pool
};

std::vector<double> numbers(std::size_t n, double first) {
    std::vector<double> values(n);
    std::iota(values.begin(), values.end(), first);
    return values;
}

constexpr std::uint64_t pool_bytes = 256 * 1024;
constexpr std::uint64_t row_bytes = 16 * 1024;      // of the array that fills the pool
constexpr std::uint64_t few_instructions = 20'000;  // of a verb that is killed at each place that differs
constexpr std::size_t few_positions = 100;          // and so is one that has no more of them
constexpr std::size_t few_with_targets = 60;
constexpr std::size_t many_positions = 1000;  // of one that is not: it fills memory, and differs at each byte
constexpr std::uint64_t most_run_to =
    300;  // times that a place is run to by a breakpoint, before single steps are faster

Options small_pool() {
    Options options;
    options.max_bytes = pool_bytes;
    options.chunk_bytes = 4096;
    return options;
}

void store_box(PMEM& pmem, const Box& box, double first) {
    pmem.store<double>("A", numbers(box.elements(), first).data(), box);
}

// On a disk, where nobody asks a memory cgroup for room: that takes half a million instructions for each file.
std::string below(const std::string& pool_path) {
    const std::filesystem::path name = std::filesystem::path(pool_path).filename();
    return std::filesystem::temp_directory_path() / (name.string() + ".below");
}

// The one below is said to be so slow that one that is stepped is not slower by far, and set aside.
Hierarchy two_targets(const PMEM& pmem) {
    Hierarchy h;
    h.targets = {{.name = "pool", .kind = TargetKind::tmpfs, .write = {8e9, 1e-6}, .read = {8e9, 1e-6}},
                 {.name = "below", .path = below(pmem.info().path), .write = {1e9, 10}, .read = {1e9, 1e-5}}};
    h.rules = {{.match = "low", .pin = "below"}, {.match = "high", .pin = "pool"}};
    h.granularity_bytes = 4096;
    h.promotion = Promotion::never;
    h.mode = Buffering::none;  // nobody but the verb that is killed does anything
    h.flush.threads = 1;       // for one thread is stepped
    return h;
}

// A target between the two, with room for one block.
Hierarchy three_targets(const PMEM& pmem) {
    Hierarchy h = two_targets(pmem);
    const std::string between = below(pmem.info().path) + "/between";
    std::filesystem::create_directory(between);
    h.targets.insert(h.targets.begin() + 1, {.name = "between",
                                             .path = between,
                                             .capacity_bytes = row_bytes + row_bytes / 2,
                                             .write = {2e9, 1e-5},
                                             .read = {2e9, 1e-5}});
    return h;
}

Hierarchy with_rule(const PMEM& pmem, const Rule& rule) {
    Hierarchy h = two_targets(pmem);
    h.rules = {rule};
    return h;
}

// Threads that nobody steps would run on while the one that is stepped stands still.
void keep_to_one_thread(const PMEM& pmem) { pmem::Sides::of(pmem).shared()->set_on_hierarchy({}); }

void store_row(PMEM& pmem, std::uint64_t row) {
    pmem.store<double>("F", numbers(row_bytes / 8, static_cast<double>(row)).data(),
                       Box{{row, 0}, {1, row_bytes / 8}});
}

// Until one has to go down; what is pinned to the pool makes room there.
void fill(PMEM& pmem) {
    pmem.alloc<double>("high", Dimensions{2, row_bytes / 16});
    pmem.alloc<double>("F", Dimensions{unlimited, row_bytes / 8});
    std::uint64_t row = 0;
    while (targets(pmem).at(1).used_bytes == 0) store_row(pmem, row++);
}

void values_and_private(PMEM& pmem) {
    pmem.store("v", 1);
    private_side(pmem).store("mine", 1);
}

void store_in_step(PMEM& pmem) {
    pmem.begin(1);
    pmem.store("v", 2);
    pmem.store("mine", 2);
}

Verb with_private(Verb verb) {
    verb.has_private = true;
    return verb;
}

Verb with_targets(Verb verb) {
    verb.has_targets = true;
    return verb;
}

Verb changing_hierarchy(Verb verb) {
    verb.has_targets = true;
    verb.changes_hierarchy = true;
    return verb;
}

Verb at_length(Verb verb) {
    verb.is_long = true;
    return verb;
}

Verb met_by(std::function<void(PMEM&)> survivor, Verb verb) {
    verb.has_targets = true;
    verb.meet = std::move(survivor);
    return verb;
}

// What a dead process has not synced is there all the same, and a disk takes its time.
os::Calls without_syncs() {
    os::Calls calls = os::system_calls();
    for (auto* sync : {&calls.fsync, &calls.fdatasync, &calls.syncfs}) *sync = [](int) { return 0; };
    return calls;
}

Verb wiping(Verb verb) {
    verb.wipes = true;
    return verb;
}

// So large that slabs for data have heads.
Verb in_large_chunks(Verb verb) {
    verb.chunk_bytes = 32 * 1024;
    return verb;
}

std::vector<Verb> verbs() {
    const auto nothing = [](PMEM&) {};
    const auto values = [](PMEM& pmem) {
        pmem.store("v", 1);
        pmem.store("w", std::string(5000, 'w'));
    };
    const auto array = [](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{8, 8});
        store_box(pmem, {{0, 0}, {4, 8}}, 0);
        store_box(pmem, {{4, 0}, {4, 4}}, 100);
    };
    const auto attributes = [](PMEM& pmem) {
        pmem.store("v", 1);
        pmem.set_attribute("v", "units", "K");
    };
    const auto series = [](PMEM& pmem) {
        pmem.alloc<double>("A", Dimensions{unlimited, 3});
        for (std::size_t i = 0; i < 7; ++i) store_box(pmem, {{i, 0}, {1, 3}}, static_cast<double>(i));
    };
    const auto two_targets_and_array = [array](PMEM& pmem) {
        array(pmem);
        pmem.alloc<double>("low", Dimensions{2, 8});
        set_hierarchy(pmem, two_targets(pmem));
    };
    const auto two_targets_and_low = [array](PMEM& pmem) {
        array(pmem);
        pmem.alloc<double>("low", Dimensions{2, 8});
        pmem.store<double>("low", numbers(16, 9).data(), Box{{0, 0}, {2, 8}});
        set_hierarchy(pmem, two_targets(pmem));
    };
    const auto array_below = [two_targets_and_array](PMEM& pmem) {
        two_targets_and_array(pmem);
        move(pmem, "A", "below");
    };
    const auto flushed = [two_targets_and_low](PMEM& pmem) {
        two_targets_and_low(pmem);
        flush(pmem);
    };
    const auto know_targets = [](PMEM& pmem) { targets(pmem); };
    const auto full = [](PMEM& pmem) {
        set_hierarchy(pmem, two_targets(pmem));
        fill(pmem);
    };
    const auto full_and_flushed = [full](PMEM& pmem) {
        full(pmem);
        flush(pmem);
    };
    const auto full_twice = [](PMEM& pmem) {
        set_hierarchy(pmem, three_targets(pmem));
        fill(pmem);
    };
    const auto store_high = [](PMEM& pmem) {
        pmem.store<double>("high", numbers(row_bytes / 8, 9).data(), Box{{0, 0}, {2, row_bytes / 16}});
    };
    const auto store_low = [](PMEM& pmem) {
        pmem.store<double>("low", numbers(16, 7).data(), Box{{0, 0}, {2, 8}});
    };
    const auto has_rule = [](const Rule& rule) {
        return [rule](PMEM& pmem) {
            keep_to_one_thread(pmem);
            set_hierarchy(pmem, with_rule(pmem, rule));
            targets(pmem);
        };
    };
    const auto set_two_targets = [](PMEM& pmem) { set_hierarchy(pmem, two_targets(pmem)); };
    return {
        {"store_new", values, nothing, [](PMEM& p) { p.store("n", 2); }},
        {"store_new_large", values, nothing, [](PMEM& p) { p.store("n", std::string(6000, 'n')); }},
        {"store_growing", values, nothing, [](PMEM& p) { p.store("n", std::string(60000, 'n')); }},
        {"store_in_group", values, nothing, [](PMEM& p) { p.store("g/n", 2); }},
        {"overwrite", values, nothing, [](PMEM& p) { p.store("v", 2); }},
        {"overwrite_large", values, nothing, [](PMEM& p) { p.store("w", std::string(7000, 'x')); }},
        {"erase", values, nothing, [](PMEM& p) { p.erase("w"); }},
        {"rename", values, nothing, [](PMEM& p) { p.rename("w", "x"); }},
        {"set_attribute", attributes, nothing, [](PMEM& p) { p.set_attribute("v", "note", "n"); }},
        {"replace_attribute", attributes, nothing, [](PMEM& p) { p.set_attribute("v", "units", "F"); }},
        {"remove_attribute", attributes, nothing, [](PMEM& p) { p.remove_attribute("v", "units"); }},
        {"erase_with_attribute", attributes, nothing, [](PMEM& p) { p.erase("v"); }},
        {"alloc", values, nothing,
         [](PMEM& p) {
             p.alloc<double>("A", Dimensions{8, 8});
         }},
        {"store_box", array, nothing,
         [](PMEM& p) {
             store_box(p, {{4, 4}, {4, 4}}, 300);
         }},
        {"overwrite_box", array, nothing,
         [](PMEM& p) {
             store_box(p, {{0, 0}, {4, 8}}, 300);
         }},
        {"cover_boxes", array, nothing,
         [](PMEM& p) {
             store_box(p, {{0, 0}, {8, 8}}, 300);
         }},
        {"append", series, nothing,
         [](PMEM& p) {
             store_box(p, {{7, 0}, {1, 3}}, 300);
         }},
        {"erase_array", array, nothing, [](PMEM& p) { p.erase("A"); }},
        {"commit", values,
         [](PMEM& p) {
             p.begin(1);
             p.store("v", 2);
             p.store("n", 3);
         },
         [](PMEM& p) { p.commit(1); }},
        {"abandon", values,
         [](PMEM& p) {
             p.begin(1);
             p.store("v", 2);
             p.store("n", 3);
         },
         [](PMEM& p) { p.abandon(); }},
        with_private({"begin_with_private", values_and_private, nothing, store_in_step}),
        with_private(
            {"commit_with_private", values_and_private, store_in_step, [](PMEM& p) { p.commit(1); }}),
        with_private({"commit_with_private_alone", values_and_private, store_in_step,
                      [](PMEM& p) { p.commit(1); }, false, nullptr, true}),
        {"make_group", values, nothing, [](PMEM& p) { p.make_group("g/h"); }},
        {"view_and_drop", array, nothing,
         [](PMEM& p) {
             static_cast<void>(p.view<double>("A", Box{{0, 0}, {4, 8}}));
         }},
        {"view_of_a_reader", array, nothing,
         [](PMEM& p) {
             static_cast<void>(p.view<double>("A", Box{{0, 0}, {4, 8}}));
         },
         false, nullptr, false, Mode::read},
        {"begin_and_store", values, nothing,
         [](PMEM& p) {
             p.begin(1);
             p.store("n", 3);
         }},
        {"sync", values, [](PMEM& p) { p.erase("w"); }, [](PMEM& p) { p.sync(); }},
        {"compact", array,
         [](PMEM& p) {
             store_box(p, {{2, 0}, {4, 8}}, 300);
             store_box(p, {{1, 0}, {4, 8}}, 400);
         },
         [](PMEM& p) { p.compact(); }},
        {"attach", values, nothing, {}, true},
        {"detach", values, [](PMEM& p) { p.store("v", 1); }, [](PMEM& p) { p.munmap(); }},
        {"attach_first", values, nothing, {}, true, nullptr, true},
        {"recover", values, nothing, {}, true, "erase", true},
        {"recover_an_array", array, nothing, {}, true, "overwrite_box", true},
        {"detach_last", values, [](PMEM& p) { p.store("v", 1); }, [](PMEM& p) { p.munmap(); }, false, nullptr,
         true},
        {"reclaim_after_a_death", values, nothing, [](PMEM& p) { p.trim(); }, false, "erase"},
        {"reclaim_an_array_after_a_death", array, nothing, [](PMEM& p) { p.trim(); }, false, "erase_array"},
        with_targets(
            {"move_down", two_targets_and_low, know_targets, [](PMEM& p) { move(p, "low", "below"); }}),
        with_targets({"flush", two_targets_and_low, know_targets, [](PMEM& p) { flush(p); }}),
        with_targets({"move_to_a_copy", flushed, know_targets, [](PMEM& p) { move(p, "low", "below"); }}),
        with_targets({"move_up", array_below, know_targets, [](PMEM& p) { move(p, "A", "pool"); }}),
        with_targets({"overwrite_below", array_below, know_targets,
                      [](PMEM& p) {
                          store_box(p, {{0, 0}, {4, 8}}, 300);
                      }}),
        with_targets({"erase_below", array_below, know_targets, [](PMEM& p) { p.erase("A"); }}),
        with_targets({"store_below", two_targets_and_array, know_targets,
                      [](PMEM& p) {
                          p.store<double>("low", numbers(16, 9).data(), Box{{0, 0}, {2, 8}});
                      }}),
        with_targets({"evict", full, know_targets, store_high}),
        with_targets({"evict_to_a_copy", full_and_flushed, know_targets, store_high}),
        at_length(with_targets({"evict_twice", full_twice, know_targets, store_high})),
        at_length(met_by(
            [](PMEM& p) {
                reserve(p, 2 * row_bytes);  // nobody has what the dead one had
                reserve(p, 0);
            },
            {"reserve", full, know_targets, [](PMEM& p) { reserve(p, 2 * row_bytes); }})),
        with_targets({"bring_up", array_below, know_targets,
                      [](PMEM& p) {
                          store::Store& store = *pmem::Sides::of(p).shared();
                          for (const auto& block : store.blocks_meeting("A", std::nullopt))
                              store.bring_up(block, store::Store::Why::wanted);
                      }}),
        met_by(set_two_targets, {"write_through", two_targets_and_low,
                                 has_rule({.match = "low", .mode = Buffering::write_through}), store_low}),
        met_by(set_two_targets,
               {"drop_after_flush", two_targets_and_low, has_rule({.match = "low", .drop_after_flush = true}),
                [](PMEM& p) { flush(p, "low"); }}),
        met_by(set_two_targets, {"drop_after_read",
                                 [=](PMEM& p) {
                                     two_targets_and_low(p);
                                     set_hierarchy(p,
                                                   with_rule(p, {.match = "low", .drop_after_read = true}));
                                 },
                                 know_targets,
                                 [](PMEM& p) {
                                     std::vector<double> found(16);
                                     p.load<double>("low", found.data(), Box{{0, 0}, {2, 8}});
                                 }}),
        met_by(set_two_targets, {"end_of_scratch",
                                 [=](PMEM& p) {
                                     two_targets_and_array(p);
                                     set_hierarchy(
                                         p, with_rule(p, {.match = "low", .mode = Buffering::scratch}));
                                 },
                                 store_low, [](PMEM& p) { p.munmap(); }, false, nullptr, true}),
        changing_hierarchy({"remove_hierarchy", flushed, know_targets, [](PMEM& p) { remove_hierarchy(p); }}),
        wiping({"overwrite_and_wipe", values, nothing, [](PMEM& p) { p.store("v", 2); }}),
        wiping({"erase_large_and_wipe", values, nothing, [](PMEM& p) { p.erase("w"); }}),
        wiping({"erase_array_and_wipe", array, nothing, [](PMEM& p) { p.erase("A"); }}),
        // The head of a slab went before the table said that it was none any more: a death in between left a damaged one for good.
        in_large_chunks(wiping({"give_back_and_wipe", values,
                                [](PMEM& p) {
                                    for (int i = 0; i < 4; ++i)
                                        p.store("small/" + std::to_string(i), std::string(700, 's'));
                                    for (int i = 0; i < 4; ++i) p.erase("small/" + std::to_string(i));
                                    p.erase("small");
                                },
                                [](PMEM& p) { p.trim(); }})),
    };
}

/// A pool that is made anew for each kill, and what lies in shared memory while it is in use.
class KilledPool {
public:
    explicit KilledPool(const Verb& verb)
        : verb_(verb), path_("/dev/shm/pmemcpy-kill-" + std::to_string(::getpid())) {
        remove();
        if (verb_.has_targets) std::filesystem::create_directory(below(path_));
        {
            PMEM pmem;
            Options options = small_pool();
            options.wipe = verb_.wipes;
            options.chunk_bytes = verb_.chunk_bytes;
            pmem.mmap(path_, options);
            verb_.setup(pmem);
        }
        for (const std::string& pool : pools()) {
            std::ifstream file(pool, std::ios::binary);
            base_[pool].assign(std::istreambuf_iterator<char>(file), {});
        }
        if (verb_.has_targets)
            std::filesystem::copy(below(path_), below(path_) + ".base",
                                  std::filesystem::copy_options::recursive);
    }
    ~KilledPool() { remove(); }
    KilledPool(const KilledPool&) = delete;
    KilledPool& operator=(const KilledPool&) = delete;

    const std::string& path() const { return path_; }
    /// The shared one, and the private side's.
    std::vector<std::string> pools() const {
        std::vector<std::string> all = {path_};
        if (verb_.has_private) all.push_back(path_ + ".private-" + std::to_string(::getuid()));
        return all;
    }
    void restore() {
        for (const auto& [pool, bytes] : base_) {
            std::fstream file(pool, std::ios::binary | std::ios::in | std::ios::out);
            file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
            if (!file) throw std::runtime_error("cannot put the pool back");
        }
        if (!verb_.has_targets) return;
        std::filesystem::remove_all(below(path_));
        std::filesystem::copy(below(path_) + ".base", below(path_), std::filesystem::copy_options::recursive);
    }
    /// Blocks' files in the target below.
    std::size_t count_files() const {
        std::size_t files = 0;
        if (!verb_.has_targets) return files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(below(path_)))
            files += entry.is_regular_file() && entry.path().filename().string().size() == 16 ? 1U : 0U;
        return files;
    }
    /// A child that has the pool open, if the verb is not the opening itself.
    std::unique_ptr<SteppedChild> start(const Verb& verb) {
        auto pmem = std::make_shared<PMEM>();
        Options options;
        options.mode = verb.mode;
        return std::make_unique<SteppedChild>(
            [=, this] {
                if (!verb.opens) pmem->mmap(path_, options);
                verb.prepare(*pmem);
            },
            [=, this] { verb.opens ? pmem->mmap(path_, options) : verb.call(*pmem); });
    }

private:
    void remove() {
        for (const std::string& pool : pools()) {
            ::unlink(pool.c_str());
            ::unlink((pool + ".rt").c_str());
        }
        std::filesystem::remove_all(below(path_));
        std::filesystem::remove_all(below(path_) + ".base");
    }
    Verb verb_;
    std::string path_;
    std::map<std::string, std::string> base_;  // of each pool
};

/// The shared bytes that a dead process can leave changed: the pool, and the first slots of its .rt.
class Shared {
public:
    explicit Shared(const std::string& path) {
        const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        pool_ = ::mmap(nullptr, pool_bytes - 4096, PROT_READ, MAP_SHARED, fd, 0);
        ::close(fd);
        if (pool_ == MAP_FAILED) throw std::runtime_error("cannot map " + path);
        runtime_ = ::open((path + ".rt").c_str(), O_RDONLY | O_CLOEXEC);
    }
    ~Shared() {
        ::munmap(pool_, pool_bytes - 4096);
        ::close(runtime_);
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;

    /// Whether something has changed since the last time.
    bool has_changed() {
        // The .rt is read, for whoever comes first cuts it off: behind its end a mapping would be a signal.
        std::vector<char> runtime(runtime_bytes);
        static_cast<void>(!::pread(runtime_, runtime.data(), runtime_bytes, 0));
        const bool changed = std::memcmp(pool_, seen_.data(), used()) != 0 || runtime != seen_runtime_;
        if (changed) {
            std::memcpy(seen_.data(), pool_, used());
            seen_runtime_ = std::move(runtime);
        }
        return changed;
    }

private:
    static constexpr std::size_t runtime_bytes = pool::page_bytes + 4 * sizeof(pool::Slot);
    // What lies behind the usable chunks is nobody's.
    std::size_t used() const {
        const auto& super = *reinterpret_cast<const pool::Superblock*>(pool_);
        const auto& state =
            *reinterpret_cast<const pool::PoolState*>(static_cast<const char*>(pool_) + pool::state_offset);
        return std::min<std::size_t>(super.first_chunk_offset + state.usable_chunks.value * super.chunk_bytes,
                                     pool_bytes - 4096);
    }
    void* pool_;
    int runtime_;
    std::vector<char> seen_ = std::vector<char>(pool_bytes);
    std::vector<char> seen_runtime_ = std::vector<char>(runtime_bytes);
};

class KillSweep : public ::testing::TestWithParam<Verb> {
public:
    static void TearDownTestSuite() {
        std::printf(
            "killed: %zu verbs at %zu of the %zu places where a death differs, among %llu instructions\n",
            swept_.verbs, swept_.killed, swept_.different,
            static_cast<unsigned long long>(swept_.instructions));
    }

protected:
    struct Swept {
        std::size_t verbs, killed, different;
        std::uint64_t instructions;
    };
    static inline Swept swept_{};
    const Verb& verb() const { return GetParam(); }
    os::ScopedCalls calls_{without_syncs()};
    KilledPool pool_{GetParam()};

    Verb first_to_die() const {
        const std::vector<Verb> all = verbs();
        return *std::find_if(all.begin(), all.end(),
                             [&](const Verb& v) { return v.name == verb().dead_first; });
    }
    void kill_another_first() {
        if (verb().dead_first == nullptr) return;
        const auto child = pool_.start(first_to_die());
        if (verb().alone) {  // somewhere on its way: who looks would recover the pool when he leaves
            for (int steps = 0; steps < 4000 && child->step(); ++steps) {
            }
            return;
        }
        // After its publish, with everything still to be cleaned up.
        PMEM looking;
        looking.mmap(pool_.path());
        const Content before = observe(looking);
        while (child->step()) {
            if (observe_is_other(looking, before)) return;
        }
    }
    static bool observe_is_other(const PMEM& pmem, const Content& before) {
        static int calls = 0;
        return ++calls % 16 == 0 && observe(pmem) != before;  // looking costs more than a step
    }

    Content look_at(const PMEM& pmem) const {
        Content content = observe(pmem);
        if (!verb().changes_hierarchy) return content;
        if (const auto h = hierarchy_of(pmem)) content["the hierarchy"] = base::xxh3_64(to_yaml(*h));
        return content;
    }
    void open(PMEM& survivor) const {
        survivor.mmap(pool_.path());
        keep_to_one_thread(survivor);
    }

    Content content_after() {
        pool_.restore();
        PMEM pmem;
        pmem.mmap(pool_.path());
        if (verb().alone && verb().dead_first != nullptr) {  // it may have done it all
            first_to_die().call(pmem);
        } else if (!verb().opens) {
            kill_another_first();
            verb().prepare(pmem);
            verb().call(pmem);
            if (!pmem.is_mapped()) pmem.mmap(pool_.path());
        }
        return look_at(pmem);
    }

    struct Position {
        std::uint64_t number;      // of instructions done
        std::uint64_t place;       // of the next one
        std::uint64_t occurrence;  // of that place
        bool is_ordered = false;   // an atomic or a fence is next, or was the last
    };

    // Goes through the verb once. Returns the positions that leave something different, and the number of all.
    std::vector<Position> find_positions(std::uint64_t& all) {
        pool_.restore();
        PMEM survivor;
        if (!verb().alone) survivor.mmap(pool_.path());
        kill_another_first();
        const auto child = pool_.start(verb());
        std::list<Shared> all_shared;
        for (const std::string& pool : pool_.pools()) all_shared.emplace_back(pool).has_changed();
        std::vector<Position> positions;
        std::unordered_map<std::uint64_t, std::uint64_t> occurrences;
        all = 0;
        bool after_system_call = true, after_ordered = true;
        do {
            const std::uint64_t place = child->place();
            const std::uint64_t occurrence = ++occurrences[place];
            const bool at_system_call = child->is_at_system_call();
            const bool at_ordered = child->is_at_atomic_or_fence();
            std::size_t changed = 0;
            for (Shared& shared : all_shared) changed += shared.has_changed() ? 1U : 0U;
            if (changed > 0 || at_system_call || after_system_call)
                positions.push_back({all, place, occurrence, at_ordered || after_ordered});
            after_system_call = at_system_call;
            after_ordered = at_ordered || at_system_call;
            ++all;
        } while (child->step());
        positions.push_back({all, 0, 0, true});  // done, and not yet gone
        return positions;
    }

    // A long copy differs at each of its stores: of these a few, and every atomic, fence and system call. Of a verb that has files below
    // some of all these.
    void sample(std::vector<Position>& positions, std::uint64_t all) const {
        std::mt19937_64 random(1);
        const bool is_long = all > few_instructions || positions.size() > many_positions;
        if (!is_long || positions.size() <= few_positions) return;
        const auto copying = std::stable_partition(positions.begin(), positions.end(),
                                                   [](const Position& p) { return p.is_ordered; });
        std::shuffle(copying, positions.end(), random);
        const auto ordered = static_cast<std::size_t>(copying - positions.begin());
        positions.resize(std::min<std::size_t>(positions.size(), ordered + 20));
        if (verb().has_targets && positions.size() > few_with_targets) {
            std::shuffle(positions.begin(), positions.end(), random);
            positions.resize(few_with_targets);
        }
        std::sort(positions.begin(), positions.end(),
                  [](const Position& a, const Position& b) { return a.number < b.number; });
    }

    std::string kill_at(const Position& position, const Content& before, const Content& after) {
        pool_.restore();
        PMEM survivor;
        if (!verb().alone) open(survivor);
        kill_another_first();
        {
            const auto child = pool_.start(verb());
            if (position.place == 0) {
                child->finish();
            } else {
                // A string instruction stays at one place for each of its rounds: those are stepped, not run to.
                std::uint64_t seen = std::min(position.occurrence, most_run_to);
                child->run_to(position.place, seen);
                while (seen < position.occurrence && child->step()) {
                    if (child->place() == position.place) ++seen;
                }
            }
            child->kill();
        }
        if (verb().alone) open(survivor);
        const Content found = look_at(survivor);
        if (const std::string wrong = judge(found, before, after); !wrong.empty()) return wrong;
        if (verb().meet) verb().meet(survivor);
        // It goes on with everything that is there, as if nothing had happened.
        survivor.store("survivor", 1);
        survivor.store("survivor", std::string(3000, 's'));
        for (const std::string& id : survivor.ids()) {
            if (survivor.info(id).kind == VariableKind::array) {
                survivor.store<double>(id, numbers(2, 5).data(), Box{{0, 0}, {1, 2}});
                survivor.compact();
            } else {
                survivor.store(id, std::string(800, 't'));
            }
        }
        survivor.trim();
        if (std::string wrong = audit_all("while the survivor is there"); !wrong.empty()) return wrong;
        if (const auto damages = survivor.verify(); !damages.empty()) return "verify: " + damages[0].what;
        const Content then = observe(survivor);
        survivor.munmap();
        if (std::string wrong = audit_all("after the survivor has left"); !wrong.empty()) return wrong;
        survivor.mmap(pool_.path());
        if (const std::string wrong = difference(observe(survivor), then); !wrong.empty())
            return "opened again, " + wrong;
        for (const std::string& id : survivor.ids()) survivor.erase(id);
        const std::vector<std::string> groups = survivor.groups();
        for (auto id = groups.rbegin(); id != groups.rend(); ++id)
            survivor.erase(*id);  // the inner ones first
        survivor.trim();
        if (hierarchy_of(survivor)) flush(survivor);  // which also removes copies of what is gone
        if (const std::size_t files = pool_.count_files(); files != 0)
            return "after erasing all, " + std::to_string(files) + " files are left in the target below";
        if (verb().has_targets) remove_hierarchy(survivor);
        survivor.trim();
        const PoolInfo info = survivor.info();
        const bool has_notes = verb().has_targets || verb().has_private;  // those of "/" stay
        if ((info.metadata_bytes != 0 && !has_notes) || info.data_bytes != 0) {
            return "after erasing all, " + std::to_string(info.metadata_bytes) + " bytes of records and " +
                   std::to_string(info.data_bytes) + " of data are taken";
        }
        return {};
    }

    static std::string judge(const Content& found, const Content& before, const Content& after) {
        Content without_groups = found;
        std::erase_if(without_groups, [&](const auto& entry) {
            return is_group(entry.first) && !before.contains(entry.first);
        });
        const std::string old_one = difference(without_groups, before);
        if (old_one.empty()) return {};
        const std::string new_one = difference(found, after);
        if (new_one.empty()) return {};
        return "neither before (" + old_one + ") nor after (" + new_one + ")";
    }

    std::string audit_all(const std::string& when) {
        for (const std::string& pool : pool_.pools()) {
            if (std::string wrong = audit(pool, when); !wrong.empty()) return wrong;
        }
        return {};
    }

    static std::string audit(const std::string& pool, const std::string& when) {
        const catalog::Audit found = Inside(pool).audit();
        if (found.is_clean() && found.retired_records == 0) return {};
        return "audit " + when + ": " +
               (found.complaints.empty() ? std::to_string(found.retired_records) + " retired records are left"
                                         : found.complaints.front());
    }
};

TEST_P(KillSweep, leaves_old_or_new_and_loses_no_space) {
    if (verb().is_long && std::getenv("PMEMCPY_LONG") == nullptr) GTEST_SKIP() << "only under PMEMCPY_LONG";
    const auto begin = std::chrono::steady_clock::now();
    pool_.restore();
    Content before;
    {
        PMEM pmem;
        pmem.mmap(pool_.path());
        before = look_at(pmem);
    }
    const Content after = content_after();
    std::uint64_t all = 0;
    std::vector<Position> positions = find_positions(all);
    const std::size_t different = positions.size();
    if (std::getenv("PMEMCPY_LONG") == nullptr) sample(positions, all);
    std::size_t failures = 0;
    for (const Position& position : positions) {
        std::string wrong;
        try {
            wrong = kill_at(position, before, after);
        } catch (const std::exception& error) {
            wrong = error.what();
        }
        if (wrong.empty()) continue;
        ADD_FAILURE() << verb().name << " killed after instruction " << position.number << " of " << all
                      << " at " << name_of_place(position.place) << ": " << wrong;
        if (++failures == 5) break;
    }
    swept_ = {swept_.verbs + 1, swept_.killed + positions.size(), swept_.different + different,
              swept_.instructions + all};
    std::printf("kill %-30s %7llu positions, %4zu different, killed at %4zu in %.1f s\n", verb().name.c_str(),
                static_cast<unsigned long long>(all), different, positions.size(),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

INSTANTIATE_TEST_SUITE_P(every, KillSweep, ::testing::ValuesIn(verbs()),
                         [](const auto& verb) { return verb.param.name; });

void PrintTo(const Verb& verb, std::ostream* out) { *out << verb.name; }

}  // namespace
}  // namespace pmemcpy::crash
