#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace pmemcpy::cli {

// Which ids a command line means. An id may have any character in it, so a word is taken for a glob only if it has a
// character of globs and nothing in the pool has the word for its id: `u[1]` is the variable of that name, if there is one.

/// What words list: the ids that begin with one of them, or match it if it is a glob; without words, all.
struct Listed {
    std::vector<std::string> ids;      ///< sorted, each once
    std::vector<std::string> nothing;  ///< words that list nothing
};
Listed listed(const PMEM& pmem, const std::vector<std::string>& words, bool with_groups);

/// The ids that the words name, each once, in the order of the words: a word is an id, a group also with a `/` behind it,
/// or a glob. Globs match groups only `with_groups`. Errors: not_found for a word that names nothing.
std::vector<std::string> named(const PMEM& pmem, const std::vector<std::string>& words, bool with_groups);

/// Without those that lie in a group that is named, too.
std::vector<std::string> outermost(const std::vector<std::string>& ids);

/// What is known of them. Others may erase what was just listed; then there is nothing to tell about it.
std::vector<Info> existing(const PMEM& pmem, const std::vector<std::string>& ids);

}  // namespace pmemcpy::cli
