#pragma once

// An explicit-state model checker: it visits every state that any interleaving of a few processes can reach, breadth first, so that the
// interleaving that it prints for a fault is a shortest one.
//
// A process is a stack of frames. A function of a model is written like the C++ function that it models, with STEP before each
// access to a word that others share; from one STEP to the next is one transition. Any process may die before any of them.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace pmemcpy::model {

/// An array of what a state consists of; whatever counts may index it.
template <class T, std::size_t count>
struct Row {
    T of[count];

    template <class Index>
    constexpr T& operator[](Index i) {
        return of[check(static_cast<std::size_t>(i))];
    }
    template <class Index>
    constexpr const T& operator[](Index i) const {
        return of[check(static_cast<std::size_t>(i))];
    }
    constexpr std::size_t size() const { return count; }
    constexpr T* begin() { return of; }
    constexpr T* end() { return of + count; }
    constexpr const T* begin() const { return of; }
    constexpr const T* end() const { return of + count; }

private:
    static constexpr std::size_t check(std::size_t i) {
        if (i >= count) std::abort();  // the model is wrong
        return i;
    }
};

/// A call of a function: which one, at which line of its file the process stands in it, and its local variables.
struct Frame {
    std::uint16_t at;
    std::uint8_t function, a, b, c, d, e;
};

struct Process {
    Row<Frame, 5> stack;
    std::uint8_t depth, dead, result, unused[5];

    bool is_gone() const { return depth == 0 || dead != 0; }
};

enum class Move { pause, go_on, wait };

/// The transition that is being made, in the words of its STEP.
struct Said {
    const char* function = nullptr;
    const char* text = nullptr;
};

#define MODEL_BEGIN \
    switch (f.at) { \
        case 0:
#define STEP(what)                                             \
    do {                                                       \
        f.at = __LINE__;                                       \
        return Move::pause;                                    \
        case __LINE__:                                         \
            if (said.text == nullptr) said = {__func__, what}; \
    } while (false)
#define CALL(...)                        \
    do {                                 \
        f.at = __LINE__;                 \
        call(s.process[p], __VA_ARGS__); \
        return Move::go_on;              \
        case __LINE__:;                  \
    } while (false)
#define RETURN(value) return leave(s.process[p], value)
#define MODEL_END \
    default:      \
        break;    \
        }         \
        return leave(s.process[p], 0)

template <class Function>
void call(Process& process, Function function, int a = 0, int b = 0) {
    process.stack[process.depth++] = {0,
                                      static_cast<std::uint8_t>(function),
                                      static_cast<std::uint8_t>(a),
                                      static_cast<std::uint8_t>(b),
                                      0,
                                      0,
                                      0};
}

inline Move leave(Process& process, int result) {
    process.stack[--process.depth] = {};
    process.result = static_cast<std::uint8_t>(result);
    return Move::go_on;
}

struct Outcome {
    std::size_t states = 0;
    std::size_t transitions = 0;
    std::string fault;  // empty: none
    std::vector<std::string> interleaving;
};

/// Explores a Protocol: a State, most_deaths, initial(), run(state, process, frame, said), die(state, process), and the faults
/// fault(state) and fault_at_rest(state), which are null where there is none.
template <class Protocol>
class Checker {
public:
    using State = typename Protocol::State;
    static_assert(std::has_unique_object_representations_v<State>, "a state is compared by its bytes");

    explicit Checker(Protocol protocol) : protocol_(protocol), table_(1U << 16U, none) {}

    Outcome run() {
        State first = protocol_.initial();
        Said unsaid;
        for (std::size_t p = 0; p < first.process.size(); ++p) step(first, p, unsaid);
        add(first, none, 0);
        for (std::uint32_t i = 0; i < states_.size(); ++i) {
            if (const char* fault = protocol_.fault(states_[i])) return found(i, fault);
            const bool moves = expand(i);
            if (is_at_rest(states_[i])) {
                if (const char* fault = protocol_.fault_at_rest(states_[i])) return found(i, fault);
                ends_.push_back(i);
            } else if (!moves) {
                return found(i, "somebody waits, and nobody moves");
            }
        }
        if (const std::uint32_t lost = find_endless(); lost != none)
            return found(lost, "from here on somebody waits or tries again for ever");
        return {states_.size(), edges_.size(), {}, {}};
    }

private:
    struct Edge {
        std::uint32_t from, to;
    };
    static constexpr std::uint32_t none = ~0U;

    static bool is_at_rest(const State& s) {
        return std::all_of(s.process.begin(), s.process.end(), [](const Process& p) { return p.is_gone(); });
    }

