#pragma once

// What the explorer and its judge know of a run. Only they include this.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer.hpp"

namespace pmemcpy::hold {

/// The state of an actor in a run, of which its thread changes `results` and the stamps.
struct Part {
    Process process;
    PMEM pmem;
    std::vector<std::string> results;
    std::vector<std::uint64_t> begins, ends;  // moments, by call
    std::size_t told = 0;                     // accesses that others have heard of
    std::uint64_t death = 0;                  // moment
    std::optional<std::size_t> choice;        // where it is held
};

struct Explorer::Cast {
    std::vector<std::unique_ptr<Part>> parts;
    std::uint64_t moment = 0;
    std::string story;
};

struct Explorer::Outcome {
    std::vector<std::vector<std::string>> results;
    std::vector<std::vector<std::uint64_t>> begins, ends;
    std::vector<bool> is_dead;
    std::vector<std::uint64_t> deaths;  // moments
    bool has_readable_names =
        true;  // whether readable names are as they should be: nobody has died, or a recovery came after it
};

/// A sequence of calls says of each which actor makes it; so many more that there are actors stands for the actor's death, and twice as
/// many more for its next call when that is refused as busy, which is the same as not made.
struct Explorer::Order {
    std::vector<std::vector<std::string>> results;
    crash::Content content;
    crash::Content readable;  // the files with readable names
};

/// What the caller of a call has of it.
std::string make(const Call& call, PMEM& pmem);

}  // namespace pmemcpy::hold
