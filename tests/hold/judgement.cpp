// The judge of a run: the library itself, undisturbed, says what each order of the same calls comes to.

#include <algorithm>
#include <functional>

#include "base/hash.hpp"
#include "cast.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::hold {

using crash::Content;

namespace {

/// Calls f(order) for each order of so many calls of each actor, whose death, if it dies, is its last.
void for_each_order(const std::vector<std::size_t>& count, const std::vector<bool>& dies,
                    const std::function<void(const std::vector<std::size_t>&)>& f) {
    const std::size_t actors = count.size();
    std::vector<std::size_t> calls;
    for (std::size_t i = 0; i < actors; ++i) calls.insert(calls.end(), count[i], i);
    for (std::size_t i = 0; i < actors; ++i) {
        if (dies[i]) calls.push_back(i + actors);
    }
    do {
        bool in_order = true;
        std::vector<bool> is_dead(actors, false);
        for (const std::size_t next : calls) {
            in_order = in_order && !is_dead[next % actors];
            if (next >= actors) is_dead[next % actors] = true;
        }
        if (in_order) f(calls);
    } while (std::next_permutation(calls.begin(), calls.end()));
}

// What a number in a sequence of calls stands for, divided by the number of actors; 0: a call.
constexpr std::size_t death = 1, refused = 2;

const std::string of_the_files = "of the files ";
const std::string busy = "error " + std::to_string(static_cast<int>(Code::busy)) + ":";

// Messages tell numbers that need not be the same; the code is.
bool is_same_result(const std::string& one, const std::string& other) {
    const auto code = [](const std::string& result) {
        return result.starts_with("error ") ? result.substr(0, result.find(':')) : result;
    };
    return code(one) == code(other);
}

}  // namespace

std::string make(const Call& call, PMEM& pmem) {
    try {
        return call.make(pmem);
    } catch (const Error& error) {
        return std::string("error ") + std::to_string(static_cast<int>(error.kind())) + ": " + error.what();
    }
}

void Explorer::go_through(const std::vector<std::size_t>& calls) {
    std::unique_ptr<Order>& known = orders_[calls];
    known = std::make_unique<Order>();
    known->results.resize(scenario_.actors.size());
    node_.put(start_);
    {
        std::vector<std::unique_ptr<Part>> parts;
        for (const Actor& actor : scenario_.actors) {
            Part& part = *parts.emplace_back(std::make_unique<Part>());
            part.process.run([&] {
                if (!actor.opens_itself) part.pmem.mmap(Node::path, scenario_.options);
                if (actor.prepare) actor.prepare(part.pmem);
            });
        }
        for (const std::size_t next : calls) {
            const std::size_t actor = next % parts.size();
            Part& part = *parts[actor];
            if (next / parts.size() == death) {
                node_.kill(part.process);
                continue;
            }
            if (next / parts.size() == refused) {
                known->results[actor].push_back(busy);
                continue;
            }
            std::vector<std::string>& results = known->results[actor];
            const Call& call = scenario_.actors[actor].calls[results.size()];
            part.process.run([&] { results.push_back(make(call, part.pmem)); });
        }
        Process looks;
        looks.run([&] {
            PMEM pmem;
            pmem.mmap(Node::path, scenario_.options);
            known->content = crash::observe(pmem);
            known->readable = readable();
        });
        for (const auto& part : parts) {
            if (part->process.is_dead()) {
                new PMEM(std::move(part->pmem));  // never closed
            } else {
                part->process.run([&] { part->pmem.munmap(); });
            }
        }
    }
}

// Nobody may have the pool open meanwhile; so all orders are gone through before the first schedule.
void Explorer::find_orders() {
    const std::size_t actors = scenario_.actors.size();
    std::vector<bool> dies(actors, false);
    for (const Turn& turn : scenario_.turns) {
        if (turn.kind == Turn::Kind::death) dies[turn.actor] = true;
    }
    // How many calls of each actor are in it: all, or, of one that dies, any number.
    std::vector<std::size_t> fewest, count;
    for (std::size_t i = 0; i < actors; ++i) fewest.push_back(dies[i] ? 0 : scenario_.actors[i].calls.size());
    for (count = fewest;;) {
        for_each_order(count, dies,
                       [&](const std::vector<std::size_t>& calls) { go_through_each(calls, 0); });
        std::size_t next = 0;
        while (next < actors && count[next] == scenario_.actors[next].calls.size()) {
            count[next] = fewest[next];
            ++next;
        }
        if (next == actors) return;
        ++count[next];
    }
}

