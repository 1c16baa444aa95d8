#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pmemcpy::tier {

// Numbers with units, as people write them into a hierarchy. Errors: invalid_argument, with what was understood and what was not.

/// "8 GiB", "400 GB", "4096", "1.5 TiB": bytes.
std::uint64_t parse_bytes(std::string_view text);
/// "6.1 GB/s", "500 MiB/s": bytes a second.
double parse_bandwidth(std::string_view text);
/// "80 ns", "1.2 us", "3 ms", "1 s": seconds.
double parse_seconds(std::string_view text);
/// "2026-11-24T21:40:12Z": seconds since 1970.
std::uint64_t parse_time(std::string_view text);

// What the functions above read back as the same number.
std::string bytes_text(std::uint64_t bytes);
std::string bandwidth_text(double bytes_per_second);
std::string seconds_text(double seconds);
std::string time_text(std::uint64_t seconds_since_1970);
/// The shortest that is read as the same number.
std::string number_text(double number);

}  // namespace pmemcpy::tier
