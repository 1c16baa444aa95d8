#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "index/object.hpp"

namespace pmemcpy::index {

/// What an index knows of one object beside its id: all that it is posted under.
struct Posted {
    std::uint64_t fingerprint = 0;      // of what was looked at
    bool is_group = false;              // which each posting says
    std::vector<std::string> postings;  // sorted
};

std::string bytes_of(const Posted& posted);
/// Errors: corrupt.
Posted posted_in(std::string_view bytes);
/// Only that, for whoever reads many. Errors: corrupt.
std::uint64_t fingerprint_in(std::string_view bytes);

/// What a key is called in an index. Of an attribute's members only their names: what is in a list is under its name.
std::string name_of_key(const Key& key);
/// The same of the attribute or known thing alone.
std::string name_of_root(const Key& key);
std::string name_of_attribute(std::string_view attribute);
/// Whether such a name is of something that is known of an object.
bool is_name_of_known(std::string_view name);
/// Whether it is of what objects are called.
bool is_name_of_names(std::string_view name);
/// False for members that are numbers, under which nothing is posted.
bool has_names_only(const Key& key);
/// Whether what is known by this word is posted; attributes and values always are.
bool is_posted(Known known);

/// Under this there is `more` of objects that could not be read, or are not to be posted: every query has to look at them itself.
inline constexpr std::string_view unposted_key = "!";

/// Everything that an object is found by. `number` gives a key's number by its name.
std::vector<std::string> postings_of(Object& object,
                                     const std::function<std::uint32_t(const std::string&)>& number);

}  // namespace pmemcpy::index
