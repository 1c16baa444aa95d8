#include "member.hpp"

#include <algorithm>

namespace machine {
namespace {

using pmemcpy::Box;
using pmemcpy::Code;
using pmemcpy::Dimensions;
using pmemcpy::Error;
using pmemcpy::PMEM;

std::string value_id(std::uint64_t who, std::uint64_t i) {
    return "p" + std::to_string(who) + "/v" + std::to_string(i);
}
std::string rows_id(std::uint64_t who) { return "rows" + std::to_string(who); }
std::string tail_id(std::uint64_t who) { return "tail" + std::to_string(who); }

/// Runs a load; what it finds, or nothing.
template <class Load>
Words found_by(Load&& load) {
    try {
        return load();
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return {};
    }
}

/// Of which state these bytes are; 0 if there are none.
std::uint64_t state_of(const Words& words, std::uint64_t who, Kind kind, std::uint64_t index, bool is_value,
                       std::vector<std::string>& wrong) {
    if (words.empty()) return 0;
    if (words == content(who, kind, index, words[0], is_value ? length_of(words[0]) : columns))
        return words[0];
    wrong.push_back("process " + std::to_string(who) + ", kind " + std::to_string(static_cast<int>(kind)) +
                    ", number " + std::to_string(index) + ": not what any call stored");
    return words[0];
}

std::uint64_t tail_length(const PMEM& pmem, std::uint64_t who) {
    return pmem.exists(tail_id(who)) ? pmem.load_dims(tail_id(who))[0] : 0;
}

}  // namespace

States look(const PMEM& pmem, std::uint64_t who, std::vector<std::string>& wrong) {
    States found;
    for (std::uint64_t i = 0; i < values; ++i) {
        const Words words = found_by([&] { return pmem.load<Words>(value_id(who, i)); });
        found[{Kind::value, i}] = state_of(words, who, Kind::value, i, true, wrong);
    }
    const auto look_at_row = [&](const std::string& id, Kind kind, std::uint64_t r) {
        const Words words = found_by([&] {
            Words row(columns);
            pmem.load(id, row.data(), Box{{r, 0}, {1, columns}});
            return row;
        });
        found[{kind, r}] = state_of(words, who, kind, r, false, wrong);
    };
    for (std::uint64_t r = 0; r < rows; ++r) look_at_row(rows_id(who), Kind::row, r);
    const std::uint64_t length = tail_length(pmem, who);
    for (std::uint64_t r = 0; r < length; ++r) look_at_row(tail_id(who), Kind::tail, r);
    if (who != 0) return found;

    const std::uint64_t step = pmem.info().committed_step;
    for (const std::uint64_t part : {0U, 1U}) {
        const std::string id = part == 0 ? "step/a" : "step/b";
        const Words words = found_by([&] { return pmem.load<Words>(id); });
        if (state_of(words, who, Kind::step, part, true, wrong) != step)
            wrong.push_back(id + " is not of the committed step " + std::to_string(step));
    }
    found[{Kind::step, 0}] = step;
    return found;
}

Member::Member(const std::string& pool, const std::string& ledger, std::uint64_t who, std::uint64_t seed,
               bool syncs)
    : ledger_(ledger), who_(who), syncs_(syncs), random_(seed) {
    for (const Entry& entry : ledger_.entries()) state_ = std::max(state_, entry.unit.state);
    pmemcpy::Options options;
    options.mode = pmemcpy::Mode::update;
    pmem_.mmap(pool, options);
    pmem_.alloc<std::uint64_t>(rows_id(who_), Dimensions{rows, columns});
    pmem_.alloc<std::uint64_t>(tail_id(who_), Dimensions{pmemcpy::unlimited, columns});
    std::vector<std::string> wrong;
    there_ = look(pmem_, who_, wrong);
    if (!wrong.empty()) throw std::runtime_error(wrong.front());
}

void Member::begin() {
    store_rows();
    for (int i = 0; i < 10; ++i) store_value();
    if (syncs_) sync();
}

void Member::go_on() {
    for (;;) act();
}

void Member::act() {
    const std::uint64_t what = random_() % 64;
    if (what < 34) return store_value();
    if (what < 50) return store_rows();
    if (what < 60) return append();
    if (!syncs_) return;
    if (what == 60 && who_ == 0) return make_step();
    if (what == 61) return sync();
}

template <class Call>
void Member::store(const Unit& unit, Call&& call) {
    ledger_.add(Word::will, unit);
    call();
    ledger_.add(Word::did, unit);
    for (std::uint64_t i = unit.first; i < unit.first + unit.count; ++i)
        there_[{unit.kind, i}] = shown(unit.kind, unit.state);
}

void Member::store_value() {
    const Unit unit{Kind::value, random_() % values, 1, ++state_};
    const std::string id = value_id(who_, unit.first);
    if (shown(unit.kind, unit.state) != 0) {
        const Words words = content(who_, unit.kind, unit.first, unit.state, length_of(unit.state));
        store(unit, [&] { pmem_.store(id, words); });
    } else if (there_[{unit.kind, unit.first}] != 0) {
        store(unit, [&] { pmem_.erase(id); });
    }
}

void Member::store_rows() {
    const std::uint64_t first = random_() % rows;
    const Unit unit{Kind::row, first, 1 + random_() % (rows - first), ++state_};
    Words words;
    for (std::uint64_t r = first; r < first + unit.count; ++r) {
        const Words row = content(who_, unit.kind, r, unit.state, columns);
        words.insert(words.end(), row.begin(), row.end());
    }
    store(unit, [&] { pmem_.store(rows_id(who_), words.data(), Box{{first, 0}, {unit.count, columns}}); });
}

void Member::append() {
    const Unit unit{Kind::tail, tail_length(pmem_, who_), 1, ++state_};
    if (unit.first >= longest_tail) return;
    const Words row = content(who_, unit.kind, unit.first, unit.state, columns);
    store(unit, [&] { pmem_.store(tail_id(who_), row.data(), Box{{unit.first, 0}, {1, columns}}); });
}

void Member::make_step() {
    const Unit unit{Kind::step, 0, 1, ++state_};
    store(unit, [&] {
        pmem_.begin(unit.state);
        pmem_.store("step/a", content(who_, unit.kind, 0, unit.state, length_of(unit.state)));
        pmem_.store("step/b", content(who_, unit.kind, 1, unit.state, length_of(unit.state)));
        pmem_.commit(unit.state);
    });
}

void Member::sync() {
    pmem_.sync();
    ledger_.add(Word::synced);
}

}  // namespace machine
