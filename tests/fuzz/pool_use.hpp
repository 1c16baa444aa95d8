#pragma once

#include <cstdint>

#include <pmemcpy/pmemcpy.hpp>

namespace pmemcpy::fuzz {

/// Asks for everything that is in a pool, in every way there is, and touches every byte it is given. Errors are
/// answers like others; any other exception is none.
void look_at(const PMEM& pmem);

/// Every verb that changes something, on what is there and on what is not.
void change_all(PMEM& pmem);

}  // namespace pmemcpy::fuzz
