#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "media.hpp"
#include "script.hpp"

namespace pmemcpy::crash {

struct Counts {
    std::uint64_t events = 0;
    std::uint64_t points = 0;     // moments at which a new image was possible
    std::uint64_t exhausted = 0;  // of those, with every choice of old or new lines tried
    std::uint64_t images = 0;
    std::uint64_t distinct = 0;  // of those: only these are recovered, for the others would end alike
    std::uint64_t recoveries =
        0;                     // second ones, and those of an image whose recovery was cut short, included
    std::uint64_t audits = 0;  // pools emptied to see whether all space comes back
    std::uint64_t failures = 0;
    std::vector<std::string> first_failures;

    Counts& operator+=(const Counts& other);
};

struct Plan {
    Model model = Model::line;
    std::uint64_t seed = 1;
    std::uint64_t random_images = 20000;  // about so many for a run
    std::uint64_t exhaustive_limit = 64;  // all choices of old or new where there are no more than these
    bool tears_words = false;             // a store of more than 8 bytes arrives word by word, in any order
    std::uint64_t point_every = 1;        // of so many moments one is looked at, and each acknowledgement
    std::uint64_t audit_every = 16;       // images between two that are worked on and then emptied
    std::uint64_t most_failures = 5;      // after which it gives up
    std::uint64_t nested_images = 8;      // of each recovery that is itself cut short
    std::uint64_t nested_every = 512;     // images between two whose recovery is cut short
    std::optional<MutantSite> left_out = {};  // of recoveries too
};

/// Recovers a run's crash images, one after the other, and judges each by what the user may see.
class Explorer {
public:
    Explorer(SimulatedKernel& kernel, const Run& run, const Plan& plan);
    Counts explore();

private:
    struct Allowed {
        std::size_t first;  // contents[first..last]
        std::size_t last;
    };

    // Of what was stored in a granule.
    struct Arrived {
        std::uint32_t line;
        std::uint32_t stores;  // the oldest so many, whole
        std::uint64_t words;   // and these of the next one
        const Media::Granule* granule;
    };

    void explore_point(const std::vector<std::uint32_t>& newest, std::uint64_t images);
    void explore_one_by_one(std::uint32_t forced, bool all);
    void let_arrive(std::uint32_t line, const Media::Granule& granule, std::size_t stores,
                    std::uint64_t words = 0);
    std::uint64_t words_of(const Media::Store& store);
    void put(const Arrived& arrived);
    bool is_known();
    void check();
    Content observe_now(const PMEM& pmem) const;
    std::string judge(const Content& found) const;
    std::string judge_alone(const Content& found) const;
    bool was_there_by_another_name(const std::string& key, std::uint64_t hash) const;
    void recover_and_check();
    static void store_later(PMEM& pmem);
    Content observe_without_later(const PMEM& pmem) const;
    void go_on(PMEM& pmem, const Content& found);
    void audit(PMEM& pmem);
    void check_links();
    void check_wiped();
    void check_second(const Content& found);
    void check_cut_short();
    void fail(const std::string& what);

    SimulatedKernel& kernel_;
    const Run& run_;
    Plan plan_;
    Image image_;
    Media media_;
    Allowed allowed_{0, 0};
    std::mt19937_64 random_;
    Counts counts_;
    std::size_t event_ = 0;
    std::size_t changes_ = 0;       // of the file system's journal that have happened in the image at hand
    std::vector<Arrived> arrived_;  // in the image at hand
    std::unordered_set<std::uint64_t> known_;  // images of the moment at hand
};

}  // namespace pmemcpy::crash
