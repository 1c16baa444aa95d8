#pragma once

#include "os/file.hpp"

#include <cstdint>
#include <string>

namespace pmemcpy::spaces {

// The file `.namespace`, in text that people can read:
//
//   pmemcpy namespace 1
//   quota_bytes 1073741824       0: none
//
// A reader knows it by the first line, of which 1 is the version, and passes by lines that it does not know.

struct Marker {
    std::uint64_t quota_bytes = 0;
};

std::string text_of(const Marker& marker);
/// Errors: corrupt, unsupported for one of a later version.
Marker read_marker(const os::File& space);

/// Replaces it. Crash: it is the old or the new one.
void write_marker(const os::File& space, const Marker& marker);

}  // namespace pmemcpy::spaces
