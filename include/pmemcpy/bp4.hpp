#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace pmemcpy {

/// Writes variables as an ADIOS BP4 file (a directory). Blocks keep their boxes, minima and maxima, so ADIOS
/// reads them without rearranging. Returns what BP4 cannot hold (structures, opaque bytes, serialized objects
/// ...), as "id: type".
/// Shape: an empty `ids` means all variables. Steps become BP4 steps, in their order.
/// Crash: md.idx is written last; without it there is no BP4 file.
/// Errors: already_exists (path), not_found (an id), io_error.
/// Source: the BP4 serialization of Logan et al., section 3; format of ADIOS2.
std::vector<std::string> write_bp4(const PMEM& pmem, const std::string& path,
                                   const std::vector<std::string>& ids = {});

}  // namespace pmemcpy
