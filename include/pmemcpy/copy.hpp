#pragma once

#include <cstdint>
#include <functional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>

namespace pmemcpy {

/// Called while something is copied, with how many bytes of it have come since the last call. May throw to end it.
using Copied = std::function<void(std::uint64_t bytes)>;

/// Copies a value or an array, with its attributes, into `target` under the id `to`; `force`: in the place of what is
/// there. The source is to be opened with checks, so that no damage gets a fresh checksum.
///
/// Kept: type, shape, order, codec, fill value, whether it grows or is contiguous or frozen, the boxes of its blocks, and
/// each byte of what some serializer has made. Not kept: steps, versions, who wrote it and when. A block that a newer one
/// covers in part is cut into pieces if it is large, and has the newer elements.
/// Crash: it is copied under a name of its own, ".copying-" and a number, and appears under `to` whole or not at all; what
///     was there before goes right before that. A copy that fails or is interrupted is erased; one that is killed stays
///     under its own name.
/// Sharing: others may store into the source; then the copy is made anew, and with the third time it is an error.
/// Errors: already_exists; not_found, when the source is erased; corrupt; busy; no_space.
/// Cost: memory for one piece of an array, or for one block when it is compressed.
void copy_variable(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                   bool force, const Copied& copied);

/// Copies the attributes of a variable or group; `force`: also those that are there already.
void copy_attributes(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                     bool force);

/// Gives a variable another name; `force`: that of another one, which then is gone. Without it this is atomic; with it
/// there is a moment when neither is seen.
void rename_variable(PMEM& pool, const std::string& from, const std::string& to, bool force);

}  // namespace pmemcpy
