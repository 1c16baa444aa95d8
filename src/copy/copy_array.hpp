#pragma once

#include <pmemcpy/copy.hpp>

namespace pmemcpy::copy {

/// Makes an array `to`, of which there is none, as the array `from` is, without its attributes. False when others have
/// stored into that meanwhile, so that parts of the copy may be older than others.
bool copy_array(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                const Copied& copied);

}  // namespace pmemcpy::copy
