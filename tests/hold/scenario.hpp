#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <pmemcpy/pmemcpy.hpp>

#include "tests/crash/simulated_kernel.hpp"

namespace pmemcpy::hold {

/// One call of the library, and what its caller has of it in words: nothing but "ok", what was loaded, or the error's code.
struct Call {
    std::string name;
    std::function<std::string(PMEM&)> make;
    bool may_be_busy = false;  ///< where others have begun what they may not come to end
};

/// A process: what it does unwatched once it has the pool open, and then its calls, at whose accesses it is held.
struct Actor {
    std::string name;
    std::vector<Call> calls;
    std::function<void(PMEM&)> prepare{};
    bool opens_itself = false;  ///< its first call opens the pool
};

/// One after the other: a process runs up to some access, which the explorer chooses, of all or of those that a function makes; or to the
/// first that a function makes; or to its end; or it is killed where it is.
struct Turn {
    enum class Kind { up_to_an_access, up_to_a_function, to_the_end, death };
    std::size_t actor;
    Kind kind;
    const char* function = nullptr;
};
constexpr Turn held(std::size_t actor) { return {actor, Turn::Kind::up_to_an_access}; }
constexpr Turn held_within(std::size_t actor, const char* function) {
    return {actor, Turn::Kind::up_to_an_access, function};
}
constexpr Turn held_in(std::size_t actor, const char* function) {
    return {actor, Turn::Kind::up_to_a_function, function};
}
constexpr Turn ends(std::size_t actor) { return {actor, Turn::Kind::to_the_end}; }
constexpr Turn dies(std::size_t actor) { return {actor, Turn::Kind::death}; }

/// Of 64 chunks, each a page.
inline Options small_pool() {
    Options options;
    options.max_bytes = std::uint64_t{256} << 10;
    options.chunk_bytes = 4096;
    return options;
}

/// Processes on one pool, and who runs when.
struct Scenario {
    std::string name;
    std::function<void(PMEM&)> setup;  ///< by a process that has left
    std::vector<Actor> actors;
    std::vector<Turn> turns;
    crash::Model model = crash::Model::line;
    Options options = small_pool();
    /// Of the accesses that each choice would be made for, about one of so many is taken, others with each seed: the runs of three choices grow
    /// with the cube of the accesses, and one pair of long verbs would take as long as all others together.
    std::uint64_t one_choice_in = 1;
};

}  // namespace pmemcpy::hold
