#pragma once

#include "os/file.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace pmemcpy::layout {

/// What of a target's directory a flush's command has taken: a file `handed-over` in it, a line for each, appended by one process at a time. A line
/// that is not whole does not count, so that after a crash something may be handed over twice, and nothing is left out.
class Handed {
public:
    explicit Handed(const os::File& directory);
    /// Of a file with this name and checksum: another one may have had its name.
    bool has(const std::string& name, std::uint32_t crc) const;
    void add(const std::string& name, std::uint32_t crc, unsigned mode_bits);
    /// Forgets all others, when most are of files that are gone.
    void keep_only(const std::unordered_set<std::string>& names, unsigned mode_bits);

    /// Why the command failed last, for whoever asks; empty if it did not.
    static std::string trouble_in(const os::File& directory);
    static void set_trouble(const os::File& directory, std::string_view text, unsigned mode_bits);
    static void forget(const os::File& directory);

private:
    const os::File& directory_;
    std::unordered_map<std::string, std::uint32_t> known_;
    std::uint64_t lines_ = 0;
    std::uint64_t end_ = 0;  // behind the last whole line
};

}  // namespace pmemcpy::layout
