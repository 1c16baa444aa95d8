// The tester must be able to see: with any one flush, fence or sync of the library left out, some script must fail. The
// sites are found in the source, so that the list cannot go stale; one that no script passes survives as well.
//
// Some are there for what no image of the medium can show, such as the order in which another process sees streamed
// bytes. Those say so where they stand, in a comment that begins as `excuse` does.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "deaths.hpp"
#include "explorer.hpp"

namespace pmemcpy::crash {
namespace {

using persist::Operation;

constexpr const char* excuse = "// No image shows it:";

std::string name_of(const MutantSite& site) {
    const std::map<Operation, std::string> names = {{Operation::flush, "flush"},
                                                    {Operation::fence, "fence"},
                                                    {Operation::bulk, "bulk"},
                                                    {Operation::sync, "sync"}};
    return names.at(site.operation) + " " + site.file + ":" + std::to_string(site.line);
}

/// However the compiler was told to name it: from the room on.
MutantSite named_from_room(MutantSite site) {
    site.file = site.file.substr(site.file.rfind("src/") + 4);
    return site;
}

/// What the rooms that write persistent metadata ask of the medium, and whether they excuse it.
std::map<MutantSite, bool> sites_in_source() {
    const std::regex call(R"((?:\bm|\bmedium_?|medium\(\))\.(flush|fence|persist|sync)\()"
                          R"(|\b(copy\w*_to_medium\w*|fill_medium)\()");
    std::map<MutantSite, bool> sites;
    for (const char* room : {"pool", "heap", "layout", "catalog", "store"}) {
        for (const auto& entry :
             std::filesystem::directory_iterator(std::string(PMEMCPY_SOURCE_FOLDER "/src/") + room)) {
            const std::string file = std::string(room) + "/" + entry.path().filename().string();
            if (!file.ends_with(".cpp") || file.ends_with("_test.cpp")) continue;
            std::ifstream text(entry.path());
            std::string line;
            bool is_excused = false;  // by a comment right before it
            for (std::uint32_t number = 1; std::getline(text, line); ++number) {
                std::smatch match;
                const bool is_comment = line.find_first_not_of(' ') == line.find("//");
                if (line.find(excuse) != std::string::npos) is_excused = true;
                if (is_comment) continue;
                if (std::regex_search(line, match, call)) {
                    const std::string asked = match[1];
                    if (match[2].matched) sites[{Operation::bulk, file, number}] = is_excused;
                    if (asked == "flush" || asked == "persist")
                        sites[{Operation::flush, file, number}] = is_excused;
                    if (asked == "fence" || asked == "persist")
                        sites[{Operation::fence, file, number}] = is_excused;
                    if (asked == "sync") sites[{Operation::sync, file, number}] = is_excused;
                }
                if (line.ends_with(';')) is_excused = false;
            }
        }
    }
    return sites;
}

using Passing = std::vector<std::pair<Script, MutantSite>>;

bool is_of_recovery(const MutantSite& site) { return site.file.ends_with("rebuild.cpp"); }

/// Those of one process; then those in which one dies, each at some of the events of its verb.
std::vector<Script> scripts_for(Model model) {
    constexpr std::size_t every = 9;
    std::vector<Script> all = scripts();
    if (model == Model::page)
        std::erase_if(all, [](const Script& s) { return s.place == SimulatedKernel::Place::device; });
    for (const Death& death : deaths()) {
        const std::size_t events = events_of(death, model);
        for (std::size_t at = 1; at <= events; at += every) all.push_back(script_of(death, at));
    }
    return all;
}

/// Which scripts pass which site. Recoveries are made by the explorer in every script.
std::map<MutantSite, Passing> sites_of_scripts() {
    std::map<MutantSite, Passing> passing;
    for (const Model model : {Model::line, Model::page}) {
        Passing all;
        std::set<MutantSite> recovery;
        for (const Script& script : scripts_for(model)) {
            SimulatedKernel kernel(model, script.place);
            all.emplace_back(script, MutantSite{});
            for (const MutantSite& site : sites_of(perform(kernel, script).recording)) {
                if ((site.operation == Operation::sync) != (model == Model::page)) continue;
                passing[named_from_room(site)].emplace_back(script, site);
                if (is_of_recovery(site)) recovery.insert(site);
            }
        }
        // What a recovery believes of the dead shows soonest where somebody died; the rest in any script.
        std::stable_partition(all.begin() + 1, all.end(),
                              [](const auto& one) { return one.first.first_operation > 0; });
        for (const MutantSite& site : recovery) {
            for (auto& [script, left_out] : all) left_out = site;
            passing[named_from_room(site)] = all;
        }
    }
    return passing;
}

/// Whether some script fails; adds the images that it took.
bool is_caught(const Passing& passing, std::uint64_t& images) {
    for (const auto& [script, site] : passing) {
        Plan plan;
        plan.model = site.operation == Operation::sync ? Model::page : Model::line;
        plan.most_failures = 1;
        const bool has_death = script.first_operation > 0;  // and so a recovery or a survivor in itself
        plan.random_images = has_death ? 300 : 5000;
        plan.exhaustive_limit = 16;
        plan.left_out = site;
        plan.audit_every = 3;
        if (has_death) plan.nested_images = 0;
        if (is_of_recovery(site)) plan.nested_every = 8;
        SimulatedKernel kernel(plan.model, script.place);
        const crash::Run run =
            perform(kernel, script, plan.model == Model::page ? Grain::element : Grain::array, site);
        const Counts counts = Explorer(kernel, run, plan).explore();
        images += counts.images;
        if (counts.failures > 0) return true;
    }
    return false;
}

TEST(crash, notices_every_flush_fence_and_sync_that_is_left_out) {
    const std::map<MutantSite, bool> sites = sites_in_source();
    const auto passing = sites_of_scripts();
    std::size_t caught = 0, excused = 0;
    for (const auto& [site, scripts] : passing) EXPECT_TRUE(sites.contains(site)) << name_of(site);
    for (const auto& [site, is_excused] : sites) {
        const auto scripts = passing.find(site);
        std::uint64_t images = 0;
        const char* word = "SURVIVES";
        if (is_excused) {
            ++excused;
            word = "excused";
        } else if (scripts == passing.end()) {
            word = "UNPASSED";
        } else if (is_caught(scripts->second, images)) {
            ++caught;
            word = "caught";
        }
        std::printf("%-8s %s after %llu images\n", word, name_of(site).c_str(),
                    static_cast<unsigned long long>(images));
        std::fflush(stdout);
    }
    std::printf("mutants: %zu of %zu caught, and %zu sites excused where they stand\n", caught,
                sites.size() - excused, excused);
    EXPECT_EQ(caught + excused, sites.size());
}

}  // namespace
}  // namespace pmemcpy::crash
