#pragma once

#include <fstream>
#include <string>

#include <pmemcpy/pmemcpy.hpp>

#include "tests/crash/content.hpp"

namespace pmemcpy::format {

/// What a golden pool holds: a line for each variable, attribute, group and older step, with a hash of what a load gives.
inline std::string listing_of(const PMEM& pmem) {
    std::string text;
    for (const crash::Content& content : {crash::observe(pmem), crash::observe_old_steps(pmem)}) {
        for (const auto& [key, hash] : content) text += std::to_string(hash) + ' ' + key + '\n';
    }
    return text;
}

}  // namespace pmemcpy::format
