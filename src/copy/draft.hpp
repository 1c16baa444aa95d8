#pragma once

#include <pmemcpy/copy.hpp>
#include <string>

namespace pmemcpy::copy {

/// A name in the pool that nobody else has.
std::string name_of_ones_own(const PMEM& pool, const std::string& prefix);

/// Makes `draft`, of which there is none, a copy of `from` with its attributes: what copy_variable() gives its name then. An error
/// may leave it half made.
void fill(const PMEM& source, const std::string& from, PMEM& target, const std::string& draft,
          const Copied& copied);

}  // namespace pmemcpy::copy
