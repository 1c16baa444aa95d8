// Length: what the note in the pool says and what is decided by it change together.
// The targets below a pool: what its hierarchy is, and to which of them a new block goes.

#include "array/selection.hpp"
#include "os/process.hpp"
#include "store/store.hpp"
#include "tier/hierarchy.hpp"

#include <algorithm>
#include <sstream>

namespace pmemcpy::store {

using persist::Medium;

namespace {

constexpr std::string_view hierarchy_note = "pmemcpy:hierarchy";
constexpr std::uint64_t recount_ns = 5'000'000;

// The note: a line for each target below the pool, by which its extents are found also by who does not read YAML; an empty line; the
// hierarchy as YAML. While targets leave, a line with the length of the note before comes first, and that note.
struct Note {
    std::vector<layout::Mount> mounts;
    std::string yaml;
    std::string before;
};

constexpr std::string_view before_word = "before ";

constexpr std::string_view share_word = "share ";

void read_field(const std::string& field, layout::Mount& mount) {
    const bool is_share = field.starts_with(share_word);
    std::istringstream words(is_share ? field.substr(share_word.size()) : field);
    if (is_share) {
        words >> mount.terms.weight >> mount.terms.together_bytes >> mount.terms.has_scratch;
        return;
    }
    layout::Limits limits;
    if (words >> limits.write_bytes_per_second >> limits.write_latency_s >> limits.read_bytes_per_second >>
        limits.read_latency_s)
        mount.limits = limits;
}

Note parse_note(const std::string& text) {
    Note note;
    std::istringstream lines(text);
    std::string line;
    if (text.starts_with(before_word)) {
        std::size_t bytes = 0;
        lines.ignore(before_word.size());
        lines >> bytes;
        lines.ignore();
        if (!lines || bytes > text.size())
            throw Error(Code::corrupt, "the pool's hierarchy makes no sense: it is cut off");
        note.before.resize(bytes);
        lines.read(note.before.data(), static_cast<std::streamsize>(bytes));
    }
    while (std::getline(lines, line) && !line.empty()) {
        std::istringstream words(line);
        layout::Mount mount;
        if (!(words >> mount.number >> mount.capacity_bytes) || mount.number < layout::first_target_below ||
            mount.number >= layout::targets_end) {
            throw Error(Code::corrupt, "the pool's hierarchy makes no sense: '" + line + "'");
        }
        words.ignore();
        std::getline(words, mount.path, '\t');
        std::getline(words, mount.name, '\t');
        // What is not said is left out: a line may end after its name.
        for (std::string field; std::getline(words, field, '\t');) read_field(field, mount);
        note.mounts.push_back(std::move(mount));
    }
    if (!note.mounts.empty()) note.mounts.back().terms.may_not_leave = true;
    note.yaml.assign(std::istreambuf_iterator<char>(lines), {});
    return note;
}

// Which hierarchy the user has: until all targets have left it is the one before.
std::string yaml_of_user(const Note& note) {
    return note.before.empty() ? note.yaml : parse_note(note.before).yaml;
}

std::string limits_text(const layout::Mount& mount) {
    if (!mount.limits) return {};
    std::ostringstream text;
    text.precision(17);
    text << '\t' << mount.limits->write_bytes_per_second << ' ' << mount.limits->write_latency_s << ' '
         << mount.limits->read_bytes_per_second << ' ' << mount.limits->read_latency_s;
    return text.str();
}

std::string share_text(const shares::Terms& terms) {
    if (terms.weight == 1 && terms.together_bytes == 0 && !terms.has_scratch) return {};
    return "\t" + std::string(share_word) + std::to_string(terms.weight) + " " +
           std::to_string(terms.together_bytes) + " " + (terms.has_scratch ? "1" : "0");
}

std::string text_of(const Note& note) {
    std::string text;
    for (const layout::Mount& mount : note.mounts) {
        text += std::to_string(mount.number) + " " + std::to_string(mount.capacity_bytes) + " " + mount.path +
                "\t" + mount.name + limits_text(mount) + share_text(mount.terms) + "\n";
    }
    return text + "\n" + note.yaml;
}

// Who has been a target before keeps its number; others get one that none has.
std::vector<layout::Mount> number(const Hierarchy& hierarchy, const std::vector<layout::Mount>& before) {
    std::vector<layout::Mount> mounts;
    const auto is_taken = [&](std::uint32_t n) {
        const auto has = [n](const layout::Mount& m) { return m.number == n; };
        return std::any_of(before.begin(), before.end(), has) ||
               std::any_of(mounts.begin(), mounts.end(), has);
    };
    for (std::size_t i = 1; i < hierarchy.targets.size(); ++i) {
        const Target& target = hierarchy.targets[i];
        const auto known = std::find_if(before.begin(), before.end(),
                                        [&](const layout::Mount& m) { return m.path == target.path; });
        std::uint32_t n = layout::first_target_below;
        if (known != before.end()) {
            n = known->number;
        } else {
            while (is_taken(n)) ++n;
        }
        layout::Mount mount{.number = n,
                            .name = target.name,
                            .path = target.path,
                            .capacity_bytes = target.capacity_bytes,
                            .terms = {.weight = target.share,
                                      .together_bytes = target.together_bytes,
                                      .has_scratch = has_scratch(hierarchy)}};
        if (target.limited) {
            mount.limits = {target.write.bytes_per_second, target.write.latency_s,
                            target.read.bytes_per_second, target.read.latency_s};
        }
        mounts.push_back(std::move(mount));
    }
    return mounts;
}

std::vector<layout::Mount> those_without(const std::vector<layout::Mount>& mounts,
                                         const std::vector<layout::Mount>& others) {
    std::vector<layout::Mount> rest;
    std::copy_if(mounts.begin(), mounts.end(), std::back_inserter(rest), [&](const layout::Mount& mount) {
        return std::none_of(others.begin(), others.end(),
                            [&](const layout::Mount& m) { return m.number == mount.number; });
    });
    return rest;
}

// With targets that are about to leave: first, and not in the hierarchy. Where that goes as a whole, the pool alone is in it so long. The
// note before stays in it: who dies now has changed nothing.
std::string text_between(Note note, const std::vector<layout::Mount>& leaving, const std::string& before) {
    if (note.yaml.empty()) {
        Hierarchy alone;
        alone.targets = {parse_hierarchy(parse_note(before).yaml).targets.front()};
        note.yaml = to_yaml(alone);
    }
    note.mounts.insert(note.mounts.begin(), leaving.begin(), leaving.end());
    return std::string(before_word) + std::to_string(before.size()) + "\n" + before + text_of(note);
}

// Odd while the note is changed: whoever dies meanwhile leaves it so, and nobody relies any more on what he has read before. Under the
// HierarchyLock. Never flushed: recovery finds the note.
class Changing {
public:
    explicit Changing(pool::Pool& pool) : pool_(pool) {
        if (Medium::load(word()) % 2 == 0) pool_.medium().fetch_add(word(), 1);
    }
    ~Changing() { pool_.medium().fetch_add(word(), 1); }
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;

private:
    std::uint64_t* word() const { return &pool_.state().hierarchy.value; }
    pool::Pool& pool_;
};

void refuse_odd_text(const Hierarchy& hierarchy) {
    for (const Target& target : hierarchy.targets) {
        if ((target.name + target.path).find_first_of("\t\n") != std::string::npos)
            throw Error(Code::invalid_argument,
                        "hierarchy: a name or path has a tab or an end of line in it");
    }
}

}  // namespace

std::vector<layout::Mount> Store::mounts() const {
    const auto text = note("/", hierarchy_note);
    return text ? parse_note(*text).mounts : std::vector<layout::Mount>{};
}

std::optional<Hierarchy> Store::hierarchy() const {
    check_readable();
    const auto text = note("/", hierarchy_note);
    if (!text) return std::nullopt;
    return parse_hierarchy(yaml_of_user(parse_note(*text)));
}

void Store::check_may_have(const Hierarchy* hierarchy) const {
    if (in_step())
        throw Error(Code::unsupported, "in a step the hierarchy stays as it is; set it after commit");
    if (heap_.home() != 0) {
        throw Error(Code::unsupported,
                    path() +
                        " is a pool in a directory, whose payloads lie in files that other programs "
                        "read; only a pool of one file has a hierarchy");
    }
    if (hierarchy != nullptr) {
        tier::check(*hierarchy);
        refuse_odd_text(*hierarchy);
    }
}

void Store::set_hierarchy(const Hierarchy* hierarchy) {
    check_writable();
    check_may_have(hierarchy);
    const pool::Pool::HierarchyLock one_at_a_time(pool_);
    finish_for_dead();
    put_hierarchy(hierarchy);
}

void Store::set_mode(std::string_view match, Buffering mode) {
    check_writable();
    const pool::Pool::HierarchyLock one_at_a_time(pool_);
    finish_for_dead();
    auto h = hierarchy();
    if (!h)
        throw Error(Code::invalid_argument,
                    path() + " has no hierarchy, so its blocks have no mode; `pmemcpy tiers` gives it one");
    tier::set_mode(*h, match, mode);
    check_may_have(&*h);
    put_hierarchy(&*h);
}

void Store::finish_hierarchy() {
    if (read_only() || hierarchy_number() == 0) return;
    const auto text = note("/", hierarchy_note);
    if (hierarchy_number() % 2 == 0 && (!text || parse_note(*text).before.empty())) return;
    // Held by a process that lives, which ends what it has begun: nobody waits here for one that is stopped.
    const pool::Pool::HierarchyLock one_at_a_time(pool_, std::try_to_lock);
    if (one_at_a_time) finish_for_dead();
}

// Under the HierarchyLock, so the process that has not ended a change is dead. Until all targets had left it had changed nothing; else
// what it came to counts.
void Store::finish_for_dead() {
    const auto text = note("/", hierarchy_note);
    const std::string before = text ? parse_note(*text).before : std::string();
    if (!before.empty()) {
        put_note(before);
    } else if (hierarchy_number() % 2 != 0) {
        const Changing finished(pool_);
    }
}

void Store::put_hierarchy(const Hierarchy* hierarchy) {
    const std::vector<layout::Mount> before = mounts();
    Note note;
    if (hierarchy != nullptr) note = {number(*hierarchy, before), to_yaml(*hierarchy), {}};
    for (const layout::Mount& mount : note.mounts) targets_.prepare(mount);
    const std::vector<layout::Mount> leaving = those_without(before, note.mounts);
    if (!leaving.empty())
        turn_away_from(leaving, text_between(note, leaving, this->note("/", hierarchy_note).value_or("")));
    // Behind a page cache a power loss may bring back blocks that have left a target, and take the note or leave it: so no target leaves before
    // they are durable where they are now, and none gets blocks before it is durable itself.
    const bool needs_sync = pool_.probe().needs_sync;
    if (needs_sync && !leaving.empty()) pool_.sync();
    // As long as the note names their target, for who dies here leaves them to nobody. They are hints: losing them loses nothing but time.
    for (const layout::Mount& mount : leaving) forget_copies(mount.number);
    put_note(hierarchy == nullptr ? std::string() : text_of(note));
    if (hierarchy == nullptr) heat::Tally::remove(pool_.file());
    if (needs_sync) pool_.sync();
    if (const auto tally = this->tally(); tally && hierarchy != nullptr) tally->begin_counting();
}

// Under the HierarchyLock. Empty: none.
void Store::put_note(const std::string& text) {
    const Changing changing(pool_);
    if (text.empty()) {
        remove_note("/", hierarchy_note);
    } else {
        set_note("/", hierarchy_note, text);
    }
}

// A block that lies where nobody looks any more would be lost. So targets leave in two steps: from the first one on nobody chooses them,
// and what is in them is found; and they are empty when all have ended that had chosen one before. Crash: they stay, see finish_for_dead().
void Store::turn_away_from(const std::vector<layout::Mount>& leaving, const std::string& note) {
    refuse_removal(leaving);
    const std::string before = this->note("/", hierarchy_note).value_or("");
    put_note(note);
    try {
        pool_.await_placings();
        refuse_removal(leaving);
    } catch (...) {
        put_note(before);
        throw;
    }
}

// Blocks of steps that are not committed count too.
void Store::refuse_removal(const std::vector<layout::Mount>& leaving) const {
    catalog_.for_each([&](const std::string& id, Link entry) {
        const auto definition = catalog_.definition(entry);
        const auto directory = definition && is_array(*definition) ? directory_of(*definition) : nullptr;
        if (!directory) return;
        const std::lock_guard one_thread(directory->mutex());
        if (!directory->refresh()) return;
        for (const auto& [handle, block] : directory->blocks()) {
            for (const layout::Mount& mount : leaving) {
                if (block.block.extent.target != mount.number) continue;
                throw Error(Code::busy,
                            "target '" + mount.name + "' holds blocks of '" + id +
                                "', so it cannot be left out; `pmemcpy stage` brings them elsewhere");
            }
        }
    });
}

void Store::meet_targets() {
    const auto t = tiering();
    if (!t) return;
    for (const std::uint32_t number : t->numbers) {
        if (number >= layout::first_target_below) static_cast<void>(targets_.is_away(number));
    }
}

std::shared_ptr<Tiering> Store::tiering() const {
    const std::uint64_t word = Medium::load(&pool_.state().hierarchy.value);
    if (word == 0) return nullptr;
    const std::lock_guard lock(tiering_mutex_);
    if (tiering_ && tiering_->word == word && word % 2 == 0)
        return tiering_->numbers.size() > 1 ? tiering_ : nullptr;
    Hierarchy hierarchy;
    std::vector<std::uint32_t> numbers = {0};
    if (const auto text = note("/", hierarchy_note)) {
        const Note its = parse_note(*text);
        hierarchy = parse_hierarchy(its.yaml);
        // Targets that are about to leave come first, and nobody chooses them.
        const std::size_t below = std::min(its.mounts.size(), hierarchy.targets.size() - 1);
        for (std::size_t i = its.mounts.size() - below; i < its.mounts.size(); ++i)
            numbers.push_back(its.mounts[i].number);
    }
    tiering_ = std::make_shared<Tiering>(std::move(hierarchy), std::move(numbers), word);
    tiering_->leaving.resize(tiering_->numbers.size());
    heap_.keep_for_records(tiering_->numbers.size() > 1 ? chunks_for_records() : 0);
    tiering_->looked_ns.resize(tiering_->numbers.size());
    tiering_->hints.resize(tiering_->numbers.size());
    half_life_s_ = tiering_->hierarchy.half_life_s;
    if (!read_only() && tiering_->numbers.size() > 1) {
        renew_tally();
        counts_reads_ = true;
    } else {
        counting_ = nullptr;
    }
    if (on_hierarchy_ && tiering_->has_background()) on_hierarchy_();
    return tiering_->numbers.size() > 1 ? tiering_ : nullptr;
}

std::uint64_t Store::chunks_for_records() const {
    constexpr std::uint64_t least = 2;
    constexpr std::uint64_t part = 64;
    return std::max(pool_.super().chunk_count / part, least);
}

std::array<tier::Level, tier::most_targets> Store::ledger_of(Tiering& t) const {
    std::array<tier::Level, tier::most_targets> ledger;
    const std::uint64_t chunk_bytes = pool_.super().chunk_bytes;
    for (std::size_t i = 0; i < t.numbers.size(); ++i) {
        const Target& target = t.hierarchy.targets[i];
        tier::Level& level = ledger[i];
        level.bytes_per_second = target.write.bytes_per_second;
        level.latency_s = target.write.latency_s;
        std::uint64_t used = 0;
        if (i == 0) {
            const std::uint64_t all = pool_.super().chunk_count * chunk_bytes;
            const std::uint64_t most =
                target.capacity_bytes == 0 ? all : std::min(all, target.capacity_bytes);
            level.capacity = most - std::min(most, chunks_for_records() * chunk_bytes);
            const std::lock_guard lock(t.mutex);
            const std::uint64_t now = os::monotonic_ns();
            if (t.counted_at_ns == 0 || now - t.counted_at_ns > recount_ns) {
                t.counted_at_ns = now;
                used = heap_.count_taken_chunks() * chunk_bytes + pool_.reserved_by_others(0);
                t.pool_free = level.capacity - std::min(level.capacity, used);
            }
            level.remaining = std::min(t.pool_free, level.capacity);
        } else if (!targets_.trouble_of(t.numbers[i]).empty()) {
            continue;  // set aside: without capacity
        } else {
            level.capacity = target.capacity_bytes == 0 ? UINT64_MAX / 4 : target.capacity_bytes;
            used = targets_.used_bytes(t.numbers[i]) + pool_.reserved_by_others(t.numbers[i]);
            level.remaining = level.capacity - std::min(level.capacity, used);
        }
        level.movable = level.capacity - level.remaining;
        if (i > 0) share_out(t.numbers[i], level);
    }
    return ledger;
}

tier::Level Store::count_anew(Tiering& t, std::size_t level) const {
    {
        const std::lock_guard lock(t.mutex);
        t.counted_at_ns = 0;
    }
    return ledger_of(t)[level];
}

bool Store::set_aside(std::uint32_t target, const Error& error, std::uint64_t bytes) {
    if (target < layout::first_target_below || !targets_.trouble_of(target).empty()) return false;
    const auto t = tiering();
    const bool is_full = error.kind() == Code::no_space;
    if (dynamic_cast<const layout::PartIsFull*>(&error) != nullptr) return false;
    if (!t || (!is_full && error.kind() != Code::io_error && error.kind() != Code::permission_denied))
        return false;
    const auto level = t->level_of(target);
    if (!level) return false;
    // Full by what it may have, because others were faster: that is no trouble, and the ledger says so.
    if (is_full && ledger_of(*t)[*level].remaining < bytes) return false;
    targets_.set_aside(target, is_full ? layout::Trouble::full : layout::Trouble::failed);
    return true;
}

void Store::note_speed(const Tiering& t, std::uint32_t target, std::uint64_t bytes, std::uint64_t took_ns) {
    constexpr double far_too_slow = 100;
    constexpr double least_s = 1;  // below it anything may have kept the processor
    const auto level = t.level_of(target);
    if (target < layout::first_target_below || !level) return;
    const Speed& speed = t.hierarchy.targets[*level].write;
    const double expected_s = speed.latency_s + static_cast<double>(bytes) / speed.bytes_per_second;
    if (static_cast<double>(took_ns) * 1e-9 > std::max(least_s, far_too_slow * expected_s))
        targets_.set_aside(target, layout::Trouble::slow);
}

std::uint32_t Store::target_for(std::string_view id, const Selection& box, std::uint64_t bytes) {
    const auto t = tiering();
    if (!t || bytes == 0) return heap_.home();
    tell_of_store();
    const Rule* rule = t->rules.find(id, array::bounding_box(box), options_.rank);
    auto ledger = ledger_of(*t);
    if (give_way(*t, ledger)) ledger = ledger_of(*t);
    const auto lacks_room = [&](std::size_t level) {
        const bool lacks = ledger[level].remaining < bytes;
        if (lacks) targets_.want(t->numbers[level], bytes);
        return lacks;
    };
    const auto tally = this->tally();
    const auto make_room_now = [&](std::size_t level) {
        const std::uint64_t began = os::monotonic_ns();
        make_room(*t, level, bytes, true);
        if (!tally) return;
        tally->add(heat::Count::waits);
        tally->add(heat::Count::wait_ns, os::monotonic_ns() - began);
    };
    const auto take = [&](std::size_t level) {
        if (tally) tally->add(t->numbers[level], heat::Flow::stored_bytes, bytes);
        if (level == 0) {
            const std::lock_guard lock(t->mutex);
            t->pool_free -= std::min(t->pool_free, bytes);
        }
        return t->numbers[level];
    };
    if (rule != nullptr && !rule->pin.empty()) {
        const std::size_t level = tier::level_of(t->hierarchy, rule->pin);
        if (lacks_room(level)) make_room_now(level);
        return take(level);
    }
    if (rule != nullptr) {
        for (const std::string& name : rule->prefer) {
            const std::size_t level = tier::level_of(t->hierarchy, name);
            if (!lacks_room(level)) return take(level);
        }
    }
    if ((rule != nullptr ? rule->mode.value_or(t->hierarchy.mode) : t->hierarchy.mode) == Buffering::bypass)
        return t->numbers[t->flush_level];
    tier::Request request{.bytes = bytes, .is_divisible = false};
    if (t->hierarchy.policy == Policy::max_locality) {
        if (const auto named = defined(id)) {
            const auto directory = directory_of(named->definition);
            const std::lock_guard one_thread(directory->mutex());
            directory->refresh();
            for (const auto& [handle, block] : directory->blocks()) {
                if (const auto level = t->level_of(block.block.extent.target)) ledger[*level].has_unit = true;
            }
            request.dispersion = static_cast<std::uint32_t>(
                std::count_if(ledger.begin(), ledger.end(), [](const tier::Level& l) { return l.has_unit; }));
        }
    }
    if (t->hierarchy.policy == Policy::hot_data && tally) {
        const auto named = defined(id);
        request.heat = named ? score_of(*t, directory_of(named->definition)) : 0;
        for (std::size_t i = 0; i < t->numbers.size(); ++i)
            ledger[i].heat = tally->least_score(t->numbers[i]);
    }
    const tier::Plan plan = tier::decide(t->hierarchy.policy, {ledger.data(), t->numbers.size()}, request,
                                         t->hierarchy.granularity_bytes);
    // Those that were passed over.
    const std::size_t last = plan.is_possible() ? plan.list().back().level : t->numbers.size() - 1;
    for (std::size_t level = 1; level <= last; ++level) lacks_room(level);
    if (!plan.is_possible()) return heap_.home();  // who allocates there tells why it cannot be
    for (const tier::Plan::Step& step : plan.list()) {
        if (step.what == tier::Plan::What::make_room) {
            make_room_now(step.level);
        } else {
            return take(step.level);
        }
    }
    return heap_.home();
}

}  // namespace pmemcpy::store
