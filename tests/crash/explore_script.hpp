#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "explorer.hpp"

namespace pmemcpy::crash {

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
inline bool is_long() { return std::getenv("PMEMCPY_LONG") != nullptr; }
inline std::uint64_t seed() { return number_from_environment("PMEMCPY_SEED", 1); }

/// The scripts of every verb, and some drawn at random from PMEMCPY_SEED.
inline std::vector<Script> all_scripts() {
    std::vector<Script> all = scripts();
    for (std::uint64_t i = 0; i < (is_long() ? 12 : 3); ++i)
        all.push_back(random_script(seed() + i, is_long() ? 150 : 50));
    return all;
}

/// Of those the ones that a file system can be asked for: a device has no pages to sync.
inline std::vector<Script> scripts_of_files() {
    std::vector<Script> all = all_scripts();
    std::erase_if(all, [](const Script& script) { return script.place != SimulatedKernel::Place::file; });
    return all;
}

/// Explores one script after the other and counts what was seen.
class Exploration : public ::testing::TestWithParam<Script> {
public:
    static void SetUpTestSuite() { total_ = {}; }
    static void TearDownTestSuite() {
        std::printf(
            "explored: %s: %llu crash images (%llu distinct) of %llu events, %llu recoveries, %llu audits, "
            "%llu wrong\n",
            name_, number(total_.images), number(total_.distinct), number(total_.events),
            number(total_.recoveries), number(total_.audits), number(total_.failures));
    }

protected:
    /// PMEMCPY_CRASH_IMAGES: about so many at random, beside the systematic ones.
    void explore(Plan plan, const char* name) {
        const Script& script = GetParam();
        name_ = name;
        const auto begin = std::chrono::steady_clock::now();
        SimulatedKernel kernel(plan.model, script.place);
        const crash::Run run =
            perform(kernel, script, plan.model == Model::page ? Grain::element : Grain::array);
        plan.seed = seed();
        // A script of many calls leaves so much pending that nearly each image is another; the short ones are drawn from
        // until little new comes.
        const std::uint64_t many = run.recording.events.size() > 4000 ? 500'000 : 30'000'000;
        plan.random_images =
            number_from_environment("PMEMCPY_CRASH_IMAGES", is_long() ? many : plan.random_images);
        const Counts counts = Explorer(kernel, run, plan).explore();
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::printf(
            "%-5s %-11s %4zu operations %6llu events %6llu points (%5llu exhausted) %8llu images "
            "(%8llu distinct) %7llu audits in %.1f s, %.0f a second\n",
            name, script.name.c_str(), script.operations.size(), number(counts.events), number(counts.points),
            number(counts.exhausted), number(counts.images), number(counts.distinct), number(counts.audits),
            seconds, static_cast<double>(counts.images) / seconds);
        for (const std::string& failure : counts.first_failures) ADD_FAILURE() << failure;
        EXPECT_EQ(counts.failures, 0U);
        total_ += counts;
    }

private:
    static unsigned long long number(std::uint64_t n) { return n; }
    static inline Counts total_;
    static inline const char* name_ = "";
};

}  // namespace pmemcpy::crash
