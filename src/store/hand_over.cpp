// What lies in the flush target is handed to a command, file by file: what the inventory there names, and then the inventory, so that
// wherever the command takes them a pool can be made of them.

#include "layout/handed.hpp"
#include "layout/payload_name.hpp"
#include "os/child.hpp"
#include "os/directory.hpp"
#include "os/process.hpp"
#include "store/store.hpp"
#include "tier/command.hpp"

#include <algorithm>
#include <cstring>

namespace pmemcpy::store {

using layout::Handed;
using layout::Inventory;
using layout::Item;
using layout::ItemKind;

namespace {

constexpr std::uint64_t most_printed = 1000;
constexpr int most_failed_commands =
    3;  // of one round: a command that fails thrice is not tried for all the others

std::string after(const os::Ending& ending, double seconds) {
    switch (ending.how) {
        case os::Ending::How::exited:
            return "ended with exit code " + std::to_string(ending.number);
        case os::Ending::How::killed:
            return "was killed by signal " + std::to_string(ending.number);
        case os::Ending::How::stopped:
            return "was stopped, for it took longer than " + std::to_string(seconds) +
                   " s (`command_timeout` of `flush`)";
        case os::Ending::How::unknown:
            break;
    }
    return "ended, and nobody knows how";
}

/// What of the inventory is to be handed over.
struct Parcel {
    std::string name;
    std::uint32_t crc;
    std::uint64_t bytes;
    std::string id;
};

std::vector<Parcel> parcels_of(const Inventory& inventory) {
    std::vector<Parcel> all;
    std::string id;
    inventory.for_each([&](const Item& item) {
        if (item.head.kind == ItemKind::group || item.head.kind == ItemKind::value ||
            item.head.kind == ItemKind::array)
            id = item.name;
        const bool is_lost = (item.head.flags & (layout::item_is_unflushed | layout::item_is_damaged)) != 0;
        if (item.head.number == 0 || item.head.kind == ItemKind::array || is_lost) return;
        Parcel parcel{layout::name_of_payload(item.head.number), 0, 0, id};
        if (item.head.kind == ItemKind::block && item.record.size() >= sizeof(catalog::Block)) {
            catalog::Block block;
            std::memcpy(&block, item.record.data(), sizeof block);
            parcel.crc = block.crc;
            parcel.bytes = block.stored_bytes;
        } else if (item.record.size() >= sizeof(catalog::Value)) {
            catalog::Value value;
            std::memcpy(&value, item.record.data(), sizeof value);
            parcel.crc = value.crc;
            parcel.bytes = value.bytes;
        }
        all.push_back(std::move(parcel));
    });
    return all;
}

}  // namespace

// It is run with the rights of whoever has the pool open, so nobody else may have said what it is.
void Store::check_may_run_commands() const {
    const unsigned owner = pool_.file().owner();
    const bool is_ours = owner == os::user_id() || owner == 0;
    if (is_ours && (pool_.file().mode_bits() & 0022) == 0) return;
    throw Error(Code::permission_denied,
                "the command of `flush` in the hierarchy of " + path() +
                    " is not run: others may write the pool, and would choose what runs with your rights; "
                    "take these rights from them, or hand files over by a script of your own");
}

FlushProgress Store::unstaged() const {
    FlushProgress left;
    const auto t = tiering();
    if (!t || t->flush_level == 0 || t->hierarchy.flush.command.empty() ||
        targets_.is_away(t->numbers[t->flush_level]))
        return left;
    const auto files = targets_.files_of(t->numbers[t->flush_level]);
    const Handed handed(files->directory());
    const auto inventory = files->inventory();
    if (!inventory) return left;
    for (const Parcel& each : parcels_of(*inventory)) {
        if (handed.has(each.name, each.crc)) continue;
        ++left.of_blocks;
        left.of_bytes += each.bytes;
    }
    return left;
}

bool Store::hand_over(const std::function<bool()>& is_wanted) {
    const auto t = tiering();
    if (!t || t->flush_level == 0 || t->hierarchy.flush.command.empty()) return true;
    check_may_run_commands();
    const std::uint32_t target = t->numbers[t->flush_level];
    if (const std::string trouble = targets_.trouble_of(target); !trouble.empty())
        throw Error(Code::io_error, trouble);
    const pool::Pool::HandOverLock alone(pool_);
    if (!alone) return false;
    const auto files = targets_.files_of(target);
    const os::File& directory = files->directory();
    const unsigned mode_bits = pool_.file().mode_bits();
    const auto inventory = files->inventory();
    if (!inventory) return true;
    Handed handed(directory);
    std::vector<Parcel> parcels = parcels_of(*inventory);
    std::unordered_set<std::string> names = {inventory->name};
    for (const Parcel& each : parcels) names.insert(each.name);
    std::string trouble;
    int failures = 0;
    bool is_whole = true;
    const auto give = [&](const std::string& name, std::uint32_t crc, const std::string& id) {
        if (handed.has(name, crc)) return;
        const auto named = os::look_in(directory, name);
        // A newer inventory is about to come, which does not have it.
        if (!named || named->what != os::Named::regular) {
            is_whole = false;
            return;
        }
        check_in_place();  // the command is told the pool's name
        const std::string failed =
            run_command(*t, {directory.path() + "/" + name, name, directory.path(), id, path()}, is_wanted);
        if (failed.empty()) {
            handed.add(name, crc, mode_bits);
            return;
        }
        is_whole = false;
        ++failures;
        if (trouble.empty()) trouble = failed;
    };
    for (const Parcel& each : parcels) {
        if (!is_wanted() || failures == most_failed_commands) break;
        give(each.name, each.crc, each.id);
    }
    if (is_wanted() && is_whole) {
        give(inventory->name, inventory->head.item_crc, {});
        handed.keep_only(names, mode_bits);
    }
    if (!is_wanted()) return true;  // what failed was stopped for that
    Handed::set_trouble(directory, trouble, mode_bits);
    if (!trouble.empty()) throw Error(Code::io_error, trouble);
    return true;
}

// Empty if it did what it was to do.
std::string Store::run_command(const Tiering& t, const tier::HandedFile& handed,
                               const std::function<bool()>& is_wanted) const {
    const std::vector<std::string> words = tier::fill_command(t.hierarchy.flush.command, handed);
    return run_program(words, "the command of `flush`, '" + words[0] + "', for " + handed.file + " ",
                       t.hierarchy.flush.command_timeout_s, is_wanted);
}

// `what` is run, for whoever is told of it.
std::string Store::run_program(const std::vector<std::string>& words, const std::string& what, double seconds,
                               const std::function<bool()>& is_wanted) {
    const auto program = os::find_program(words[0]);
    if (!program)
        return what + "cannot be run: there is no such program" +
               (words[0].find('/') == std::string::npos ? " in PATH" : "");
    os::File printed = os::File::create_in_memory("what a command prints");
    try {
        const os::Ending ending =
            os::run({.path = *program, .arguments = {words.begin() + 1, words.end()}, .printed = printed},
                    static_cast<std::uint64_t>(seconds * 1e9), is_wanted);
        if (ending.how == os::Ending::How::exited && ending.number == 0) return {};
        const std::string said = os::last_printed(printed, most_printed);
        return what + after(ending, seconds) + (said.empty() ? "" : ": " + said);
    } catch (const Error& error) {
        return what + "cannot be run: " + error.what();
    }
}

}  // namespace pmemcpy::store
