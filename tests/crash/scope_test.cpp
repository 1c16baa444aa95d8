// A process that is killed at any instruction while it makes something private, or shared: its owner has it whole on one side and not on
// the other, and of what is private no byte is left where others read, once somebody who may write has opened the pool again.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>
#include <pmemcpy/scope.hpp>

#include "stepping.hpp"
#include "tests/folder.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::crash {
namespace {

const std::string hidden = "hidden!!";
const std::vector<std::string> ids = {"group/a", "group/deep/b"};

std::string text_of(const std::string& id) {
    std::string text;
    while (text.size() < (id == ids.front() ? 40U : 6000U)) text += hidden;
    return text;
}

struct Verb {
    std::string name;
    std::string id;  // whose scope is changed
    Scope before, after;
    std::string around{};  // a group around it that is private
};

struct Position {
    std::uint64_t number;
    std::uint64_t place;
    std::uint64_t occurrence;
};

class ScopeSweep : public ::testing::TestWithParam<Verb> {
protected:
    ScopeSweep() {
        PMEM pool = open();
        for (const std::string& id : ids) {
            pool.store(id, text_of(id));
            pool.set_attribute(id, "note", hidden);
        }
        pool.store("public", 1);
        if (!GetParam().around.empty()) set_scope(pool, GetParam().around, Scope::own);
        set_scope(pool, GetParam().id, Scope::own);  // so that there is a private side
        set_scope(pool, GetParam().id, GetParam().before);
        pool.munmap();
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
            std::ifstream file(entry.path(), std::ios::binary);
            base_[entry.path()] = {std::istreambuf_iterator<char>(file), {}};
        }
    }

    PMEM open() const {
        Options options;
        options.max_bytes = 1 << 20;
        options.chunk_bytes = 4096;
        options.wipe = true;
        PMEM pool;
        pool.mmap(path_, options);
        return pool;
    }

    void restore() const {
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
            std::filesystem::remove_all(entry.path());
        for (const auto& [path, bytes] : base_) {
            std::ofstream(path, std::ios::binary) << bytes;
            std::filesystem::permissions(
                path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        }
    }

    SteppedChild start() {
        restore();
        child_ = std::make_unique<PMEM>();
        return {[this] { *child_ = open(); },
                [this] { set_scope(*child_, GetParam().id, GetParam().after); }};
    }

    // Before each system call, atomic and fence, and behind each system call: in between others see nothing new but bytes that are not
    // published, which the next of these tells apart.
    std::vector<Position> find_positions(std::uint64_t& all) {
        SteppedChild child = start();
        std::vector<Position> positions;
        std::unordered_map<std::uint64_t, std::uint64_t> occurrences;
        bool after_system_call = false;
        do {
            const std::uint64_t place = child.place();
            const std::uint64_t occurrence = ++occurrences[place];
            const bool at_system_call = child.is_at_system_call();
            if (at_system_call || after_system_call || child.is_at_atomic_or_fence())
                positions.push_back({all, place, occurrence});
            after_system_call = at_system_call;
            ++all;
        } while (child.step());
        return positions;
    }

    bool is_in_shared_file() const {
        std::ifstream file(path_, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        return bytes.find(hidden) != std::string::npos;
    }

    std::string judge() {
        bool is_all_private = true;
        {
            PMEM pool = open();
            for (const std::string& id : ids) {
                if (!pool.exists(id)) return id + " is lost";
                if (pool.load<std::string>(id) != text_of(id)) return id + " is another text";
                if (pool.get_attribute<std::string>(id, "note") != hidden)
                    return id + " has lost its attribute";
                const Scope scope = scope_of(pool, id);
                const bool is_moved = id.starts_with(GetParam().id);
                const bool was_private = !GetParam().around.empty();
                if (!is_moved && scope != (was_private ? Scope::own : Scope::shared))
                    return id + " is on the other side";
                is_all_private = is_all_private && scope == Scope::own;
            }
            if (GetParam().before == GetParam().after) {
                const std::string late = GetParam().id + "/late";
                pool.store(late, 1);
                if (scope_of(pool, late) != GetParam().after) return "what comes is on the other side";
                pool.erase(late);
            }
            if (pool.ids().size() != ids.size() + 1) return "there is something that was not there before";
            if (!pool.verify().empty()) return "something is damaged";
        }
        if (is_all_private && is_in_shared_file()) return "what is private can be read in the shared file";
        const catalog::Audit found = Inside(path_).audit();
        if (!found.is_clean() || found.unwiped != 0)
            return "audit: " + (found.complaints.empty() ? "space is not wiped" : found.complaints.front());
        // What was begun can be done, or undone.
        PMEM pool = open();
        for (const Scope scope : {Scope::own, Scope::shared}) {
            set_scope(pool, "group", scope);
            if (scope_of(pool, ids.back()) != scope) return "the group does not change its scope any more";
            if (scope == Scope::own && is_in_shared_file())
                return "what became private is left in the shared file";
        }
        return {};
    }

    Folder folder_;
    const std::string path_ = folder_ / "pool";
    std::map<std::string, std::string> base_;
    std::unique_ptr<PMEM> child_;
};

TEST_P(ScopeSweep, leaves_it_whole_on_one_side) {
    std::uint64_t all = 0;
    std::vector<Position> positions = find_positions(all);
    const std::size_t different = positions.size();
    constexpr std::size_t few = 40;
    if (std::getenv("PMEMCPY_LONG") == nullptr && positions.size() > few) {
        std::shuffle(positions.begin(), positions.end(), std::mt19937_64(1));
        positions.resize(few);
    }
    std::size_t failures = 0;
    for (const Position& position : positions) {
        std::string wrong;
        try {
            {
                SteppedChild child = start();
                child.run_to(position.place, position.occurrence);
            }
            wrong = judge();
        } catch (const std::exception& error) {
            wrong = error.what();
        }
        if (wrong.empty()) continue;
        ADD_FAILURE() << GetParam().name << " killed after instruction " << position.number << " of " << all
                      << " at " << name_of_place(position.place) << ": " << wrong;
        if (++failures == 5) break;
    }
    std::printf("scope %-20s %llu instructions, %zu different, killed at %zu\n", GetParam().name.c_str(),
                static_cast<unsigned long long>(all), different, positions.size());
}

INSTANTIATE_TEST_SUITE_P(
    every, ScopeSweep,
    ::testing::Values(Verb{"hide", "group/a", Scope::shared, Scope::own},
                      Verb{"show", "group/a", Scope::own, Scope::shared},
                      Verb{"hide_group", "group", Scope::shared, Scope::own},
                      Verb{"show_group", "group", Scope::own, Scope::shared},
                      Verb{"show_group_in_a_private_one", "group/deep", Scope::own, Scope::shared, "group"},
                      Verb{"show_group_again", "group/deep", Scope::shared, Scope::shared, "group"}),
    [](const auto& verb) { return verb.param.name; });

void PrintTo(const Verb& verb, std::ostream* out) { *out << verb.name; }

}  // namespace
}  // namespace pmemcpy::crash
