#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <pmemcpy/struct.hpp>
#include <string>

// Attributes that are computed from the content of stored objects, in the background, so that queries find
// the objects by them.

namespace pmemcpy {

/// Reads an object and sets attributes of it. It sees what other processes see: no uncommitted step. Its loads
/// are checked: `corrupt` instead of damaged bytes.
/// Extractor::info() reports what it throws; the object is then tried again when it is stored anew, or by a
/// later extractor.
using Extract = std::function<void(PMEM& pool, const std::string& id)>;

/// The work of an extractor so far.
struct ExtractorInfo {
    std::uint64_t looked_at = 0;  ///< calls of the function
    std::uint64_t failed = 0;     ///< calls that threw
    std::string trouble{};        ///< the last of these errors, or why no object is looked at
};

/// A thread that calls a function once for each content of each object that a query finds. It covers what
/// exists and was not looked at under this name, and what any process stores later. An array without a fill
/// value is looked at as soon as some of it is stored. The object itself records what was looked at.
/// Crash: an interrupted look is repeated by the next extractor of this name. Two extractors at once do some
///     work twice.
/// Sharing: any thread may make all calls but the destructor. A forked child has no extractor.
class Extractor {
public:
    /// Starts the thread. `name` stands for what is extracted: an extractor of another name looks at every
    /// object itself.
    /// Errors: those of PMEM::mmap; permission_denied in a pool open for reading; invalid_argument (name; a
    ///     query with an order, a limit or a count).
    Extractor(const std::string& path, const std::string& name, const Query& which, Extract extract);
    /// The same of a pool that is open here, and of no other that has its name by now.
    /// Errors: the same; busy when another pool has its name by now, or none.
    Extractor(const PMEM& pool, const std::string& name, const Query& which, Extract extract);
    /// Waits for a running call of the function. In the function itself it does not wait: the thread ends when the function
    /// returns.
    ~Extractor();
    Extractor(const Extractor&) = delete;
    Extractor& operator=(const Extractor&) = delete;

    /// Waits until everything stored before the call was looked at. Errors: unsupported in an extractor's
    /// function.
    void wait();
    /// The work so far.
    ExtractorInfo info() const;

private:
    class Worker;
    std::unique_ptr<Worker> worker_;
};

/// Statistics of all numbers except NaN and those that are missing; packed ones are unpacked (see Packing). The deviation is that of
/// a population: the root of the mean squared distance from the mean.
struct Statistics {
    std::uint64_t numbers;
    double min;
    double max;
    double mean;
    double deviation;
};

/// Sets the attribute `statistics` of arrays and values of numbers, so that `statistics.mean > 300` finds
/// them. Ignores other objects.
Extract extract_statistics();

}  // namespace pmemcpy

PMEMCPY_STRUCT(pmemcpy::Statistics, numbers, min, max, mean, deviation);
