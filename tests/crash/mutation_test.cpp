// The tester must be able to see: with any one flush, fence or sync of the library left out, some script must fail. The
// sites are found in the source, so that the list cannot go stale; one that no script passes survives as well.
//
// Some are there for what no image of the medium can show, such as the order in which another process sees streamed
// bytes. Those say so, and why, where they stand, in a comment that begins as `excuse` does. They are left out like the others, so
// that an excuse which a script disproves is known; and their number is pinned, so that no comment takes a failure away.
//
// PMEMCPY_MUTANT=TEXT: only those with the text in their names, such as "sync heap/", and how each shows.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deaths.hpp"
#include "explorer.hpp"

namespace pmemcpy::crash {
namespace {

using persist::Operation;

constexpr const char* only_these = "PMEMCPY_MUTANT";
constexpr const char* excuse = "// No image shows it:";
constexpr std::size_t most_excused = 8;  // no more without a proof that a reviewer accepts

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
                          R"(|\b(copy\w*_to_medium\w*|fill_medium|persist::store)\()");
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

/// A script that passes a site, or whose images are recovered by way of it.
struct Way {
    std::size_t script;  // of all
    MutantSite site;     // as the recorder names it
    Model model;
    bool passes = true;  // itself, and not only the recovery of its images
};

/// All scripts, and how each site is passed.
struct Ways {
    std::vector<Script> scripts;
    std::vector<std::size_t> events;  // that images are made of, of each
    std::map<MutantSite, std::vector<Way>> of;
};

bool has_death(const Script& script) { return script.first_operation > 0; }

/// Whether the recovery of each image passes the site.
bool is_of_recovery(const MutantSite& site) {
    return site.file.ends_with("rebuild.cpp") || site.file.ends_with("scan.cpp");
}

/// Whether the session after it does, which is not explored where the script has a death.
bool is_of_session(const MutantSite& site) {
    return site.operation == Operation::sync && site.file.ends_with("slab.cpp");
}

/// Lines are durable by flush and fence, pages by a sync; holes by a sync on either.
bool shows_on(Model model, const MutantSite& site) {
    if (site.operation != Operation::sync) return model == Model::line;
    return model == Model::page || site.file.ends_with("wipe.cpp");
}

/// Those of one process; then those in which one dies: each time between a store that others see and its flush, and at some of
/// the other events of its verb.
std::vector<Script> scripts_for(Model model) {
    constexpr std::size_t every = 40;
    std::vector<Script> all = scripts();
    if (model == Model::page)
        std::erase_if(all, [](const Script& s) { return s.place == SimulatedKernel::Place::device; });
    for (const Death& death : deaths()) {
        const std::vector<Event> events = undisturbed(death, model).events;
        for (std::size_t at = 1; at <= events.size(); ++at) {
            if ((model == Model::line && leaves_unflushed(events, at)) || at % every == 1)
                all.push_back(script_of(death, at));
        }
    }
    return all;
}

std::size_t events_looked_at(const crash::Run& run) {
    const std::vector<Event>& events = run.recording.events;
    const auto first = std::find_if(events.begin(), events.end(), [&](const Event& event) {
        return event.kind == Event::Kind::begin && event.offset >= run.first_operation;
    });
    return static_cast<std::size_t>(events.end() - first);
}

/// Which scripts pass which site.
Ways ways() {
    Ways all;
    for (const Model model : {Model::line, Model::page}) {
        const std::size_t first = all.scripts.size();
        std::set<MutantSite> everywhere;
        for (Script& script : scripts_for(model)) {
            SimulatedKernel kernel(model, script.place);
            const crash::Run run = perform(kernel, script);
            all.events.push_back(events_looked_at(run));
            for (const MutantSite& site : sites_of(run.recording)) {
                if (!shows_on(model, site)) continue;
                all.of[named_from_room(site)].push_back({all.scripts.size(), site, model});
                if (is_of_recovery(site) || is_of_session(site)) everywhere.insert(site);
            }
            all.scripts.push_back(std::move(script));
        }
        for (const MutantSite& site : everywhere) {
            std::vector<Way>& of_site = all.of[named_from_room(site)];
            std::set<std::size_t> passing;
            for (const Way& way : of_site) passing.insert(way.script);
            of_site.clear();
            for (std::size_t i = first; i < all.scripts.size(); ++i) {
                if (is_of_session(site) && has_death(all.scripts[i])) continue;
                of_site.push_back({i, site, model, passing.contains(i)});
            }
        }
    }
    return all;
}

/// How closely a script is looked at.
struct Look {
    std::uint64_t point_every;  // one of so many moments
    std::uint64_t images;  // drawn for each, where a process dies: a recovery or a survivor is in it already
};

constexpr Look glance{16, 30};
/// At what has to be noticed, one after the other; of what is excused a glance tells whether it still is.
constexpr std::array looks = {glance, Look{4, 100}, Look{1, 300}};

/// Whether the script fails with the site left out; adds the images that it took.
bool is_caught(const Script& script, const Way& way, const Look& look, std::uint64_t& images) {
    Plan plan;
    plan.point_every = look.point_every;
    plan.model = way.model;
    plan.most_failures = 1;
    plan.random_images = has_death(script) ? look.images : 5000;
    plan.exhaustive_limit = 16;
    plan.left_out = way.site;
    plan.audit_every = 3;
    if (has_death(script)) plan.nested_images = 0;
    if (is_of_recovery(way.site) || is_of_session(way.site)) plan.nested_every = 8;
    SimulatedKernel kernel(plan.model, script.place);
    const crash::Run run =
        perform(kernel, script, plan.model == Model::page ? Grain::element : Grain::array, way.site);
    const Counts counts = Explorer(kernel, run, plan).explore();
    images += counts.images;
    if (counts.failures > 0 && std::getenv(only_these) != nullptr)
        std::printf("%s\n", counts.first_failures.front().c_str());
    return counts.failures > 0;
}

/// Several processes share the sites out among them; this is what they know of each other.
class Gate {
public:
    explicit Gate(Ways ways) : ways_(std::move(ways)), sites_(sites_in_source()) {
        for (const auto& [site, ways_of_site] : ways_.of) EXPECT_TRUE(sites_.contains(site)) << name_of(site);
        if (const char* only = std::getenv(only_these); only != nullptr) {
            std::erase_if(sites_, [only](const auto& one) {
                return name_of(one.first).find(only) == std::string::npos;
            });
        }
        void* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::runtime_error("no memory to share");
        shared_ = static_cast<std::atomic<std::uint32_t>*>(memory);
    }
    ~Gate() { ::munmap(shared_, bytes()); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    /// With as many processes as there are cores.
    void run() {
        std::vector<pid_t> processes;
        for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
            processes.push_back(::fork());
            if (processes.back() != 0) continue;
            try_sites();
            ::_exit(0);
        }
        for (const pid_t process : processes) {
            int status = 0;
            ::waitpid(process, &status, 0);
            EXPECT_EQ(status, 0) << "of a process that left out one site after the other";
        }
    }

