#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/file.hpp"

namespace pmemcpy::os {

// Names inside a directory that is held open, so that nobody can put another one in its place meanwhile. No name
// has a slash, and no symbolic link is followed. A failure throws an Error with the path; what is merely missing
// or taken is an answer.

/// What a name stands for, without opening it.
struct Named {
    enum What { regular, directory, other } what = other;
    Identity identity;
    std::uint64_t size = 0;
    unsigned mode_bits = 0;
    unsigned link_count = 0;
    unsigned owner = 0;
};
std::optional<Named> look_in(const File& directory, const std::string& name);

/// All names but `.` and `..`, in no order; none of a directory that was removed meanwhile.
std::vector<std::string> names_in(const File& directory);
/// False if there was no such name.
bool remove_in(const File& directory, const std::string& name);
/// False if there was none, or if it is not empty.
bool remove_directory_in(const File& directory, const std::string& name);
/// False if the name is taken.
bool make_directory_in(const File& directory, const std::string& name, mode_t mode);
/// Another name for a file; false if it is taken.
bool link_in(const File& from_directory, const std::string& from, const File& to_directory,
             const std::string& to);
/// Replaces `to` atomically. False if there is no `from`.
bool rename_in(const File& from_directory, const std::string& from, const File& to_directory,
               const std::string& to);

/// The same, but false too if `to` is taken.
bool rename_new_in(const File& from_directory, const std::string& from, const File& to_directory,
                   const std::string& to);
/// Each gets the other's name, in one moment. False if one of them is not there, or where the file system cannot do that.
bool exchange_in(const File& directory, const std::string& name, const File& other_directory,
                 const std::string& other);
/// Whether the kernel would let this process do all of `permissions` (R_OK, W_OK, X_OK of unistd.h). Only to say so in time: what counts
/// is the call that follows.
bool may_in(const File& directory, const std::string& name, int permissions);

/// Everything that anybody has written to the file system of `file` is on the device when this returns (syncfs).
void sync_file_system(const File& file);

}  // namespace pmemcpy::os
