#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pmemcpy::hermes {

/// One of the processes that ask a service at the same time.
struct Client {
    int index = 0;
    int count = 1;
    std::function<void()> meet;  // returns when all have called it
};

/// When one client began and ended a part of the work, by CLOCK_MONOTONIC, which all processes share.
struct Span {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};
constexpr std::size_t most_parts = 3;
using Spans = std::array<Span, most_parts>;

/// Meets the others, then does it.
Span timed(const Client& client, const std::function<void()>& work);

/// Seconds from where the first client began a part until the last one ended it.
double seconds_of(const std::vector<Spans>& all, std::size_t part);

/// Forks `count` clients. They end with this process, whatever ends it. Call it while the program has opened nothing yet.
/// Errors: std::runtime_error with what the first that failed threw; the others are ended.
std::vector<Spans> run_clients(int count, const std::function<Spans(const Client&)>& work);

/// What a benchmark's program does last: prints what `measure` returns as a line of JSON, or on stderr what it throws. Returns the exit status.
int print_result(const char* program, const std::function<nlohmann::ordered_json()>& measure);

}  // namespace pmemcpy::hermes
