#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::tier {

/// What is handed to a command: a file in a flush target.
struct HandedFile {
    std::string file;       ///< its path
    std::string name;       ///< the last part of it
    std::string directory;  ///< the part before
    std::string id;         ///< of the variable; empty for an inventory
    std::string pool;       ///< the path of the pool
};

/// The words of a command, as a shell parts them at blanks, with '...', "..." and \ to take blanks and these signs as they are; nothing else has a
/// meaning. Of each word {file}, {name}, {directory}, {id} and {pool} become what they stand for, whatever signs are in that.
/// Errors: invalid_argument, when there is no word, a quote has no end, or something else stands in braces.
std::vector<std::string> fill_command(std::string_view command, const HandedFile& handed);
/// The same for a command that is not to be run yet.
void check_command(std::string_view command);

}  // namespace pmemcpy::tier