// From call `from` on, each that may be refused both ways.
void Explorer::go_through_each(std::vector<std::size_t> calls, std::size_t from) {
    const std::size_t actors = scenario_.actors.size();
    for (std::size_t i = from; i < calls.size(); ++i) {
        if (calls[i] >= actors) continue;
        const auto before = std::count_if(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(i),
                                          [&](std::size_t call) { return call % actors == calls[i]; });
        if (!scenario_.actors[calls[i]].calls[static_cast<std::size_t>(before)].may_be_busy) continue;
        std::vector<std::size_t> without = calls;
        without[i] += refused * actors;
        go_through_each(std::move(without), i + 1);
    }
    go_through(calls);
}

std::vector<std::size_t> Explorer::without_refused(const Outcome& outcome,
                                                   std::vector<std::size_t> calls) const {
    const std::size_t actors = scenario_.actors.size();
    std::vector<std::size_t> done(actors, 0);
    for (std::size_t& call : calls) {
        if (call >= actors) continue;
        const std::size_t actor = call, n = done[actor]++;
        const std::vector<std::string>& results = outcome.results[actor];
        const bool is_refused = n < results.size() && results[n].starts_with(busy) &&
                                scenario_.actors[actor].calls[n].may_be_busy;
        if (is_refused) call += refused * actors;
    }
    return calls;
}

// No call comes after one that began when it had returned.
bool Explorer::is_in_time(const Outcome& outcome, const std::vector<std::size_t>& calls) {
    const std::size_t actors = outcome.results.size();
    std::vector<std::size_t> done(actors, 0);
    std::uint64_t latest_begin = 0;
    for (const std::size_t next : calls) {
        const std::size_t actor = next % actors;
        std::uint64_t begin = outcome.deaths[actor], end = begin;
        if (next / actors != death) {
            const std::size_t n = done[actor]++;
            begin = outcome.begins[actor][n];
            end = n < outcome.ends[actor].size() ? outcome.ends[actor][n] : ~std::uint64_t{0};
        }
        if (end < latest_begin) return false;
        latest_begin = std::max(latest_begin, begin);
    }
    return true;
}

std::string Explorer::difference(const Outcome& outcome, const Content& content, const Order& order) const {
    for (std::size_t i = 0; i < outcome.results.size(); ++i) {
        for (std::size_t n = 0; n < std::min(outcome.results[i].size(), order.results[i].size()); ++n) {
            const std::string &said = outcome.results[i][n], &wanted = order.results[i][n];
            if (!is_same_result(said, wanted))
                return scenario_.actors[i].calls[n].name + " said '" + said + "', not '" + wanted + "'";
        }
    }
    const std::string differs = crash::difference(content, order.content);
    if (!differs.empty() || !outcome.has_readable_names || renames()) return differs;
    const std::string name = crash::difference(readable(), order.readable);
    return name.empty() ? name : of_the_files + name;
}

// A process that stores, or commits what it has stored, brings the name up to date by which it knows the variable. Where another has renamed
// that meanwhile, the new name shows what was there before, until a recovery or the next change; so such names are not judged.
bool Explorer::renames() const {
    for (const Actor& actor : scenario_.actors) {
        for (const Call& call : actor.calls) {
            if (call.name.starts_with("rename")) return true;
        }
    }
    return false;
}

crash::Content Explorer::readable() const {
    Content files;
    for (const auto& [name, hash] : node_.readable()) files[name] = hash;
    return files;
}

// Empty when some order of the calls, one after the other, comes to the same.
std::string Explorer::match(const Outcome& outcome, const Content& content, const std::string& when) {
    const std::size_t actors = outcome.results.size();
    std::string nearest;
    bool is_explained = false;
    // Which calls are in it: all that have returned, and of the dead perhaps the one that they died in.
    std::vector<std::size_t> count(actors);
    for (std::size_t mask = 0; mask < (std::size_t{1} << actors); ++mask) {
        bool possible = true;
        for (std::size_t i = 0; i < actors; ++i) {
            count[i] = outcome.results[i].size();
            if ((mask >> i & 1) == 0) continue;
            possible = possible && outcome.is_dead[i] && outcome.begins[i].size() > count[i];
            ++count[i];
        }
        if (!possible) continue;
        for_each_order(count, outcome.is_dead, [&](const std::vector<std::size_t>& all_made) {
            const std::vector<std::size_t> calls = without_refused(outcome, all_made);
            if (is_explained || !is_in_time(outcome, calls)) return;
            const std::string differs = difference(outcome, content, *orders_.at(calls));
            is_explained = differs.empty();
            // An order that explains all but a name is the one that was meant.
            if (nearest.empty() || differs.starts_with(of_the_files)) nearest = differs;
        });
        if (is_explained) return {};
    }
    return when + " no order of the calls explains it: " + nearest;
}

