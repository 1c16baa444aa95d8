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

/// The scripts of every verb, and some drawn at random from PMEMCPY_CRASH_SEED.
inline std::vector<Script> all_scripts() {
    std::vector<Script> all = scripts();
    const std::uint64_t seed = number_from_environment("PMEMCPY_CRASH_SEED", 1);
    for (std::uint64_t i = 0; i < 4; ++i) all.push_back(random_script(seed + i, 150));
    return all;
}

/// Explores one script, about PMEMCPY_CRASH_IMAGES images at random, prints what was seen and fails for what was wrong.
inline void explore_script(const Script& script, Plan plan, const char* name) {
    const auto begin = std::chrono::steady_clock::now();
    SimulatedKernel kernel(plan.model);
    const Run run = perform(kernel, script, plan.model == Model::page ? Grain::element : Grain::array);
    plan.seed = number_from_environment("PMEMCPY_CRASH_SEED", 1);
    plan.random_images = number_from_environment("PMEMCPY_CRASH_IMAGES", plan.random_images);
    const Counts counts = Explorer(kernel, run, plan).explore();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    std::printf(
        "%-5s %-11s %4zu operations %6llu events %6llu points (%5llu exhausted) %8llu images %7llu audits in "
        "%.1f s, %.0f a second\n",
        name, script.name.c_str(), script.operations.size(), number(counts.events), number(counts.points),
        number(counts.exhausted), number(counts.images), number(counts.audits), seconds,
        static_cast<double>(counts.images) / seconds);
    for (const std::string& failure : counts.first_failures) ADD_FAILURE() << failure;
    EXPECT_EQ(counts.failures, 0U);
}

}  // namespace pmemcpy::crash
