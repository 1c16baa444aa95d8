#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "cli/pool/place.hpp"

namespace pmemcpy::cli {

/// Something that gets a copy, or another name.
struct Transfer {
    PMEM* source = nullptr;
    Info info;       ///< its id, and what it is: groups are there for their attributes
    std::string to;  ///< the new id
};

/// The pools of one command, each open once, however often it is named.
class Pools {
public:
    using Open = std::function<PMEM(const std::string& path)>;
    explicit Pools(Open open) : open_(std::move(open)) {}
    PMEM& at(const std::string& path);

private:
    Open open_;
    std::map<std::string, std::unique_ptr<PMEM>> pools_;  // by the path without links and dots
};

/// What goes where when `from` is transferred to `to`, a pool's id or a group's id with a / at its end: variables in the
/// order of their ids, then groups, the innermost first. Nothing is changed yet.
/// Errors: not_found; invalid_argument, when all of a pool is to have one name.
std::vector<Transfer> plan(PMEM& source, const Place& from, const std::string& to);

/// That all of them take in their pools, for the progress.
std::uint64_t bytes_of(const std::vector<Transfer>& transfers);

/// Copies the groups of them, the outermost first, with their attributes. Its members find a group there, private or not.
void copy_groups(const std::vector<Transfer>& transfers, PMEM& target, bool force);

/// Says before anything is done what would go wrong: names that are taken, or that two are to have.
/// Errors: already_exists, invalid_argument
void check(const std::vector<Transfer>& transfers, const PMEM& target, bool force);

}  // namespace pmemcpy::cli
