#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

namespace pmemcpy::os {

// Names and directories. A failure throws an Error with the path; what is merely missing or taken is an
// answer.

bool exists(const std::string& path);
bool is_directory(const std::string& path);
bool is_character_device(const std::string& path);
/// False if there was no such file.
bool remove_file(const std::string& path);
/// Removes an empty directory; false if there was none.
bool remove_directory(const std::string& path);
/// False if it was there already.
bool make_directory(const std::string& path, mode_t mode);
/// Replaces `to` atomically.
void rename_file(const std::string& from, const std::string& to);
/// Another name for the same file; false if `to` is taken.
bool make_hard_link(const std::string& from, const std::string& to);
/// The path without symbolic links; nothing if there is no such thing.
std::optional<std::string> real_path(const std::string& path);
/// The same path, absolute and without symbolic links, so that it leads there from any directory and whoever else comes by another
/// name says the same; of a file that is mounted by itself, the one in its directory, where that is seen. Of what is not there yet, the directory is; a slash at the end stays. A path that cannot be told so stays as
/// it is.
std::string settled_path(const std::string& path);
/// The folder that a path leads into: "." for a bare name.
std::string folder_of(const std::string& path);
/// A text file of /proc or /sys, without white space at its end; nothing if it cannot be read.
std::optional<std::string> read_text(const std::string& path);

}  // namespace pmemcpy::os
