#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// Whether what lies at a path is a pool.
bool is_pool(const std::string& path);
/// Whether a path is that of a directory that is no pool, but may hold some.
bool is_folder(const std::string& path);
/// The paths of the pools that lie right in a directory, sorted.
std::vector<std::string> pools_in(const std::string& folder);
/// Whether something is there that a word names: a pool, a directory, a namespace's pool.
bool is_place(const std::string& word);

/// A pool among several, as a command line has named it.
struct PoolOfMany {
    std::string path;
    std::string shown;                                            ///< what people call it
    std::function<std::string(const std::string& id)> full_name;  ///< as cp takes it: "run.pmem:u"
    nlohmann::ordered_json place;                                 ///< what JSON says of where it is
    bool is_named = false;  ///< by itself, and not found in a directory or namespace
};

/// The pools that the words name, a directory those in it. Of one pool that is named by itself ids are full names.
std::vector<PoolOfMany> pools_named(const std::vector<std::string>& words);
/// All pools of all namespaces that let this user in. Errors: those of namespaces().
std::vector<PoolOfMany> pools_everywhere();

/// Opens one after another, until `look` returns false. What is wrong with one pool says nothing of the others: a note on stderr tells of it.
/// Returns the exit status: that of the last that was named by itself and could not be looked into; 0.
/// Errors: of one pool alone those of opening it and of `look`; of several those that the question itself makes (invalid_argument).
int look_into(const std::vector<PoolOfMany>& pools,
              const std::function<bool(const PoolOfMany&, const PMEM&)>& look);

}  // namespace pmemcpy::cli
