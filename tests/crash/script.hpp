#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <pmemcpy/pmemcpy.hpp>

#include "content.hpp"
#include "recorder.hpp"
#include "simulated_kernel.hpp"

namespace pmemcpy::crash {

enum class Effect {
    changes,  ///< the user sees another content after it
    neutral,  ///< the user sees the same
    either,  ///< who did it died in it: the user sees another content or not, and after a power loss the one or the other
    hidden,  ///< the user sees the same until a step is committed; the process itself sees more
    maybe,   ///< the user sees another content if what it builds on is there
};

/// One call of the library.
struct Operation {
    std::string name;
    Effect effect;
    std::function<void(PMEM&)> call;
    bool is_sync = false;                  ///< on page media it acknowledges all before it
    bool formats = false;                  ///< until it is done there may be no pool
    std::vector<std::string> builds_on{};  ///< what the dead did to these stays, once this is acknowledged
};

/// Calls in order, as one process makes them on a pool of its own.
struct Script {
    std::string name;
    Options options;
    std::vector<Operation> operations;
    SimulatedKernel::Place place = SimulatedKernel::Place::file;
    std::size_t first_operation = 0;  ///< no images of what was before
};
/// What GoogleTest prints of it.
inline void PrintTo(const Script& script, std::ostream* out) { *out << script.name; }

Options small_pool(std::uint64_t max_bytes = 256 * 1024);

/// What one run of a script did to the pool, and what the user may see after each operation.
struct Run {
    std::vector<std::byte> start;  ///< the pool as created
    SimulatedKernel::Allocation allocation;
    Recording recording;
    std::size_t first_operation = 0;
    std::vector<Content> contents;      ///< [0] before the first operation, [i + 1] after operation i
    std::vector<Content> otherwise;     ///< as contents, without what a process did that died in it
    std::optional<Content> unfinished;  ///< what there would be had he who died in a call come to its end
    Content old_steps;                  ///< all that was ever seen of them
    std::vector<bool> is_sync;   ///< as contents: from here on all before is acknowledged on page media
    std::vector<bool> formats;   ///< as contents
    std::vector<bool> is_clean;  ///< as contents: the pool has been closed cleanly
};

/// Whether the next to open the pool will trust its links.
bool is_clean(std::span<const std::byte> pool);

/// Runs a script on the simulated kernel. Throws std::logic_error when an operation does not do what its effect says.
Run perform(SimulatedKernel& kernel, const Script& script, Grain grain = Grain::array,
            std::optional<MutantSite> left_out = {});

/// The scripts through all public verbs.
std::vector<Script> scripts();
/// A script of `length` calls drawn at random.
Script random_script(std::uint64_t seed, std::size_t length);

}  // namespace pmemcpy::crash
