#include "answer.hpp"

#include <algorithm>
#include <vector>

#include "granules.hpp"
#include "library.hpp"
#include "processes.hpp"
#include "questions.hpp"
#include "values.hpp"

namespace mosiqs {
namespace {

/// Seconds since the last call.
class Laps {
public:
    double next() {
        const std::int64_t now = now_ns();
        const double seconds = static_cast<double>(now - last_) * 1e-9;
        last_ = now;
        return seconds;
    }

private:
    std::int64_t last_ = now_ns();
};

}  // namespace

Answer answer(const AnswerTask& task) {
    // What is right is known to whoever compares the count; making all names would be a part of what is timed.
    const Question question{.kind = task.what == "contains"  ? Kind::containing
                                    : task.what == "members" ? Kind::members
                                                             : Kind::attributes,
                            .key = {},
                            .value = {},
                            .text = task.what == "contains" ? Granules::asked_text : Granules::asked_group};
    const auto library = make_library(task.variant);
    const Values values(task.object_bytes);
    std::vector<std::byte> buffer(task.object_bytes);
    std::vector<std::string> ids;
    Answer result;
    Laps laps;
    library->open(task.path, Access::read);
    result.open_seconds = laps.next();
    library->make_ready();
    result.ready_seconds = laps.next();
    const std::uint64_t found = ask(*library, question, ids);
    result.verified = found > 0;
    if (question.kind == Kind::attributes) {
        result.verified = found == Granules::attributes_of_an_object;
        library->members(question.text, ids);
    }
    if (question.kind != Kind::containing)
        result.verified = result.verified && ids.size() == Granules::objects_of_a_file;
    result.ask_seconds = laps.next();
    for (const std::string& id : ids) {
        const std::size_t at = id.find('/');
        const std::string_view all = id;
        library->load(all.substr(0, at), all.substr(at + 1), buffer);
        result.verified = result.verified && values.has_ends(Granules::stamp_of(id), buffer);
    }
    result.read_seconds = laps.next();
    result.objects = ids.size();
    library->close();
    return result;
}

double fill_granules(const AnswerTask& task) {
    const Granules granules(task.files);
    const auto library = make_library(task.variant);
    Values values(task.object_bytes);
    library->open(task.path, Access::create);
    std::string id;
    const std::int64_t start = now_ns();
    for (std::uint64_t file = 0; file < task.files; ++file) {
        const std::string group = granules.group(file);
        for (std::uint64_t object = 0; object < Granules::objects_of_a_file; ++object) {
            const std::string name = granules.name(file, object);
            id.assign(group).append("/").append(name);
            library->store(
                {group, name, values.make(Granules::stamp_of(id)), granules.attributes(file, object)});
        }
        library->annotate_group(group, granules.attributes(file, Granules::objects_of_a_file));
    }
    library->publish();
    library->catch_up();
    const double seconds = static_cast<double>(now_ns() - start) * 1e-9;
    library->close();
    return seconds;
}

}  // namespace mosiqs
