// The explorer: which schedules there are, which of them are run, and how one is.

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include <dlfcn.h>
#include <unistd.h>

#include "base/hash.hpp"
#include "cast.hpp"
#include "drawn.hpp"

namespace pmemcpy::hold {

void Found::add(const Found& other) {
    runs += other.runs;
    schedules += other.schedules;
    judged += other.judged;
    wrong.insert(wrong.end(), other.wrong.begin(), other.wrong.end());
    waited.insert(other.waited.begin(), other.waited.end());
}

namespace {

// Of what was inlined into each other the first that is of our own rooms, and its file and line.
std::string innermost_of_ours(const std::vector<std::string>& frames) {
    for (const std::string& one : frames) {
        const bool is_tool =
            one.find("medium.hpp") != std::string::npos || one.find("atomic") != std::string::npos;
        if (!is_tool) return one;
    }
    return frames.empty() ? "somewhere" : frames.back();
}

}  // namespace

std::map<const void*, std::string> names_of_places(const std::set<const void*>& places) {
    std::map<const void*, std::string> names;
    std::vector<const void*> asked;
    std::ostringstream command;
    command << "addr2line -aCfpise /proc/" << ::getpid() << "/exe" << std::hex;
    for (const void* place : places) {
        Dl_info info{};
        names[place] = "somewhere";
        if (::dladdr(place, &info) == 0) continue;
        // One byte before: what is known is where the call returns to.
        command << " 0x" << static_cast<const char*>(place) - static_cast<const char*>(info.dli_fbase) - 1;
        asked.push_back(place);
    }
    command << " 2>/dev/null";
    FILE* pipe = asked.empty() ? nullptr : ::popen(command.str().c_str(), "r");
    if (pipe == nullptr) return names;
    // "0xADDRESS: FUNCTION at FILE:LINE", and " (inlined by) FUNCTION at FILE:LINE" for what is around it.
    std::vector<std::string> frames;
    std::size_t told = 0;
    const auto tell = [&] {
        if (!frames.empty()) names[asked[told++]] = innermost_of_ours(frames);
        frames.clear();
    };
    std::array<char, 4096> line{};
    while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
        std::string one = line.data();
        while (!one.empty() && one.back() == '\n') one.pop_back();
        if (one.starts_with("0x")) {
            tell();
            one.erase(0, one.find(": ") + 2);
        }
        frames.push_back(one);
    }
    tell();
    ::pclose(pipe);
    return names;
}

std::string name_of_place(const void* place) { return names_of_places({place}).at(place); }

Explorer::Explorer(const Scenario& scenario)
    : scenario_(scenario), node_(scenario.model, scenario.options.layout) {
    for (std::size_t turn = 0; turn < scenario_.turns.size(); ++turn) {
        const Turn::Kind kind = scenario_.turns[turn].kind;
        if (kind == Turn::Kind::up_to_an_access || kind == Turn::Kind::up_to_a_function)
            choices_.push_back(turn);
    }
    cuts_.resize(choices_.size());
    reached_.resize(choices_.size());
    meanwhile_.resize(choices_.size());
    Process first;
    first.run([&] {
        PMEM pmem;
        pmem.mmap(Node::path, scenario_.options);
        scenario_.setup(pmem);
        pmem.munmap();
    });
    start_ = node_.image();
    find_orders();
}

Explorer::~Explorer() = default;

Found Explorer::explore() {
    found_.schedules = explore_from(0);
    return found_;
}

