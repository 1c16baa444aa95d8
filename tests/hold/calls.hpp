#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario.hpp"

namespace pmemcpy::hold {

// The calls that scenarios are made of.
Call open_pool(Mode mode = Mode::update);
Call close_pool();
Call store_int(const std::string& id, int value);
Call store_text(const std::string& id, std::size_t size, char fill);
Call store_box(const std::string& id, const Box& box, double first);
Call load_int(const std::string& id);
Call load_text(const std::string& id);
Call load_box(const std::string& id, const Box& box);
Call alloc(const std::string& id, const Dimensions& dims);
Call make_group(const std::string& id);
Call erase(const std::string& id);
Call rename(const std::string& from, const std::string& to);
/// The same where nobody else is at what it needs.
Call never_busy(Call call);
Call set_attribute(const std::string& id, const std::string& name, const std::string& text);
Call remove_attribute(const std::string& id, const std::string& name);
Call begin(std::uint64_t step);
Call commit(std::uint64_t step);
Call abandon();
Call compact();
Call trim();

std::string hash_of(const void* bytes, std::size_t size);
std::vector<double> numbers(std::size_t n, double first);

/// The pool on which every pair of calls meets: values in records and beside them, arrays of one and of many blocks, one of them in
/// place, a renamed variable, groups, attributes.
void set_up_everything(PMEM& pmem);
/// A call of each kind that the public class has, on names of that pool.
std::vector<std::vector<Call>> all_verbs();
/// Of these the ones that change or look at one value and its name.
std::vector<std::vector<Call>> verbs_on_one_name();
/// And the ones that put something into one group, take it out, or take the group away.
std::vector<std::vector<Call>> verbs_on_one_group();

}  // namespace pmemcpy::hold
