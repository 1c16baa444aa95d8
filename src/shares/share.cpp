#include "shares/share.hpp"

#include "os/directory.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "os/space.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pmemcpy::shares {

namespace {

constexpr std::uint64_t needs_ns = 10'000'000'000;  // after this one who wanted room has found another place
constexpr std::uint64_t least_window_ns = 1'000'000'000;
constexpr std::uint64_t most_window_ns = 30'000'000'000;
constexpr std::uint64_t grace_ns = 10'000'000;  // between the last piece of a turn and the first of the next
constexpr std::uint64_t look_again_ns = 1'000'000;
constexpr std::uint64_t most_wait_ns = 60'000'000'000;  // whatever others say that they do

std::uint64_t id_of(const std::array<std::uint8_t, 16>& identity) {
    std::uint64_t id = 0;
    std::memcpy(&id, identity.data(), sizeof id);
    return id == 0 ? 1 : id;
}

// With how the name begins of the directory that it has there: pmemcpy-<identity in hexadecimal digits>.
std::string prefix_of(std::uint64_t id) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<std::uint8_t, sizeof id> bytes{};
    std::memcpy(bytes.data(), &id, sizeof id);
    std::string name = "pmemcpy-";
    for (const std::uint8_t byte : bytes) {
        name += digits[byte >> 4];
        name += digits[byte & 15];
    }
    return name;
}

std::string directory_of(const std::vector<std::string>& names, std::uint64_t id) {
    const std::string prefix = prefix_of(id);
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return name.starts_with(prefix); });
    return found == names.end() ? std::string() : *found;
}

// What lies farther ahead than anybody sets it was left by an earlier boot.
bool is_pending(std::uint64_t until, std::uint64_t now, std::uint64_t most) {
    return until > now && until - now <= most;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a > ~b ? ~std::uint64_t{0} : a + b; }

struct Sight {
    std::vector<Party> parties;
    std::uint64_t total_bytes;
};

// What all may use is the least that anybody who is here says, and never more than there is.
Sight sight_of(const std::vector<Entry>& entries, const os::File& directory, std::uint64_t together_bytes,
               std::uint64_t now) {
    Sight sight{.parties = {}, .total_bytes = 0};
    std::uint64_t used = 0;
    std::uint64_t together = together_bytes == 0 ? ~std::uint64_t{0} : together_bytes;
    for (const Entry& entry : entries) {
        const Slot& slot = entry.slot;
        used = sum(used, slot.used_bytes);
        if (entry.is_here && slot.together_bytes != 0) together = std::min(together, slot.together_bytes);
        sight.parties.push_back({.weight = slot.share,
                                 .used_bytes = slot.used_bytes,
                                 .is_here = entry.is_here,
                                 .needs = is_pending(slot.needs_until_ns, now, needs_ns)});
    }
    sight.total_bytes = std::min(together, sum(used, os::free_bytes(directory)));
    return sight;
}

}  // namespace

std::unique_ptr<Share> Share::open(const std::string& path, const std::array<std::uint8_t, 16>& identity,
                                   const Terms& terms) {
    auto ledger = Ledger::open(path, false);
    if (!ledger) return nullptr;
    try {
        os::File directory = os::File::open(path, O_RDONLY | O_DIRECTORY);
        const std::vector<std::string> names = os::names_in(directory);
        ledger->forget_gone([&](std::uint64_t id) { return !directory_of(names, id).empty(); });
        const auto slot = ledger->take(id_of(identity));
        if (!slot) return nullptr;
        return std::unique_ptr<Share>(new Share(std::move(*ledger), *slot, std::move(directory), terms));
    } catch (const Error&) {
        return nullptr;  // a directory that may not be read, or a file system without locks
    }
}

Share::Share(Ledger ledger, std::size_t slot, os::File directory, const Terms& terms)
    : ledger_(std::move(ledger)), slot_(slot), directory_(std::move(directory)), terms_(terms) {
    ledger_.store(slot_, &Slot::share, terms.weight);
    ledger_.store(slot_, &Slot::together_bytes, terms.together_bytes);
    ledger_.store(slot_, &Slot::flags, terms.has_scratch ? flag_scratch : 0);
}

View Share::look(const std::string& path, const std::array<std::uint8_t, 16>& identity, const Terms& terms) {
    const os::File directory = os::File::open(path, O_RDONLY | O_DIRECTORY);
    const auto ledger = Ledger::open(path, true);
    const std::vector<Entry> entries = ledger ? ledger->entries(no_slot, true) : std::vector<Entry>{};
    const std::vector<std::string> names = os::names_in(directory);
    const std::uint64_t now = os::monotonic_ns();
    const Sight sight = sight_of(entries, directory, terms.together_bytes, now);
    View view;
    view.total_bytes = sight.total_bytes;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        if (entry.slot.pool == id_of(identity)) {
            if (entry.is_here)
                view.part_bytes =
                    standing_of(sight.parties, i, sight.total_bytes, terms.may_not_leave).part_bytes;
            continue;
        }
        if (!entry.is_here && entry.slot.used_bytes == 0) continue;
        view.others.push_back(
            {.directory = directory_of(names, entry.slot.pool),
             .used_bytes = entry.slot.used_bytes,
             .weight = std::max<std::uint64_t>(entry.slot.share, 1),
             .is_open = entry.is_here,
             .needs = entry.is_here && is_pending(entry.slot.needs_until_ns, now, needs_ns),
             .writes = entry.is_here && is_pending(entry.slot.writes_until_ns, now, most_window_ns),
             .may_have_scratch = (entry.slot.flags & flag_scratch) != 0});
    }
    return view;
}