std::string Explorer::judge(Cast& cast) {
    Outcome outcome;
    std::string all;
    for (const auto& part : cast.parts) {
        outcome.results.push_back(part->results);
        outcome.begins.push_back(part->begins);
        outcome.ends.push_back(part->ends);
        outcome.is_dead.push_back(part->process.is_dead());
        if (part->process.is_dead()) outcome.has_readable_names = false;
        outcome.deaths.push_back(part->death);
        for (const std::string& result : part->results) all += result + "|";
        all += part->process.is_dead() ? "dead;" : ";";
    }
    const std::uint64_t key = node_.hash() * 31 + base::xxh3_64(all.data(), all.size());
    const auto leave = [&] {
        for (const auto& part : cast.parts) {
            if (!part->process.is_dead()) part->process.run([&] { part->pmem.munmap(); });
        }
    };
    if (!seen_.insert(key).second) {
        leave();
        return {};
    }
    ++found_.judged;
    const Node::Image now = node_.image();
    std::string wrong;
    Process survivor;
    PMEM pmem;
    Content content;
    survivor.run([&] {
        pmem.mmap(Node::path, scenario_.options);
        content = crash::observe(pmem);
        wrong = match(outcome, content, "another process sees what");
        if (!wrong.empty()) return;
        if (const auto damages = pmem.verify(); !damages.empty()) wrong = "verify: " + damages[0].what;
    });
    if (!wrong.empty()) return wrong;
    leave();
    survivor.run([&] {
        pmem.trim();
        const Content then = crash::observe(pmem);
        wrong = crash::difference(then, content);
        if (!wrong.empty()) wrong = "when the others had closed, " + wrong;
        pmem.munmap();
        if (!wrong.empty()) return;
        pmem.mmap(Node::path, scenario_.options);
        wrong = crash::difference(crash::observe(pmem), content);
        if (!wrong.empty()) wrong = "opened again, " + wrong;
        if (wrong.empty()) wrong = judge_space(pmem);
        pmem.munmap();
    });
    if (!wrong.empty()) return wrong;
    node_.put(now);
    outcome.has_readable_names = false;
    return judge_left_behind(outcome);
}

// As if all had been killed at once.
std::string Explorer::judge_left_behind(const Outcome& outcome) {
    std::string wrong;
    Process survivor;
    survivor.run([&] {
        PMEM pmem;
        pmem.mmap(Node::path, scenario_.options);
        wrong = match(outcome, crash::observe(pmem), "after a recovery");
        if (wrong.empty()) wrong = judge_space(pmem);
        if (!wrong.empty()) wrong = "all killed, " + wrong;
        pmem.munmap();
    });
    return wrong;
}

// Nothing is damaged, and nothing is taken once all is erased.
std::string Explorer::judge_space(PMEM& pmem) {
    if (const auto damages = pmem.verify(); !damages.empty()) return "verify: " + damages[0].what;
    const catalog::Audit audit = Inside(node_.records()).audit();
    if (!audit.is_clean()) return "audit: " + audit.complaints.front();
    if (audit.retired_records != 0)
        return std::to_string(audit.retired_records) + " retired records are left";
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    const std::vector<std::string> groups = pmem.groups();
    for (auto id = groups.rbegin(); id != groups.rend(); ++id) pmem.erase(*id);
    for (const std::string& name : pmem.attributes("/")) pmem.remove_attribute("/", name);
    pmem.trim();
    // A name that leads nowhere, and a payload that no record names, are files that stay.
    if (const auto left = node_.payloads(); !left.empty())
        return "after erasing all, the file " + left.begin()->first + " is left";
    const PoolInfo info = pmem.info();
    // The count of the bytes in files may be too high after a death, until somebody would hear that there is no space.
    const bool is_directory = scenario_.options.layout == Layout::directory;
    if (info.metadata_bytes == 0 && (info.data_bytes == 0 || is_directory)) return {};
    return "after erasing all, " + std::to_string(info.metadata_bytes) + " bytes of records and " +
           std::to_string(info.data_bytes) + " of data are taken";
}

}  // namespace pmemcpy::hold