// Returns for how many schedules the runs stand.
std::uint64_t Explorer::explore_from(std::size_t choice) {
    if (choice == choices_.size()) {
        run();
        return 1;
    }
    const std::size_t actor = scenario_.turns[choices_[choice]].actor;
    std::uint64_t schedules = 0, first = 0;
    for (std::size_t before = 0; before < choice; ++before) {
        if (scenario_.turns[choices_[before]].actor == actor) first = cuts_[before];
    }
    bool dies_next = false;
    for (std::size_t turn = choices_[choice] + 1; turn < scenario_.turns.size(); ++turn) {
        if (scenario_.turns[turn].actor != actor) continue;
        dies_next = scenario_.turns[turn].kind == Turn::Kind::death;
        break;
    }
    // A process that dies where it is held shows nothing of what it would have done.
    const std::vector<Access> without_death = dies_next ? probe(choices_[choice]) : std::vector<Access>();
    const Turn& turn = scenario_.turns[choices_[choice]];
    const std::vector<std::uint64_t> wanted =
        turn.function != nullptr ? accesses_in(choice) : std::vector<std::uint64_t>();
    const auto of_function = [&](std::uint64_t cut) {
        return turn.function != nullptr ? next_of(wanted, cut) : cut;
    };
    std::uint64_t cut = of_function(first);
    if (cut == Process::forever && turn.kind == Turn::Kind::up_to_a_function)
        throw std::logic_error(std::string("no access is made in ") + turn.function);
    while (cut != Process::forever) {
        cuts_[choice] = cut;
        meanwhile_[choice].clear();
        const std::uint64_t before = tried_;
        const std::uint64_t inner = explore_from(choice + 1);
        // None is, where the function of a later choice makes no access: then nothing is known of this one but what it does alone.
        const bool was_run = tried_ != before;
        if (found_.wrong.size() >= most_wrong) return schedules;
        if (turn.kind == Turn::Kind::up_to_a_function) return schedules + inner;
        const std::vector<Access> alone = was_run ? std::vector<Access>() : probe(choices_[choice]);
        const std::vector<Access>& made = !was_run ? alone : dies_next ? without_death : accesses_[actor];
        const bool is_over = reached_[choice] < cut || cut >= made.size();
        // The next access that tells this choice from the one behind it; or, of a thin exploration, one of the next.
        std::uint64_t next = cut;
        const std::uint64_t passed = left_out(choice, cut);
        for (std::uint64_t i = 0; was_run && i <= passed && next < made.size(); ++i) {
            if (i > 0) ++next;
            while (next < made.size() && !meanwhile_[choice].conflicts(made[next]) &&
                   !(dies_next && made[next].writes()))
                ++next;
        }
        schedules += inner * (std::min<std::uint64_t>(next, made.size()) -
                              std::min<std::uint64_t>(cut, made.size()) + 1);
        if (is_over || next >= made.size()) return schedules;
        cut = of_function(next + 1);
    }
    return schedules;
}

// How many of the choices after that one a thin exploration leaves out.
std::uint64_t Explorer::left_out(std::size_t choice, std::uint64_t access) const {
    if (scenario_.one_choice_in == 1) return 0;
    std::vector<std::uint64_t> where(cuts_.begin(), cuts_.begin() + static_cast<std::ptrdiff_t>(choice));
    where.push_back(access);
    where.push_back(drawn_seed());
    return base::xxh3_64(where.data(), where.size() * sizeof where[0]) % (2 * scenario_.one_choice_in - 1);
}

// What this one has accessed since it was last looked at happened while those were held whose choice is made.
void Explorer::tell_the_held(Cast& cast, Part& part) {
    const std::span<const Access> made = part.process.accesses();
    for (const auto& other : cast.parts) {
        if (other->choice) meanwhile_[*other->choice].add(made.subspan(part.told));
    }
    part.told = made.size();
}

// Until it is held before that access, at its end, or waits for nobody who could go on.
void Explorer::advance(Cast& cast, std::size_t actor, std::uint64_t hold_before) {
    Part& part = *cast.parts[actor];
    const std::size_t actors = cast.parts.size();
    // Each time another of them first: of two that wait for a third each looks busy to the other.
    for (std::size_t round = 0;; ++round) {
        part.choice.reset();
        const Stop stop = part.process.go_on(hold_before);
        tell_the_held(cast, part);
        if (stop != Stop::waits) return;
        const std::size_t call = part.results.size();
        found_.waited.insert(
            scenario_.actors[actor].calls[std::min(call, scenario_.actors[actor].calls.size() - 1)].name);
        bool somebody_went_on = false;
        for (std::size_t i = 0; i < actors && !somebody_went_on; ++i) {
            const std::size_t number = (round + i) % actors;
            Part& other = *cast.parts[number];
            if (number == actor || other.process.is_dead() || other.process.is_done()) continue;
            const std::size_t had = other.process.accesses().size();
            other.choice.reset();
            const Stop then = other.process.go_on();
            tell_the_held(cast, other);
            somebody_went_on = then == Stop::done || other.told > had + 1;
        }
        if (!somebody_went_on) throw std::runtime_error("all wait for each other");
    }
}

void Explorer::enter(Cast& cast) {
    node_.put(start_);
    for (const Actor& actor : scenario_.actors) {
        Part& part = *cast.parts.emplace_back(std::make_unique<Part>());
        part.process.run([&] {
            if (!actor.opens_itself) part.pmem.mmap(Node::path, scenario_.options);
            if (actor.prepare) actor.prepare(part.pmem);
        });
        part.process.begin([&cast, &part, &actor] {
            for (const Call& call : actor.calls) {
                part.begins.push_back(++cast.moment);
                part.results.push_back(make(call, part.pmem));
                part.ends.push_back(++cast.moment);
            }
        });
    }
}

