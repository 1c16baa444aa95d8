#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pmemcpy::cli {

/// "4096", "64KiB", "1.5GiB" (powers of 1024; also "64K", "1.5G"), "2TB" (powers of 1000), in any case.
/// Errors: invalid_argument
std::uint64_t parse_size(std::string_view text);

/// For people: "512 B", "1.50 KiB", "27.0 MiB", "4.00 GiB".
std::string human_size(std::uint64_t bytes);

/// For people: "1 group", "2 groups".
std::string counted(std::uint64_t count, std::string_view what);

/// For people: "2026-05-01 13:45:10" in local time; "-" for 0.
std::string human_time(std::uint64_t ns_since_1970);

}  // namespace pmemcpy::cli
