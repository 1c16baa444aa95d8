#include "ledger.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace machine {
namespace {

constexpr std::array words{"will", "did", "synced", "found"};
constexpr std::array kinds{"value", "row", "tail", "step"};

template <class E, class Names>
E named(const Names& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw std::runtime_error("the ledger says '" + name + "'");
    return static_cast<E>(found - names.begin());
}

std::string text_of(const Entry& entry) {
    const Unit& unit = entry.unit;
    std::ostringstream text;
    text << words[static_cast<std::size_t>(entry.word)] << ' ' << kinds[static_cast<std::size_t>(unit.kind)]
         << ' ' << unit.first << ' ' << unit.count << ' ' << unit.state << '\n';
    return text.str();
}

/// What is known of one value, row or step.
struct Knowledge {
    std::uint64_t sure = 0;            ///< acknowledged
    std::uint64_t returned = 0;        ///< to be acknowledged by the next sync
    std::vector<std::uint64_t> later;  ///< what may be there instead of it

    void settle(std::uint64_t state) {
        sure = returned = state;
        later.clear();
    }
};

/// Those of one process, in the order in which it spoke.
class Reader {
public:
    explicit Reader(Acknowledged when) : when_(when) {}

    void read(const Entry& entry) {
        if (entry.word == Word::synced) return read_sync();
        const Unit& unit = entry.unit;
        const std::uint64_t state = shown(unit.kind, unit.state);
        for (std::uint64_t i = unit.first; i < unit.first + unit.count; ++i) {
            Knowledge& known = known_[{unit.kind, i}];
            if (entry.word == Word::will) {
                known.later.push_back(state);
            } else if (entry.word == Word::found || when_ == Acknowledged::by_return) {
                known.settle(state);
            } else {
                known.returned = state;
            }
        }
        if (entry.word == Word::found) waiting_ = 0;
        if (entry.word == Word::did) ++(when_ == Acknowledged::by_return ? acknowledged_ : waiting_);
    }

    Judgement judge(const States& found) const {
        Judgement judgement{acknowledged_, {}};
        for (const auto& [key, known] : known_) {
            const std::uint64_t state = found.contains(key) ? found.at(key) : 0;
            if (state == known.sure || std::ranges::count(known.later, state) != 0) continue;
            std::string what = std::string(kinds[static_cast<std::size_t>(key.first)]) + ' ' +
                               std::to_string(key.second) + " is in state " + std::to_string(state) +
                               ", acknowledged is " + std::to_string(known.sure);
            for (const std::uint64_t later : known.later) what += ", then " + std::to_string(later);
            judgement.lost.push_back(what);
        }
        return judgement;
    }

private:
    void read_sync() {
        if (when_ == Acknowledged::by_return) return;
        for (auto& [key, known] : known_) known.settle(known.returned);
        acknowledged_ += std::exchange(waiting_, 0);
    }

    Acknowledged when_;
    std::map<Key, Knowledge> known_;
    std::uint64_t acknowledged_ = 0;
    std::uint64_t waiting_ = 0;
};

/// Rows that one call stored are there together, if not under newer ones.
void judge_box(const Unit& unit, const States& found, std::vector<std::string>& wrong) {
    bool is_there = false;
    std::uint64_t oldest = unit.state;
    for (std::uint64_t r = unit.first; r < unit.first + unit.count; ++r) {
        const auto state = found.find({unit.kind, r});
        const std::uint64_t seen = state == found.end() ? 0 : state->second;
        is_there = is_there || seen == unit.state;
        oldest = std::min(oldest, seen);
    }
    if (is_there && oldest < unit.state)
        wrong.push_back("of the rows stored as " + std::to_string(unit.state) + " one is in state " +
                        std::to_string(oldest));
}

}  // namespace

Ledger::Ledger(const std::string& path) : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), path);
    std::ifstream in(path);
    // A line that was cut off is none: it will be written over.
    for (std::string line; std::getline(in, line) && !in.eof();) {
        std::istringstream text(line);
        std::string word, kind;
        Unit unit;
        text >> word >> kind >> unit.first >> unit.count >> unit.state;
        unit.kind = named<Kind>(kinds, kind);
        entries_.push_back({named<Word>(words, word), unit});
        end_ += static_cast<std::int64_t>(line.size()) + 1;
    }
}

Ledger::~Ledger() { ::close(fd_); }

void Ledger::add(Word word, const Unit& unit) {
    const std::string text = text_of({word, unit});
    if (::pwrite(fd_, text.data(), text.size(), end_) != static_cast<ssize_t>(text.size()))
        throw std::system_error(errno, std::generic_category(), "writing to the ledger");
    end_ += static_cast<std::int64_t>(text.size());
    entries_.push_back({word, unit});
}

Judgement judge(const std::vector<Entry>& entries, const States& found, Acknowledged when) {
    Reader reader(when);
    for (const Entry& entry : entries) reader.read(entry);
    Judgement judgement = reader.judge(found);
    for (const Entry& entry : entries) {
        if (entry.word == Word::will && entry.unit.count > 1) judge_box(entry.unit, found, judgement.lost);
    }
    return judgement;
}

}  // namespace machine
