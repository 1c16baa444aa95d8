// A machine is killed at random moments while processes in it store; it boots again from what its persistent memory holds, and
// everything that was acknowledged is there, each unit whole or absent. Without the sync there is a loss, and it is seen.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>

#include "virtual_machine.hpp"

namespace machine {
namespace {

struct Medium {
    std::string name;
    std::vector<std::string> options;  ///< of daxvm
    std::string durability;
    std::string pool = "/mnt/pmem/pool";
    bool is_cached = false;  ///< a kill loses what was not synced
};
void PrintTo(const Medium& medium, std::ostream* out) { *out << medium.name; }

const std::vector<Medium> media = {
    {"ext4_dax", {}, "line"},
    {"xfs_dax", {"--use", "xfs"}, "line"},
    {"devdax", {"--use", "devdax"}, "line", "/dev/dax0.0"},
    {"ext4_page_cache", {"--dax", "never"}, "page", "/mnt/pmem/pool", true},
    {"virtio_pmem", {"--bar", "virtio-pmem"}, "page"},
};
const std::string processes = "3";
const std::string control_pool = "/mnt/pmem/control";

bool is_long() { return std::getenv("PMEMCPY_LONG") != nullptr; }

/// PMEMCPY_SEED repeats the moments, as far as the machine runs equally fast.
std::uint64_t seed() {
    const char* given = std::getenv("PMEMCPY_SEED");
    const std::uint64_t value = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    std::cout << "[   seed   ] PMEMCPY_SEED=" << value << "\n";
    return value;
}

class Kills : public ::testing::TestWithParam<Medium> {
public:
    static void TearDownTestSuite() {
        if (media_ == 0) {
            std::printf("machines: skipped, %s\n", without_.c_str());
            return;
        }
        std::printf("machines: %d kills on %d media, %ju units acknowledged, %ju lost; control lost %ju%s\n",
                    kills_, media_, std::uintmax_t{acknowledged_}, std::uintmax_t{lost_},
                    std::uintmax_t{control_lost_}, without_.empty() ? "" : ("; without " + without_).c_str());
    }

protected:
    Kills() : vm_(GetParam().options), random_(seed()) {}

    /// Shell commands, each run if the one before succeeded.
    std::string create() const {
        return MACHINE_COMMAND " create " + pool() +
               " --size 64MiB --chunk 64KiB && " MACHINE_COMMAND " info --json " + pool() +
               (has_control() ? " && " MACHINE_WORKER " make " + control_pool : "");
    }
    std::string recover() const {
        std::string text = MACHINE_COMMAND " verify " + pool() + " && " MACHINE_WORKER " check " +
                           vm_.folder() + " " + processes + " " + pool();
        if (has_control()) text += " && " MACHINE_WORKER " check " + vm_.folder() + " 1 " + control_pool;
        return text;
    }
    std::string crowd() {
        return " && exec " MACHINE_WORKER " crowd " + vm_.folder() + " " + std::to_string(random_()) + " " +
               processes + " " + pool() + (has_control() ? " " + control_pool : "");
    }
    void run(const std::string& script, double kill_after = -1, const std::vector<std::string>& more = {}) {
        result_ = vm_.run(script, kill_after, more);
        lost_ += result_.number_after(pool_name() + " lost");
        control_lost_ += result_.number_after("control unsynced and lost");
    }
    void kill(const std::string& script) {
        const double seconds = std::uniform_real_distribution<double>(0, 3)(random_);
        run(script, seconds);
        ASSERT_EQ(result_.status, VirtualMachine::killed) << result_.output;
        ++kills_;
    }
    const std::string& pool() const { return GetParam().pool; }
    std::string pool_name() const { return pool().substr(pool().rfind('/') + 1); }
    bool has_control() const { return GetParam().is_cached; }

    static inline int kills_ = 0, media_ = 0;
    static inline std::uint64_t acknowledged_ = 0, lost_ = 0, control_lost_ = 0;
    static inline std::string without_;
    VirtualMachine vm_;
    VirtualMachine::Result result_;
    std::mt19937_64 random_;
};

TEST_P(Kills, lose_nothing_acknowledged_and_the_pool_goes_on) {
    try {
        kill(create() + crowd());
    } catch (const Missing& missing) {
        without_ += (without_.empty() ? "" : ", ") + GetParam().name + " (" + missing.what() + ")";
        GTEST_SKIP() << missing.what();
    }
    ++media_;
    if (HasFatalFailure()) return;
    EXPECT_NE(result_.output.find("\"durability\":\"" + GetParam().durability + '"'), std::string::npos)
        << result_.output;
    const std::uint64_t control_before = control_lost_;
    for (int kill_number = 1; kill_number < (is_long() ? 20 : 2); ++kill_number) {
        const bool is_in_recovery = kill_number % 4 == 3;
        kill((is_in_recovery ? "touch " + vm_.folder() + "/go && " : std::string()) + recover() + crowd());
        if (HasFatalFailure()) return;
    }
    // Where flushed lines survive, all that is visible does on a platform that saves its caches.
    const bool can_save = GetParam().durability == "line";
    run(recover() + " && " MACHINE_WORKER " use " + pool() + " && " + recover() +
            " && " MACHINE_COMMAND " info --json " + pool(),
        -1, can_save ? std::vector<std::string>{"--eadr"} : std::vector<std::string>{});
    ASSERT_EQ(result_.status, 0) << result_.output;
    if (can_save) {
        EXPECT_NE(result_.output.find("\"durability\":\"byte\""), std::string::npos) << result_.output;
    }
    const std::uint64_t acknowledged = result_.number_after(pool_name() + " acknowledged");
    EXPECT_GT(acknowledged, 0U);
    acknowledged_ += acknowledged;
    if (has_control()) {
        EXPECT_GT(control_lost_, control_before)
            << "nothing that was never synced is lost: this test sees nothing";
    }
}

INSTANTIATE_TEST_SUITE_P(on, Kills, ::testing::ValuesIn(media),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace machine
