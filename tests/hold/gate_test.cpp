// Could these tests fail? Each second look of the library is left out in turn, and some schedule of some story must come to something wrong then.

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "drawn.hpp"
#include "runner.hpp"
#include "stories.hpp"

namespace pmemcpy::hold {
namespace {

/// A look in the source, by its file's name and what the line says.
struct Look {
    std::string file;
    std::uint32_t line;
    std::string text;
};

// How a look says that an act depends on it: a record is still what was read of it, or no other has said meanwhile what it does.
constexpr std::array words = {"is_still_current(", "is_still_current_unguarded(", "persist::still("};

std::vector<Look> looks_of(const std::filesystem::path& source) {
    std::vector<Look> looks;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source / "src")) {
        const std::string name = entry.path().filename().string();
        if (!name.ends_with(".cpp") && !name.ends_with(".hpp")) continue;
        if (name.ends_with("_test.cpp") || name.starts_with("record.")) continue;
        std::ifstream in(entry.path());
        std::string text;
        for (std::uint32_t line = 1; std::getline(in, text); ++line) {
            const bool looks_again = std::any_of(words.begin(), words.end(), [&](const char* word) {
                return text.find(word) != std::string::npos;
            });
            if (!looks_again) continue;
            text.erase(0, text.find_first_not_of(' '));
            looks.push_back({entry.path().lexically_relative(source).string(), line, text});
        }
    }
    std::sort(looks.begin(), looks.end(), [](const Look& a, const Look& b) {
        return std::tie(a.file, a.line) < std::tie(b.file, b.line);
    });
    return looks;
}

std::vector<Scenario> all_stories() {
    std::vector<Scenario> all = announced();
    for (Scenario& story : places_used_again()) all.push_back(std::move(story));
    for (Scenario& story : stories()) all.push_back(std::move(story));
    for (Scenario& story : of_chunks()) all.push_back(std::move(story));
    for (Scenario& story : of_tags_that_come_again()) all.push_back(std::move(story));
    return all;
}

TEST(HeldGate, notices_second_looks_that_are_left_out) {
    const std::vector<Scenario> all = all_stories();
    ASSERT_TRUE(explore_all(all, {{}, true}).wrong.empty())
        << "something is wrong though nothing is left out";
    std::size_t noticed = 0, left_out = 0, looks = 0;
    for (const Look& look : looks_of(PMEMCPY_SOURCE_FOLDER)) {
        if (!is_drawn(looks++, 3)) continue;
        ++left_out;
        const Found found = explore_all(all, {LeftOut{look.file, look.line}, true});
        if (!found.wrong.empty()) ++noticed;
        EXPECT_FALSE(found.wrong.empty())
            << look.file << ":" << look.line << ": left out, and nobody noticed: " << look.text;
    }
    std::printf("held: %zu of %zu second looks are noticed when they are left out\n", noticed, left_out);
    EXPECT_EQ(looks, 31U) << "a look that is new needs a story";
}

}  // namespace
}  // namespace pmemcpy::hold
