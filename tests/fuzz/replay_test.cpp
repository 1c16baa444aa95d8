// The inputs that are kept, those that once broke something among them, through the targets that libFuzzer has.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "target.hpp"

namespace pmemcpy::fuzz {
namespace {

namespace fs = std::filesystem;

struct Kept {
    Target target;
    fs::path path;
};
void PrintTo(const Kept& kept, std::ostream* out) {
    *out << kept.target.name << "/" << kept.path.filename().string();
}

std::vector<Kept> all_kept() {
    std::vector<Kept> all;
    for (const Target& target : targets()) {
        for (const auto& file : fs::directory_iterator(fs::path(PMEMCPY_FUZZ_CORPUS) / target.name))
            all.push_back({target, file.path()});
    }
    std::sort(all.begin(), all.end(), [](const Kept& a, const Kept& b) { return a.path < b.path; });
    return all;
}

// Each is a test of its own, so that the last name before a signal tells.
class Inputs : public ::testing::TestWithParam<Kept> {
public:
    static void TearDownTestSuite() { std::printf("fuzzed: %zu inputs that are kept, again\n", replayed_); }

protected:
    static inline std::size_t replayed_ = 0;
};

TEST_P(Inputs, that_are_kept_break_nothing) {
    std::ifstream file(GetParam().path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    ++replayed_;
    EXPECT_NO_THROW(
        GetParam().target.run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

INSTANTIATE_TEST_SUITE_P(kept, Inputs, ::testing::ValuesIn(all_kept()), [](const auto& one) {
    std::string name = std::string(one.param.target.name) + "_" + one.param.path.filename().string();
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
});

}  // namespace
}  // namespace pmemcpy::fuzz
