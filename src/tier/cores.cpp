#include "tier/cores.hpp"

#include <pmemcpy/error.hpp>

#include <charconv>
#include <set>

namespace pmemcpy::tier {

namespace {

constexpr unsigned most_cores = 1024;  // of a cpu_set_t

[[noreturn]] void refuse_cores(std::string_view text) {
    throw Error(Code::invalid_argument,
                "'" + std::string(text) + "' names no processors; write 2, 0-3 or 0-3,8");
}

}  // namespace

std::vector<unsigned> parse_cores(std::string_view text) {
    std::set<unsigned> cores;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto number = [&] {
        unsigned n = 0;
        const auto [next, error] = std::from_chars(at, end, n);
        if (error != std::errc{} || n >= most_cores) refuse_cores(text);
        at = next;
        return n;
    };
    for (;;) {
        const unsigned first = number();
        unsigned last = first;
        if (at != end && *at == '-') {
            ++at;
            last = number();
        }
        if (last < first) refuse_cores(text);
        for (unsigned n = first; n <= last; ++n) cores.insert(n);
        if (at == end) return {cores.begin(), cores.end()};
        if (*at++ != ',') refuse_cores(text);
    }
}

std::string cores_text(const std::vector<unsigned>& cores) {
    std::string text;
    for (std::size_t i = 0; i < cores.size(); ++i) {
        std::size_t last = i;
        while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
        text += (text.empty() ? "" : ",") + std::to_string(cores[i]);
        if (last > i) text += "-" + std::to_string(cores[last]);
        i = last;
    }
    return text;
}

}  // namespace pmemcpy::tier