    void expect_all_caught() const {
        std::size_t excused = 0, caught = 0, number = 0;
        for (const auto& [site, is_excused] : sites_) {
            const std::uint32_t catcher = catcher_of(number++);
            excused += is_excused ? 1 : 0;
            caught += catcher != 0 && !is_excused ? 1 : 0;
            EXPECT_TRUE(catcher != 0 || is_excused)
                << name_of(site) << " is left out, and no script notices it";
            if (catcher != 0 && is_excused) {
                ADD_FAILURE() << name_of(site) << " is excused, but " << ways_.scripts.at(catcher - 1).name
                              << " notices it; take the excuse away";
            }
        }
        EXPECT_LE(excused, most_excused)
            << "an excuse hides what no script notices; write the script instead";
        std::printf("mutants: %zu of %zu caught, and %zu sites excused where they stand\n", caught,
                    sites_.size() - excused, excused);
    }

private:
    std::atomic<std::uint32_t>& next() const { return shared_[0]; }
    /// How many mutants a script has caught.
    std::atomic<std::uint32_t>& catches(std::size_t script) const { return shared_[1 + script]; }
    /// By the number of the site in `sites_`: that of the script that has caught it, counted from 1; 0: none has.
    std::atomic<std::uint32_t>& catcher_of(std::size_t site) const {
        return shared_[1 + ways_.scripts.size() + site];
    }
    std::size_t bytes() const { return (1 + ways_.scripts.size() + sites_.size()) * sizeof *shared_; }

