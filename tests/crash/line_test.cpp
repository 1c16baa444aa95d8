// Power loss on a medium where a cache line is durable once flushed and fenced: at every event of every script, the
// images that may be left are recovered by the real library and judged by what the user was promised.

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "explorer.hpp"

namespace pmemcpy::crash {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}



class LineMedium : public ::testing::TestWithParam<Script> {};

TEST_P(LineMedium, keeps_every_acknowledged_operation) {
    SimulatedKernel kernel(Model::line);
    const auto begin = std::chrono::steady_clock::now();
    const crash::Run run = perform(kernel, GetParam());
    Plan plan;
    plan.seed = number_from_environment("PMEMCPY_CRASH_SEED", 1);
    plan.random_images = number_from_environment("PMEMCPY_CRASH_IMAGES", 20000);
    const Counts counts = Explorer(kernel, run, plan).explore();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("line %-12s %6zu operations %6llu events %6llu points (%llu exhausted) %8llu images in %.1f s, %.0f a second; %llu audits\n",
                GetParam().name.c_str(), GetParam().operations.size(), static_cast<unsigned long long>(counts.events),
                static_cast<unsigned long long>(counts.points), static_cast<unsigned long long>(counts.exhausted),
                static_cast<unsigned long long>(counts.images), seconds, static_cast<double>(counts.images) / seconds,
                static_cast<unsigned long long>(counts.audits));
    for (const std::string& failure : counts.first_failures) ADD_FAILURE() << failure;
    EXPECT_EQ(counts.failures, 0U);
}

std::vector<Script> all_scripts() {
    std::vector<Script> all = scripts();
    const std::uint64_t seed = number_from_environment("PMEMCPY_CRASH_SEED", 1);
    for (std::uint64_t i = 0; i < 4; ++i) all.push_back(random_script(seed + i, 150));
    return all;
}

INSTANTIATE_TEST_SUITE_P(every, LineMedium, ::testing::ValuesIn(all_scripts()),
                         [](const auto& script) { return script.param.name; });

}  // namespace
}  // namespace pmemcpy::crash
