// The tester must be able to see: with any one flush or fence of the library left out, some script must fail. The list
// of sites is what the scripts themselves pass, so that it cannot go stale.

#include <cstdio>
#include <map>

#include <gtest/gtest.h>

#include "explorer.hpp"

namespace pmemcpy::crash {
namespace {

std::string name_of(const MutantSite& site) {
    const char* operation = site.operation == persist::Operation::flush   ? "flush"
                            : site.operation == persist::Operation::fence ? "fence"
                                                                          : "bulk";
    return std::string(operation) + " " + site.file.substr(site.file.rfind("src/") + 4) + ":" +
           std::to_string(site.line);
}

TEST(crash, notices_every_flush_and_fence_that_is_left_out) {
    SimulatedKernel kernel(Model::line);
    std::map<MutantSite, std::vector<Script>> sites;
    for (const Script& script : scripts()) {
        const crash::Run run = perform(kernel, script);
        for (const MutantSite& site : sites_of(run.recording)) sites[site].push_back(script);
    }
    std::size_t caught = 0;
    for (const auto& [site, passing] : sites) {
        bool seen = false;
        std::uint64_t images = 0;
        for (const Script& script : passing) {
            Plan plan;
            plan.most_failures = 1;
            plan.random_images = 1500;
            plan.exhaustive_limit = 16;
            plan.left_out = site;
            if (site.file.ends_with("rebuild.cpp")) plan.nested_every = 16;
            const crash::Run run = perform(kernel, script, Grain::array, site);
            const Counts counts = Explorer(kernel, run, plan).explore();
            images += counts.images;
            if (counts.failures > 0) {
                seen = true;
                break;
            }
        }
        caught += seen ? 1 : 0;
        std::printf("%-8s %s after %llu images\n", seen ? "caught" : "SURVIVES", name_of(site).c_str(),
                    static_cast<unsigned long long>(images));
        std::fflush(stdout);
    }
    std::printf("mutants caught: %zu of %zu\n", caught, sites.size());
    EXPECT_EQ(caught, sites.size());
}

}  // namespace
}  // namespace pmemcpy::crash
