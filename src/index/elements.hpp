#pragma once

#include <functional>
#include <optional>
#include <pmemcpy/packing.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <span>
#include <string>
#include <vector>

#include "index/fact.hpp"

namespace pmemcpy::index {

/// What a stored number stands for; nothing if it is missing. Any other fact is itself.
std::optional<Fact> meant(const Fact& stored, const Packing& packing);
/// The same of each of them.
void keep_meant(Facts& facts, const Packing& packing);

/// The elements of an array for which a test of `value`, or of a member of it, is true: for each block with such elements the smallest box around
/// them. Reads only blocks that can have one, by their least and greatest, and a few MiB of these at a time.
/// Errors: not_found when the array is erased meanwhile; corrupt, io_error.
std::vector<Box> find_elements(const PMEM& pool, const Info& array, const Node& test,
                               std::span<const std::string> members);

/// The least or greatest of numbers that come one after another; NaN is neither.
class Extreme {
public:
    explicit Extreme(bool is_least) : is_least_(is_least) {}
    void add(const Fact& number);
    const std::optional<Fact>& found() const noexcept { return found_; }

private:
    bool is_least_;
    std::optional<Fact> found_;
};

/// Calls visit with each number of an array, in each place the newest, or of a value; but not with NaN. False, without a call, for
/// what is not of numbers. Errors: as find_elements.
bool visit_numbers(const PMEM& pool, const Info& variable, const std::function<void(double)>& visit);

/// Reads all elements of an array of numbers. Errors: as find_elements.
void add_elements(const PMEM& pool, const Info& array, Extreme& extreme);

}  // namespace pmemcpy::index
