#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/struct.hpp>
#include <string>

// Attributes from the content of what is stored, set in the background, by which it can be found afterwards.

namespace pmemcpy {

/// Looks at an object and sets attributes of it. It sees what other processes see: no step that is not committed.
/// What it throws is told by Extractor::info(), and the object is looked at again when it is stored anew, or by a later extractor.
using Extract = std::function<void(PMEM& pool, const std::string& id)>;

struct ExtractorInfo {
    std::uint64_t looked_at = 0;  ///< objects, as often as they were
    std::uint64_t failed = 0;     ///< so often it threw an error
    std::string trouble{};        ///< the last of these, or why nothing is looked at at all
};

/// A thread that looks once at each content of each object that a query finds: what is there already and was not looked at under
/// this name, and what any process stores from now on; an array without a fill value when something is stored in it. It remembers
/// with the object what it has looked at.
/// Crash: what was being looked at is looked at again by the next extractor of this name; so two at once do some of it twice.
/// Sharing: all calls but the destructor may come from any thread. A forked child has none.
class Extractor {
public:
    /// `name` is that of what is extracted: an extractor of another name looks at everything itself.
    /// Errors: those of PMEM::mmap; permission_denied in a pool that may only be read; invalid_argument (name; a query with an
    ///     order, a limit or a count).
    Extractor(const std::string& path, const std::string& name, const Query& which, Extract extract);
    /// Waits for the call of the function that is under way.
    ~Extractor();
    Extractor(const Extractor&) = delete;
    Extractor& operator=(const Extractor&) = delete;

    /// Until all that was stored before the call was looked at.
    void wait();
    ExtractorInfo info() const;

private:
    class Worker;
    std::unique_ptr<Worker> worker_;
};

/// Of numbers but NaN. The deviation is that of a population: the root of the mean squared distance from the mean.
struct Statistics {
    std::uint64_t numbers;
    double min;
    double max;
    double mean;
    double deviation;
};

/// Sets the attribute `statistics` of arrays and values of numbers, so that `statistics.mean > 300` finds them; nothing of others.
Extract extract_statistics();

}  // namespace pmemcpy

PMEMCPY_STRUCT(pmemcpy::Statistics, numbers, min, max, mean, deviation);
