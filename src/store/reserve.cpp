// Space for what will be stored: in the pool, or in a target below it.

#include "store/store.hpp"
#include "tier/hierarchy.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::store {

void Store::reserve(std::uint64_t bytes, std::string_view target) {
    check_writable();
    if (heap_.home() != 0) {
        throw Error(
            Code::unsupported,
            path() + " is a pool in a directory, where nothing is reserved; only in a pool of one file");
    }
    const auto t = tiering();
    const std::size_t level = target.empty() ? 0 : level_of(target);
    if (level == 0) return with_space([&] { heap_.reserve(bytes); });
    const std::uint32_t number = t->numbers[level];
    try {
        return targets_.files_of(number)->keep_free(bytes);
    } catch (const Error& error) {
        if (error.kind() != Code::no_space) throw;
    }
    make_room(*t, level, bytes, true);
    targets_.files_of(number)->keep_free(bytes);
}

std::uint64_t Store::reserved(std::string_view target) const {
    check_readable();
    const std::size_t level = target.empty() ? 0 : level_of(target);
    return pool_.reserved(level == 0 ? 0 : tiering()->numbers[level]);
}

std::size_t Store::level_of(std::string_view target) const {
    const auto t = tiering();
    if (!t)
        throw Error(Code::invalid_argument,
                    path() + " has no hierarchy, so there is no target '" + std::string(target) + "'");
    return tier::level_of(t->hierarchy, target);
}

}  // namespace pmemcpy::store
