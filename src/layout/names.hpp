#pragma once

#include "os/file.hpp"
#include "pool/pool.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::layout {

/// Readable names: `dir/a/b` is a hard link to the payload of "a/b", where there is one that other programs can read.
/// Derived from the records: whatever stands in the way of a name, the name is left out, and nothing is said. A user may put a file of
/// his own there at any moment: a payload's name is taken out of the way first, and what was taken is looked at then.
///
/// A component of an id becomes a name as it is, unless it begins with a dot, is longer than 255 bytes, or looks like
/// what it would become then: `#` and its XXH3-64 in 16 hexadecimal digits.
class Names {
public:
    /// `root` and `data` stay open elsewhere as long as this lives. `pool`: null where nobody else is there.
    Names(const os::File& root, const os::File& data, const pool::Pool* pool = nullptr)
        : root_(root), data_(data), pool_(pool) {}

    /// Makes the id's name lead to that payload, at once where it led to another one.
    void link(std::string_view id, std::uint64_t number) const;
    /// Takes the id's name away, if it leads to a payload.
    void unlink(std::string_view id) const;
    /// Removes the directory of a group, if it is empty.
    void remove_group(std::string_view id) const;
    /// Takes away every name that leads to a payload but these ids', and directories that become empty so.
    void keep_only(const std::vector<std::string>& ids) const;

    static std::vector<std::string> components_of(std::string_view id);

private:
    enum class Missing { make, leave };
    std::optional<os::File> folder_of(const std::vector<std::string>& components, Missing missing) const;
    void put(const os::File& folder, const std::string& name, std::uint64_t number) const;
    bool replace(const os::File& folder, const std::string& name, const std::string& payload) const;
    bool take_away(const os::File& folder, const std::string& name) const;
    bool drop(const std::string& passing) const;
    std::string draw_passing() const;
    bool remove_directory(const std::vector<std::string>& components) const;

    const os::File& root_;
    const os::File& data_;
    const pool::Pool* pool_;
    mutable std::atomic<std::uint64_t> drawn_{0};
};

}  // namespace pmemcpy::layout
