#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "library.hpp"

namespace mosiqs {

/// A pool of many small variables with ten attributes each: numbers and texts, some with a value of their own for each variable,
/// some shared by many. Two attributes go through all numbers from 0 to count - 1, each in an order of its own.
class Records {
public:
    static constexpr std::uint64_t least = 1000;
    static constexpr std::size_t data_bytes = 64;

    /// Errors: std::invalid_argument (too few, or more than the orders are made for).
    explicit Records(std::uint64_t count);

    std::uint64_t count() const { return count_; }
    std::string group(std::uint64_t number) const;
    std::string name(std::uint64_t number) const;
    std::string id(std::uint64_t number) const { return group(number) + '/' + name(number); }
    std::vector<Attribute> attributes(std::uint64_t number) const;

    std::int64_t serial(std::uint64_t number) const;
    std::string label(std::uint64_t number) const;
    /// Place `rank` in the order of energies, which are half a unit apart.
    std::uint64_t energy_rank(std::uint64_t number) const;
    static double energy(std::uint64_t rank) { return 0.5 * static_cast<double>(rank); }

private:
    std::uint64_t count_;
};

}  // namespace mosiqs
