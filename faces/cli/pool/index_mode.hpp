#pragma once

#include <pmemcpy/error.hpp>
#include <pmemcpy/index.hpp>
#include <string>

namespace pmemcpy::cli {

/// Errors: invalid_argument.
inline IndexMode parse_index_mode(const std::string& word) {
    for (const IndexMode mode : {IndexMode::none, IndexMode::async, IndexMode::sync}) {
        if (word == name_of(mode)) return mode;
    }
    throw Error(Code::invalid_argument, "an index is kept `none`, `async` or `sync`, not '" + word + "'");
}

}  // namespace pmemcpy::cli
