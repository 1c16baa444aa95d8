#pragma once

#include <pmemcpy/namespaces.hpp>
#include <string>

namespace pmemcpy::cli {

/// A pool, or something in it, as a command line names it: POOL or POOL:ID.
struct Place {
    std::string pool;  ///< its path
    std::string id;    ///< empty: the pool itself
};

/// A text that is a path as a whole is the pool, whatever colons it has. Else the pool is the longest part before a colon
/// that is a path, and what follows is the id. So paths with colons can be named, and ids with colons too.
/// Where NAME is a namespace, NAME: is its shared pool, NAME:ID is in that, NAME:POOL is another pool of it if there is one, and
/// NAME:POOL:ID is in that; NAME::ID is always in the shared one.
/// Errors: not_found, when there is no such pool.
Place parse_place(const std::string& text);

/// What parse_place() takes for something in a pool of a namespace: ns1:group/var, ns1:POOL:group/var.
std::string name_everywhere(const Namespace& space, const NamespacePool& pool, const std::string& id);

}  // namespace pmemcpy::cli
