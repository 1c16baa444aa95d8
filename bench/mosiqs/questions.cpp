#include "questions.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "granules.hpp"
#include "processes.hpp"
#include "records.hpp"

namespace mosiqs {
namespace {

constexpr std::uint64_t range_size = 100;
constexpr std::size_t compared = 20;  // answers, id by id

Value value_of(const nlohmann::json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (json.is_number_integer()) return json.get<std::int64_t>();
    return json.get<double>();
}

}  // namespace

Questions questions_of_records(const std::string& what, std::uint64_t count, std::uint64_t seed) {
    const Records records(count);
    std::mt19937_64 random(seed);
    Questions questions;
    if (what == "point") {
        questions.expected = 1;
        for (int i = 0; i < 50'000; ++i) {
            const std::uint64_t number = random() % count;
            Question question{
                .kind = Kind::equal, .key = i % 2 == 0 ? "serial" : "label", .value = {}, .text = {}};
            if (i % 2 == 0) {
                question.value = records.serial(number);
            } else {
                question.value = records.label(number);
            }
            questions.all.push_back(std::move(question));
            if (questions.all.size() <= compared) questions.expected_ids.push_back({records.id(number)});
        }
    } else if (what == "range") {
        questions.expected = range_size;
        std::vector<std::uint32_t> by_rank(count);
        for (std::uint64_t number = 0; number < count; ++number)
            by_rank[records.energy_rank(number)] = static_cast<std::uint32_t>(number);
        for (int i = 0; i < 5'000; ++i) {
            const std::uint64_t first = random() % (count - range_size + 1);
            questions.all.push_back({.kind = Kind::between,
                                     .key = "energy",
                                     .value = {},
                                     .first = Records::energy(first),
                                     .last = Records::energy(first + range_size - 1),
                                     .text = {}});
            if (questions.all.size() > compared) continue;
            std::vector<std::string> ids;
            for (std::uint64_t rank = first; rank < first + range_size; ++rank)
                ids.push_back(records.id(by_rank[rank]));
            std::sort(ids.begin(), ids.end());
            questions.expected_ids.push_back(std::move(ids));
        }
    } else if (what == "substring") {
        for (int i = 0; i < 20; ++i) {
            const std::string name = records.name(random() % count);
            questions.all.push_back(
                {.kind = Kind::containing, .key = {}, .value = {}, .text = name.substr(4)});
        }
        std::vector<std::string> ids;
        for (std::uint64_t number = 0; number < count; ++number) {
            std::string id = records.id(number);
            if (id.find(questions.all.front().text) != std::string::npos) ids.push_back(std::move(id));
        }
        std::sort(ids.begin(), ids.end());
        questions.expected_ids.push_back(std::move(ids));
    } else {
        throw std::runtime_error("records are asked for point, range or substring, not " + what);
    }
    return questions;
}

Questions questions_of_granules(const std::string& what, std::uint64_t files) {
    const Granules granules(files);
    const bool contains = what == "contains";
    const Kind kind = contains ? Kind::containing : what == "members" ? Kind::members : Kind::attributes;
    Questions questions;
    questions.all.push_back({.kind = kind,
                             .key = {},
                             .value = {},
                             .text = contains ? Granules::asked_text : Granules::asked_group});
    if (what == "attributes") {
        questions.expected = Granules::attributes_of_an_object;
        return questions;
    }
    std::vector<std::string> ids;
    for (std::uint64_t file = 0; file < files; ++file) {
        const std::string group = granules.group(file);
        for (std::uint64_t object = 0; object < Granules::objects_of_a_file; ++object) {
            std::string id = group + '/' + granules.name(file, object);
            if (contains ? id.find(Granules::asked_text) != std::string::npos
                         : group == Granules::asked_group)
                ids.push_back(std::move(id));
        }
    }
    std::sort(ids.begin(), ids.end());
    questions.expected = ids.size();
    questions.expected_ids.push_back(std::move(ids));
    return questions;
}

Questions questions_of_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("no questions in " + path);
    Questions questions;
    for (std::string line; std::getline(file, line);) {
        const nlohmann::json words = nlohmann::json::parse(line);
        if (words.size() == 3) {
            questions.all.push_back({.kind = Kind::containing, .key = {}, .value = {}, .text = words.at(2)});
        } else {
            questions.all.push_back(
                {.kind = Kind::equal, .key = words.at(0), .value = value_of(words.at(1)), .text = {}});
        }
    }
    if (questions.all.empty()) throw std::runtime_error("no questions in " + path);
    return questions;
}

std::uint64_t ask(Library& library, const Question& question, std::vector<std::string>& ids) {
    switch (question.kind) {
        case Kind::equal:
            library.equal(question.key, question.value, ids);
            break;
        case Kind::between:
            library.between(question.key, question.first, question.last, ids);
            break;
        case Kind::containing:
            library.containing(question.text, ids);
            break;
        case Kind::members:
            library.members(question.text, ids);
            break;
        case Kind::attributes:
            return library.count_attributes(question.text);
    }
    return ids.size();
}

Rate ask_all(Library& library, const Questions& questions, double seconds) {
    Rate rate{.verified = true};
    std::vector<std::string> ids;
    const auto right = [&](std::uint64_t found) {
        return questions.expected == Questions::unknown || questions.expected == found;
    };
    // Who takes long is not asked for each of them: the clock of the timed part stops it, and one answer tells enough.
    const std::int64_t before = now_ns();
    for (std::size_t i = 0; i < std::min(compared, questions.all.size()); ++i) {
        if (i > 0 && static_cast<double>(now_ns() - before) * 1e-9 > seconds) break;
        ids.clear();
        const std::uint64_t found = ask(library, questions.all[i], ids);
        rate.verified = rate.verified && right(found);
        std::sort(ids.begin(), ids.end());
        if (i < questions.expected_ids.size())
            rate.verified = rate.verified && ids == questions.expected_ids[i];
        ++rate.compared;
        rate.fingerprint = rate.fingerprint * 31 + found;
        for (const std::string& id : ids) rate.fingerprint = rate.fingerprint * 31 + Granules::stamp_of(id);
    }
    const std::int64_t start = now_ns();
    std::int64_t end = start;
    do {
        ids.clear();
        const std::uint64_t found = ask(library, questions.all[rate.questions % questions.all.size()], ids);
        rate.found += found;
        if (!right(found)) rate.verified = false;
        ++rate.questions;
        end = now_ns();
    } while (static_cast<double>(end - start) * 1e-9 < seconds);
    rate.seconds = static_cast<double>(end - start) * 1e-9;
    return rate;
}

}  // namespace mosiqs
