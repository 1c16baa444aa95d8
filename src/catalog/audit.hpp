#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pmemcpy::catalog {

/// Where all the space of a pool is. Every taken unit and run must belong to exactly one thing that an id leads
/// to, or wait in some process's retire list.
struct Audit {
    std::uint64_t variables = 0;          // defined ids, groups among them
    std::uint64_t undefined_entries = 0;  // ids that somebody made and never gave a value
    std::uint64_t reached_records = 0;
    std::uint64_t reached_extents = 0;
    std::uint64_t retired_records = 0;  // unpublished, listed by an attached process

    std::uint64_t leaked_records = 0;     // taken, and nothing leads there
    std::uint64_t leaked_units = 0;       // of data slabs
    std::uint64_t leaked_chunks = 0;      // of runs
    std::uint64_t hidden_units = 0;       // free, but passed over by allocation
    std::uint64_t doubly_owned = 0;       // records or extents that two things claim
    std::uint64_t unwiped = 0;            // free space that is not zeros, in a pool that wipes
    std::uint64_t lost = 0;               // what an id leads to is marked free, or is damaged
    std::vector<std::string> complaints;  // of the last seven, in words; the first few

    bool is_clean() const {
        return leaked_records == 0 && leaked_units == 0 && leaked_chunks == 0 && doubly_owned == 0 &&
               unwiped == 0 && lost == 0;
    }
};

}  // namespace pmemcpy::catalog
