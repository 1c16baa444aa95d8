#pragma once

#include <string>

namespace pmemcpy::cli {

/// A pool, or something in it, as a command line names it: POOL or POOL:ID.
struct Place {
    std::string pool;
    std::string id;  ///< empty: the pool itself
};

/// A text that is a path as a whole is the pool, whatever colons it has. Else the pool is the longest part before a colon
/// that is a path, and what follows is the id. So paths with colons can be named, and ids with colons too.
/// Errors: not_found, when there is no such pool.
Place parse_place(const std::string& text);

}  // namespace pmemcpy::cli
