#pragma once

#include <pmemcpy/exchange.hpp>
#include <string>

namespace pmemcpy::cli {

/// What came over, and on stderr what did not.
void print_exchanged(const ExchangeReport& report, const std::string& from, const std::string& to, bool json);

}  // namespace pmemcpy::cli