    bool step(State& s, std::size_t p, Said& said) const {
        for (;;) {
            Process& process = s.process[p];
            if (process.is_gone()) return true;
            const Move move = protocol_.run(s, static_cast<int>(p), process.stack[process.depth - 1U], said);
            if (move != Move::go_on) return move == Move::pause;
        }
    }

    bool expand(std::uint32_t i) {
        bool moves = false;
        for (std::size_t p = 0; p < states_[i].process.size(); ++p) {
            if (states_[i].process[p].is_gone()) continue;
            State next = states_[i];
            Said said;
            if (step(next, p, said)) {
                moves = true;
                edges_.push_back({i, add(next, i, p)});
            }
            if (states_[i].deaths >= protocol_.most_deaths || !protocol_.may_die(static_cast<int>(p)))
                continue;
            next = states_[i];
            kill(next, p);
            edges_.push_back({i, add(next, i, p + deadly)});
        }
        return moves;
    }

    void kill(State& s, std::size_t p) const {
        s.process[p] = {};
        s.process[p].dead = 1;
        ++s.deaths;
        protocol_.die(s, static_cast<int>(p));
    }

    static std::size_t hash_of(const State& s) {
        std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
        const auto* bytes = reinterpret_cast<const unsigned char*>(&s);
        for (std::size_t at = 0; at < sizeof s; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + at, std::min<std::size_t>(8, sizeof s - at));
            hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
            hash ^= hash >> 32U;
        }
        return hash;
    }

    std::uint32_t add(const State& s, std::uint32_t parent, std::size_t how) {
        std::size_t slot = hash_of(s) & (table_.size() - 1);
        for (; table_[slot] != none; slot = (slot + 1) & (table_.size() - 1))
            if (std::memcmp(&states_[table_[slot]], &s, sizeof s) == 0) return table_[slot];
        const auto index = static_cast<std::uint32_t>(states_.size());
        table_[slot] = index;
        states_.push_back(s);
        parents_.push_back(parent);
        how_.push_back(static_cast<std::uint8_t>(how));
        if (states_.size() * 2 > table_.size()) grow();
        return index;
    }

    void grow() {
        table_.assign(table_.size() * 2, none);
        for (std::uint32_t i = 0; i < states_.size(); ++i) {
            std::size_t slot = hash_of(states_[i]) & (table_.size() - 1);
            while (table_[slot] != none) slot = (slot + 1) & (table_.size() - 1);
            table_[slot] = i;
        }
    }

    // A state from which no end can be reached, the first that was found; none if there is none.
    std::uint32_t find_endless() const {
        std::vector<std::uint32_t> begin(states_.size() + 2, 0);
        for (const Edge& edge : edges_) ++begin[edge.to + 2];
        for (std::size_t i = 2; i < begin.size(); ++i) begin[i] += begin[i - 1];
        std::vector<std::uint32_t> before(edges_.size());
        for (const Edge& edge : edges_) before[begin[edge.to + 1]++] = edge.from;
        std::vector<std::uint32_t> open = ends_;
        std::vector<bool> ends_well(states_.size());
        for (const std::uint32_t i : open) ends_well[i] = true;
        while (!open.empty()) {
            const std::uint32_t i = open.back();
            open.pop_back();
            for (std::uint32_t k = begin[i]; k < begin[i + 1]; ++k) {
                if (ends_well[before[k]]) continue;
                ends_well[before[k]] = true;
                open.push_back(before[k]);
            }
        }
        const auto lost = std::find(ends_well.begin(), ends_well.end(), false);
        return lost == ends_well.end() ? none : static_cast<std::uint32_t>(lost - ends_well.begin());
    }

    Outcome found(std::uint32_t last, const char* fault) const {
        Outcome outcome{states_.size(), edges_.size(), fault, {}};
        for (std::uint32_t i = last; parents_[i] != none; i = parents_[i]) {
            const std::size_t p = how_[i] % deadly;
            Said said{"", "dies"};
            if (how_[i] < deadly) {
                State s = states_[parents_[i]];
                said = {};
                step(s, p, said);
            }
            outcome.interleaving.push_back(std::string(1, static_cast<char>('A' + p)) + "  " + said.function +
                                           (*said.function != 0 ? ": " : "") + said.text);
        }
        std::reverse(outcome.interleaving.begin(), outcome.interleaving.end());
        return outcome;
    }

    static constexpr std::size_t deadly = 16;  // added to a process's number where it dies

    Protocol protocol_;
    std::vector<State> states_;
    std::vector<std::uint32_t> parents_;
    std::vector<std::uint8_t> how_;
    std::vector<std::uint32_t> table_;
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> ends_;
};

}  // namespace pmemcpy::model
