#include "cli/call/alike.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <vector>

namespace pmemcpy::cli {

namespace {

std::string lower(std::string word) {
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return word;
}

/// How many letters have to be put in, left out, replaced or exchanged with the next one.
std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before_last;
    std::vector<std::size_t> last(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::vector<std::size_t> now(b.size() + 1, i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            const bool is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_exchanged) now[j] = std::min(now[j], before_last[j - 2] + 1);
        }
        before_last = std::move(last);
        last = std::move(now);
    }
    return last.back();
}

}  // namespace

std::string most_alike(const std::string& word, const std::set<std::string>& known) {
    std::string best;
    std::size_t least = 1 + std::max<std::size_t>(word.size(), 3) / 3;
    for (const std::string& one : known) {
        const std::size_t apart = distance(lower(word), lower(one));
        if (apart < least) {
            least = apart;
            best = one;
        }
    }
    return best;
}

}  // namespace pmemcpy::cli
