#pragma once

#include <pmemcpy/scope.hpp>
#include <string>

namespace pmemcpy::copy {

/// The side of `target` that a copy comes to: the private one where the source is private, or the object that it replaces, or the
/// group that it comes into. Errors: those of private_side(), with the id of the private one.
PMEM& side_for(const PMEM& source, const std::string& from, PMEM& target, const std::string& to);

/// Errors: unsupported, where attributes of something private would come to something shared.
void check_attributes_stay_private(const PMEM& source, const std::string& from, const PMEM& target,
                                   const std::string& to);

}  // namespace pmemcpy::copy
