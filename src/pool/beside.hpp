#pragma once

// Files and directories that lie beside a pool, which all who use the pool share.

#include "os/file.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace pmemcpy::pool {

/// Which pool a process has open: so that opening it once more, by its name, comes to no other.
struct Itself {
    os::Identity file;
    std::array<std::uint8_t, 16> uuid{};
    friend bool operator==(const Itself&, const Itself&) = default;
};

/// Whether the name that a pool was opened under still leads to it.
bool is_in_place(const os::File& pool);
/// A process calls this before it follows that name once more, and again when it has followed it: what lies beside the name may be another
/// pool's by then. Errors: busy.
void check_in_place(const os::File& pool);
[[noreturn]] void throw_out_of_place(const std::string& path);

/// Where the pool is now, as the kernel tells; nothing where it does not, or the pool was removed.
std::optional<std::string> path_now(const os::File& pool);

/// Where such a file lies: "/data/run.pmem.rt" for ".rt". Errors: those of check_in_place().
std::string path_beside(const os::File& pool, const std::string& ending);
/// The same without the look: for a process that only opens the pool, and looks later.
std::string path_beside_name(const os::File& pool, const std::string& ending);

/// That a file or directory beside the pool is not somebody's who may not write the pool: for he could block and crash those who
/// do. Errors: permission_denied.
void refuse_foreign(const os::File& file, const os::File& pool);

/// Of a file that only has the name of one: a user may have called something of their own so, another pool above all.
[[noreturn]] void throw_something_else(const os::File& file);

}  // namespace pmemcpy::pool
