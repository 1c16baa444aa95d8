#include "tier/command.hpp"

#include <pmemcpy/error.hpp>

#include <array>
#include <utility>

namespace pmemcpy::tier {

namespace {

[[noreturn]] void refuse(std::string_view command, const std::string& why) {
    throw Error(Code::invalid_argument, "flush: the command '" + std::string(command) + "' " + why);
}

/// Words that are parted before anything is filled in, so that no id can make two of one.
std::vector<std::string> words_of(std::string_view command) {
    std::vector<std::string> words;
    std::string word;
    bool is_word = false;
    for (std::size_t i = 0; i < command.size(); ++i) {
        const char sign = command[i];
        if (sign == ' ' || sign == '\t' || sign == '\n') {
            if (std::exchange(is_word, false)) words.push_back(std::exchange(word, {}));
            continue;
        }
        is_word = true;
        if (sign == '\'' || sign == '"') {
            for (++i; i < command.size() && command[i] != sign; ++i) {
                if (sign == '"' && command[i] == '\\' && i + 1 < command.size()) ++i;
                word += command[i];
            }
            if (i == command.size()) refuse(command, "has a quote without an end");
        } else if (sign == '\\') {
            if (++i == command.size()) refuse(command, "ends in a \\");
            word += command[i];
        } else {
            word += sign;
        }
    }
    if (is_word) words.push_back(std::move(word));
    return words;
}

}  // namespace

std::vector<std::string> fill_command(std::string_view command, const HandedFile& handed) {
    const std::array<std::pair<std::string_view, const std::string*>, 5> known = {
        {{"file", &handed.file},
         {"name", &handed.name},
         {"directory", &handed.directory},
         {"id", &handed.id},
         {"pool", &handed.pool}}};
    std::vector<std::string> filled;
    for (const std::string& word : words_of(command)) {
        std::string& out = filled.emplace_back();
        for (std::size_t at = 0; at < word.size();) {
            const auto begin = word.find('{', at);
            out += word.substr(at, begin - at);
            if (begin == std::string::npos) break;
            const auto end = word.find('}', begin);
            const std::string_view what = end == std::string::npos
                                              ? std::string_view()
                                              : std::string_view(word).substr(begin + 1, end - begin - 1);
            const std::string* value = nullptr;
            for (const auto& [name, its] : known) {
                if (name == what) value = its;
            }
            if (value == nullptr)
                refuse(command, "has '" +
                                    word.substr(begin, end - begin + (end != std::string::npos ? 1 : 0)) +
                                    "' in it; there are {file}, {name}, {directory}, {id} and {pool}");
            out += *value;
            at = end + 1;
        }
    }
    if (filled.empty() || filled[0].empty()) refuse(command, "names no program");
    return filled;
}

void check_command(std::string_view command) {
    static_cast<void>(fill_command(command, {"/file", "file", "/", "id", "/pool"}));
}

}  // namespace pmemcpy::tier