void Share::say_used(std::uint64_t bytes) const { ledger_.store(slot_, &Slot::used_bytes, bytes); }

std::optional<Standing> Share::standing(std::uint64_t used_bytes) const {
    if (terms_.together_bytes == 0 && ledger_.has_one()) return std::nullopt;
    std::vector<Entry> entries = ledger_.entries(slot_);
    const auto mine = std::find_if(entries.begin(), entries.end(),
                                   [&](const Entry& entry) { return entry.index == slot_; });
    if (mine == entries.end()) return std::nullopt;  // the file is gone, or was made anew
    mine->slot.used_bytes = used_bytes;
    if (entries.size() == 1 && terms_.together_bytes == 0) return std::nullopt;
    const Sight sight = sight_of(entries, directory_, terms_.together_bytes, os::monotonic_ns());
    return standing_of(sight.parties, static_cast<std::size_t>(mine - entries.begin()), sight.total_bytes,
                       terms_.may_not_leave);
}

void Share::want(std::uint64_t used_bytes, std::uint64_t bytes) const {
    const auto now = standing(used_bytes);
    if (!now || now->room_bytes >= bytes || sum(used_bytes, bytes) > now->part_bytes) return;
    ledger_.store(slot_, &Slot::needs_until_ns, os::monotonic_ns() + needs_ns);
}

void Share::end_scratch() const { ledger_.store(slot_, &Slot::flags, 0); }

// Whoever begins again begins where the others are: time in which it had nothing to write is not made up for.
Share::Turn::Turn(const Share* share, double takes_s) : share_(share) {
    const auto four = static_cast<std::uint64_t>(4e9 * std::clamp(takes_s, 0.0, 10.0));
    window_ns_ = std::clamp(four, least_window_ns, most_window_ns);
    if (share_ == nullptr) return;
    ++share_->turns_;
    const Ledger& ledger = share_->ledger_;
    const std::uint64_t now = os::monotonic_ns();
    if (!is_pending(ledger.load(share_->slot_, &Slot::writes_until_ns), now, most_window_ns))
        ledger.raise(share_->slot_, &Slot::served_bytes, ledger.load(&LedgerFile::served_bytes));
    ledger.store(share_->slot_, &Slot::writes_until_ns, now + window_ns_);
}

// Others of the pool may still be writing, in other processes: they say so with their next piece.
Share::Turn::~Turn() {
    if (share_ == nullptr || --share_->turns_ != 0) return;
    share_->ledger_.store(share_->slot_, &Slot::writes_until_ns, os::monotonic_ns() + grace_ns);
}

void Share::Turn::wrote(std::uint64_t bytes, const std::function<bool()>& goes_on) const {
    if (share_ == nullptr) return;
    const std::uint64_t weight = std::max<std::uint64_t>(share_->terms_.weight, 1);
    share_->ledger_.add(share_->slot_, &Slot::served_bytes, (bytes + weight - 1) / weight);
    const std::uint64_t begun = os::monotonic_ns();
    for (;;) {
        const std::uint64_t now = os::monotonic_ns();
        share_->ledger_.store(share_->slot_, &Slot::writes_until_ns, now + window_ns_);
        if (!share_->is_ahead(now) || now - begun > most_wait_ns || (goes_on && !goes_on())) return;
        os::sleep_ns(look_again_ns);
    }
}

// Of another one that writes and lives. The least of all is what the directory has come to, so that its time goes on.
bool Share::is_ahead(std::uint64_t now) const {
    const std::uint64_t mine = ledger_.load(slot_, &Slot::served_bytes);
    std::uint64_t least = mine;
    bool is_ahead = false;
    if (!ledger_.has_one()) {
        for (const Entry& entry : ledger_.entries(slot_)) {
            const Slot& slot = entry.slot;
            if (entry.index == slot_ || !is_pending(slot.writes_until_ns, now, most_window_ns)) continue;
            if (slot.served_bytes >= least) continue;
            if (!ledger_.is_held(entry.index)) continue;
            least = slot.served_bytes;
            is_ahead = is_ahead || mine - least > lead_allowed(terms_.weight, slot.share);
        }
    }
    ledger_.raise(&LedgerFile::served_bytes, least);
    return is_ahead;
}

}  // namespace pmemcpy::shares