void Explorer::take_turn(Cast& cast, std::size_t turn) {
    const auto& [actor, kind, function] = scenario_.turns[turn];
    Part& part = *cast.parts[actor];
    if (kind == Turn::Kind::death) {
        part.choice.reset();
        part.death = ++cast.moment;
        node_.kill(part.process);
        // The kernel drops its locks, which others may ask for.
        const Access drops{Access::Kind::call, kernel_word(), 1, nullptr};
        for (const auto& other : cast.parts) {
            if (other->choice) meanwhile_[*other->choice].add({&drops, 1});
        }
        return;
    }
    if (kind == Turn::Kind::to_the_end) {
        if (!part.process.is_done()) advance(cast, actor, Process::forever);
        return;
    }
    const auto choice =
        static_cast<std::size_t>(std::find(choices_.begin(), choices_.end(), turn) - choices_.begin());
    if (!part.process.is_done()) advance(cast, actor, cuts_[choice]);
    reached_[choice] = part.process.accesses().size();
    if (!part.process.is_done()) part.choice = choice;
}

void Explorer::leave(Cast& cast) {
    for (const auto& part : cast.parts) {
        if (!part->process.is_dead() && !part->process.is_done()) node_.kill(part->process);
        // What it has open is never closed: it is dead.
        if (part->process.is_dead()) new PMEM(std::move(part->pmem));
    }
}

// Which accesses the choice's actor makes in its function when it goes on from where the choices before have brought all to. There
// must be one, or the scenario would hold nobody where it says.
const std::vector<std::uint64_t>& Explorer::accesses_in(std::size_t choice) {
    const std::vector<std::uint64_t> before(cuts_.begin(),
                                            cuts_.begin() + static_cast<std::ptrdiff_t>(choice));
    const auto [known, is_new] = accesses_in_.try_emplace(before);
    if (!is_new) return known->second;
    const char* const function = scenario_.turns[choices_[choice]].function;
    const std::vector<Access> made = probe(choices_[choice]);
    std::set<const void*> unnamed;
    for (const Access& access : made) {
        if (!names_.contains(access.place)) unnamed.insert(access.place);
    }
    names_.merge(names_of_places(unnamed));
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (names_.at(made[i].place).find(function) != std::string::npos) known->second.push_back(i);
    }
    return known->second;
}

// The first of them from there on.
std::uint64_t Explorer::next_of(const std::vector<std::uint64_t>& wanted, std::uint64_t from) {
    const auto next = std::lower_bound(wanted.begin(), wanted.end(), from);
    return next == wanted.end() ? Process::forever : *next;
}

// What the turn's actor does if it goes on to its end.
std::vector<Access> Explorer::probe(std::size_t last) {
    Cast cast;
    enter(cast);
    for (std::size_t turn = 0; turn < last; ++turn) take_turn(cast, turn);
    const std::size_t actor = scenario_.turns[last].actor;
    if (!cast.parts[actor]->process.is_done()) advance(cast, actor, Process::forever);
    std::vector<Access> made = cast.parts[actor]->process.accesses();
    leave(cast);
    return made;
}

void Explorer::run() {
    ++tried_;
    Cast cast;
    std::string wrong;
    try {
        enter(cast);
        for (std::size_t turn = 0; turn < scenario_.turns.size(); ++turn) take_turn(cast, turn);
        for (std::size_t i = 0; i < cast.parts.size(); ++i) {
            Process& process = cast.parts[i]->process;
            if (!process.is_dead() && !process.is_done()) advance(cast, i, Process::forever);
        }
        accesses_.clear();
        for (const auto& part : cast.parts) accesses_.push_back(part->process.accesses());
        ++found_.runs;
        wrong = judge(cast);
    } catch (const std::exception& error) {
        wrong = error.what();
        accesses_.resize(cast.parts.size());
    }
    if (!wrong.empty()) found_.wrong.push_back(wrong + story(cast));
    leave(cast);
}

std::string Explorer::story(const Cast& cast) const {
    std::string told;
    std::size_t choice = 0;
    for (const Turn& turn : scenario_.turns) {
        const Part& part = *cast.parts[turn.actor];
        told += "\n    " + scenario_.actors[turn.actor].name;
        if (turn.kind == Turn::Kind::death) told += " is killed there";
        if (turn.kind == Turn::Kind::to_the_end) told += " goes on to its end:";
        if (turn.kind == Turn::Kind::up_to_a_function || turn.kind == Turn::Kind::up_to_an_access) {
            const auto& made = part.process.accesses();
            told += " is held before access " + std::to_string(cuts_[choice]);
            if (cuts_[choice] < made.size()) told += ", " + name_of_place(made[cuts_[choice]].place);
            if (cuts_[choice] > 0 && cuts_[choice] <= made.size())
                told += " (the last was at " + name_of_place(made[cuts_[choice] - 1].place) + ")";
            ++choice;
        }
        if (turn.kind == Turn::Kind::to_the_end) {
            for (std::size_t i = 0; i < part.results.size(); ++i)
                told += " " + scenario_.actors[turn.actor].calls[i].name + ": " + part.results[i] + ";";
        }
    }
    return told;
}

}  // namespace pmemcpy::hold
