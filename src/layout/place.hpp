#pragma once

#include "os/file.hpp"

#include <pmemcpy/options.hpp>

#include <optional>
#include <string>

namespace pmemcpy::layout {

// The names inside the directory that are the pool's own; readable names never begin with a dot.
inline constexpr const char* records_name = ".pool";
inline constexpr const char* data_name = ".data";

/// Where a pool that a user names by one path has its parts.
struct Place {
    std::string records;    // the pool file
    std::string directory;  // what it lies in, without a slash at its end; empty in the file layout
    bool is_directory() const { return !directory.empty(); }
};

/// Errors: unsupported when what is there has the other layout than the one asked for.
Place place_of(const std::string& path, Layout layout);

/// Of the directories of a pool whose file has these permissions: who may read it may enter them.
unsigned directory_mode(unsigned permissions);

/// The directory of a pool and the one for payloads, made for a pool that is about to be: each only if it is missing,
/// and taken away again unless the pool was made.
class NewDirectories {
public:
    /// Whoever may read the pool file by `permissions` may enter the directories.
    /// Errors: invalid_argument when the directory holds something that is not a pool's.
    NewDirectories(const Place& place, unsigned permissions);
    ~NewDirectories();
    NewDirectories(const NewDirectories&) = delete;
    NewDirectories& operator=(const NewDirectories&) = delete;

    /// An earlier pool has left something, so that the new one must begin with a recovery.
    bool have_leftovers() const { return have_leftovers_; }
    void keep() { kept_ = true; }
    /// Takes away what this object made of them, once the pool is gone.
    void take_back() noexcept;

private:
    Place place_;
    bool made_root_ = false;
    bool made_data_ = false;
    bool have_leftovers_ = false;
    bool kept_ = false;
};

/// The directory that holds the payloads: itself, and nothing that a symbolic link leads to. Errors: corrupt where there is
/// none.
os::File open_data(const os::File& root);
os::File open_data(const Place& place);

/// Removes payloads and readable names, not the records. Nobody may have the pool open. With `records`: only if they are that file, for
/// another directory may have the name by now.
void remove_payloads(const Place& place, const std::optional<os::Identity>& records = {});

}  // namespace pmemcpy::layout