    // What is soon caught comes first: then it is known which scripts catch, and they are asked first about what takes long.
    void try_sites() const {
        std::uint32_t mine = next()++, number = 0;
        for (const auto& [site, is_excused] : sites_) {
            if (number == mine) {
                catcher_of(number) = try_one(site, is_excused);
                mine = next()++;
            }
            ++number;
        }
    }

    /// The number of the script that catches it, as in catcher_of().
    std::uint32_t try_one(const MutantSite& site, bool is_excused) const {
        const auto found = ways_.of.find(site);
        const std::span<const Look> closely = std::span(looks).first(is_excused ? 1 : looks.size());
        std::uint64_t images = 0;
        const std::uint32_t catcher =
            found == ways_.of.end() ? 0 : who_catches(found->second, closely, images);
        const char* word = is_excused ? "excused" : found == ways_.of.end() ? "UNPASSED" : "SURVIVES";
        if (catcher != 0) word = is_excused ? "NOTICED" : "caught";
        std::printf("%-8s %s after %llu images%s\n", word, name_of(site).c_str(),
                    static_cast<unsigned long long>(images),
                    catcher == 0 ? "" : (" by " + ways_.scripts[catcher - 1].name).c_str());
        std::fflush(stdout);
        return catcher;
    }

    /// What passes the site itself is asked first.
    std::uint32_t who_catches(const std::vector<Way>& all, std::span<const Look> closely,
                              std::uint64_t& images) const {
        std::vector<Way> itself, in_recovery;
        for (const Way& way : all) (way.passes ? itself : in_recovery).push_back(way);
        const std::uint32_t catcher = who_of(itself, closely, images);
        return catcher != 0 ? catcher : who_of(in_recovery, closely, images);
    }

    /// What has caught others is asked first, and of the rest what is soon answered; all of them with a glance, as a line that was
    /// never flushed shows for long, before any is looked at closely.
    std::uint32_t who_of(const std::vector<Way>& all, std::span<const Look> closely,
                         std::uint64_t& images) const {
        for (const Look& look : closely) {
            std::vector<Way> left = all;
            while (!left.empty()) {
                const auto best = std::min_element(left.begin(), left.end(), [&](const Way& a, const Way& b) {
                    return std::tuple(-std::int64_t{catches(a.script)}, has_death(ways_.scripts[a.script]),
                                      ways_.events[a.script]) < std::tuple(-std::int64_t{catches(b.script)},
                                                                           has_death(ways_.scripts[b.script]),
                                                                           ways_.events[b.script]);
                });
                const Way way = *best;
                left.erase(best);
                if (!is_caught(ways_.scripts[way.script], way, look, images)) continue;
                ++catches(way.script);
                return static_cast<std::uint32_t>(way.script + 1);
            }
        }
        return 0;
    }

    Ways ways_;
    std::map<MutantSite, bool> sites_;
    std::atomic<std::uint32_t>* shared_ = nullptr;
};

TEST(crash, notices_every_flush_fence_and_sync_that_is_left_out) {
    Gate gate(ways());
    gate.run();
    gate.expect_all_caught();
}

}  // namespace
}  // namespace pmemcpy::crash
