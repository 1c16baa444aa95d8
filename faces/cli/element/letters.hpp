#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace pmemcpy::cli {

/// Of ASCII; all other letters stay.
inline std::string in_small_letters(std::string_view text) {
    std::string small(text);
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return small;
}

}  // namespace pmemcpy::cli
