#include "report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace domain3d {

namespace {

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string formatted(const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string plural(std::size_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string size_text(std::uint64_t bytes) {
    const double mib = static_cast<double>(bytes) / (1 << 20);
    return mib < 100 ? formatted("%.1f MiB", mib) : formatted("%.2f GiB", mib / 1024);
}

double rate(const Report& report) { return static_cast<double>(report.bytes) / median(report.seconds); }

}  // namespace

std::string to_line(const Report& report) {
    std::string line = report.is_write ? "domain3d write: " : "domain3d read: ";
    line += plural(static_cast<std::size_t>(report.ranks), "rank") + ", " +
            plural(report.variables.size(), "variable") + ", " + size_text(report.bytes) +
            formatted(" in %.3f s", median(report.seconds)) + formatted(" = %.1f GB/s", rate(report) / 1e9);
    if (!report.memcpy_seconds.empty()) {
        line += formatted(" (%.2f of memcpy)", median(report.memcpy_seconds) / median(report.seconds));
    }
    if (report.seconds.size() > 1) line += ", median of " + std::to_string(report.seconds.size());
    if (report.is_verified) line += ", verified bit for bit";
    return line;
}

std::string to_json(const Report& report) {
    nlohmann::ordered_json json{
        {"job", report.is_write ? "write" : "read"},
        {"pool", report.pool},
        {"ranks", report.ranks},
        {"grid", report.grid},
        {"variables", report.variables},
        {"bytes", report.bytes},
        {"durability", pmemcpy::name_of(report.durability)},
        {"seconds", median(report.seconds)},
        {"seconds_of_each", report.seconds},
        {"bytes_per_second", rate(report)},
        {"verified", report.is_verified},
    };
    if (!report.memcpy_seconds.empty()) {
        json["memcpy_seconds"] = median(report.memcpy_seconds);
        json["memcpy_seconds_of_each"] = report.memcpy_seconds;
        json["of_memcpy"] = median(report.memcpy_seconds) / median(report.seconds);
    }
    return json.dump(2);
}

}  // namespace domain3d
