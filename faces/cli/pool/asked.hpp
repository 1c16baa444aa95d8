#pragma once

#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <set>
#include <string>
#include <vector>

namespace pmemcpy::cli {

/// Attributes that a query asks for and that nothing has, in any of the pools that were looked into: most likely mistyped.
class Unheard {
public:
    explicit Unheard(const Query& query);
    void look_into(const PMEM& pmem);
    /// A line on stderr for each, with the most alike attribute that something has.
    void tell() const;

private:
    std::vector<Key> keys_;             // that nothing had yet
    std::set<std::string> attributes_;  // that there are
};

/// What an object has under a key, for a column; "-" for nothing.
std::string shown_under(const PMEM& pmem, const std::string& id, const Key& key);
/// As the command shows what was compared: a text without its quotes.
std::string shown(const Literal& value);

}  // namespace pmemcpy::cli
