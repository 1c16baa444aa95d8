// What an image that was recovered must hold.

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <set>
#include <string_view>

#include "explorer.hpp"
#include "pool/geometry.hpp"
#include "recovery_sink.hpp"
#include "tests/inside.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::uint64_t second_every = 16;  // images between two whose recovery is repeated

/// How many of a granule's stores have come to the medium.
using Arriving = std::function<std::size_t(std::uint32_t number, const Media::Granule&)>;

/// When, from event `begin` on, the page cache holds the most pages that no sync has made durable: right before a sync.
std::size_t fullest_moment(const Recording& recording, std::size_t begin) {
    std::set<std::uint32_t> dirty;
    std::size_t most = 0, fullest = recording.events.size();
    for (std::size_t i = 0; i < recording.events.size(); ++i) {
        const Event& event = recording.events[i];
        if (event.kind == Event::Kind::sync) {
            if (i > begin && dirty.size() > most) {
                most = dirty.size();
                fullest = i - 1;
            }
            dirty.clear();
        } else if (event.kind == Event::Kind::store || event.kind == Event::Kind::bulk) {
            for (std::uint32_t page = event.offset / 4096; page <= (event.offset + event.size - 1) / 4096;
                 ++page)
                dirty.insert(page);
        }
    }
    return fullest;
}

}  // namespace

Content Explorer::observe_now(const PMEM& pmem) const {
    return observe(pmem, plan_.model == Model::page ? Grain::element : Grain::array);
}

// Behind the page cache each store stands for itself: since the last sync it is there or not, whatever came later. So a
// variable, or an element of an array, has a content of any moment since then, which it may have had by another name.
std::string Explorer::judge_alone(const Content& found) const {
    const auto any = [&](const auto& condition) {
        for (std::size_t i = allowed_.first; i <= allowed_.last; ++i) {
            if (condition(run_.contents[i]) || condition(run_.otherwise[i])) return true;
        }
        // What a dead process had not come to publish may be elected where a later word is lost.
        return run_.unfinished && allowed_.first <= run_.first_operation && condition(*run_.unfinished);
    };
    for (const auto& [key, hash] : run_.contents[allowed_.first]) {
        if (found.contains(key)) continue;
        const bool was_absent = any([&, &name = key](const Content& c) { return !c.contains(name); });
        if (!was_absent) return "'" + key + "' is lost";
    }
    for (const auto& [key, hash] : found) {
        const bool was_there = any([&, &name = key](const Content& c) { return c.contains(name); });
        const bool had_content = any([&, value = hash](const Content& c) {
            return std::any_of(c.begin(), c.end(), [&](const auto& entry) { return entry.second == value; });
        });
        if ((!was_there || !had_content) && !was_there_by_another_name(key, hash))
            return "'" + key + "' has a content it never had";
    }
    return {};
}

// What was set of a variable right before or after it was renamed may be there while the other name is: the rename is a
// unit of its own, which has come or not. The variable is told by its content, which stays in a rename.
bool Explorer::was_there_by_another_name(const std::string& key, std::uint64_t hash) const {
    const std::size_t end = key.find_first_of("@[");
    if (end == std::string::npos) return false;
    const std::string name = key.substr(0, end);
    const std::string part = key.substr(end);
    const auto gave_way = [](const Content& before, const Content& after, const std::string& from,
                             const std::string& to) {
        const auto old = before.find(from);
        const auto renamed = after.find(to);
        return old != before.end() && renamed != after.end() && old->second == renamed->second &&
               !after.contains(from) && !before.contains(to);
    };
    std::set<std::string> others;
    for (std::size_t i = allowed_.first; i < allowed_.last; ++i) {
        const Content& before = run_.contents[i];
        const Content& after = run_.contents[i + 1];
        for (const Content* either : {&before, &after}) {
            for (const auto& [other, ignored] : *either) {
                if (gave_way(before, after, other, name) || gave_way(before, after, name, other))
                    others.insert(other);
            }
        }
    }
    for (std::size_t i = allowed_.first; i <= allowed_.last; ++i) {
        for (const std::string& other : others) {
            const auto there = run_.contents[i].find(other + part);
            if (there != run_.contents[i].end() && there->second == hash) return true;
        }
    }
    return false;
}

std::string Explorer::judge(const Content& found) const {
    if (plan_.model == Model::page) return judge_alone(found);
    const Content& before = run_.contents[allowed_.first];
    const Content& after = run_.contents[allowed_.last];
    if (found == before || found == after) return {};
    // What a process did that died in it may be there or not, as long as nobody has made it durable.
    const Content& otherwise_before = run_.otherwise[allowed_.first];
    const Content& otherwise_after = run_.otherwise[allowed_.last];
    // A group that comes or goes in what is allowed may be there without the rest of it.
    const auto settled = [&](const Content& all) {
        Content rest;
        for (const auto& [key, hash] : all) {
            const bool is_there = before.contains(key);
            const bool is_settled = after.contains(key) == is_there &&
                                    otherwise_before.contains(key) == is_there &&
                                    otherwise_after.contains(key) == is_there;
            if (is_settled || !is_group(key)) rest.emplace(key, hash);
        }
        return rest;
    };
    const Content now = settled(found);
    const std::string old_one = difference(now, settled(before));
    const std::string new_one = difference(now, settled(after));
    if (old_one.empty() || new_one.empty() || difference(now, settled(otherwise_before)).empty() ||
        difference(now, settled(otherwise_after)).empty())
        return {};
    if (allowed_.first == allowed_.last) return new_one;
    return "neither before (" + old_one + ") nor after (" + new_one + ")";
}

void Explorer::recover_and_check() {
    const bool second = counts_.distinct % second_every == 1;
    const bool empties = counts_.distinct % plan_.audit_every == 2 % plan_.audit_every;
    const bool nested = plan_.nested_images > 0 && counts_.distinct % plan_.nested_every == 3;
    const bool clean = is_clean(image_.live());
    const bool was_closed = allowed_.first == allowed_.last && run_.is_clean[allowed_.last];
    if (was_closed && !clean) return fail("the pool was closed cleanly, and the next to open it cannot tell");
    try {
        if (nested) return check_cut_short();
        RecoverySink sink(kernel_, image_);
        if (clean) check_links();
        PMEM pmem;
        pmem.mmap(SimulatedKernel::path);
        ++counts_.recoveries;
        const Content found = observe_now(pmem);
        if (const std::string wrong = judge(found); !wrong.empty()) return fail(wrong);
        if (pmem.info().wipes) check_wiped();
        for (const auto& [what, hash] : observe_old_steps(pmem)) {
            const auto known = run_.old_steps.find(what);
            if (known != run_.old_steps.end() && known->second != hash)
                return fail(what + " is not what it was");
        }
        if (const std::vector<Damage> damages = pmem.verify(); !damages.empty()) {
            return fail("verify: '" + damages[0].id + "' " + damages[0].what);
        }
        if (second) {
            const std::vector<std::byte> killed(image_.live().begin(), image_.live().end());
            pmem.munmap();
            check_second(found);  // closed cleanly: by the links
            image_.put(0, killed);
            check_second(found);  // lost right after recovery: by scanning
        } else if (empties || clean) {
            go_on(pmem, found);
            audit(pmem);
        }
        if (!sink.violation().empty()) fail(sink.violation());
    } catch (const Error& error) {
        const bool may_be_none = run_.formats[allowed_.last] && allowed_.first != allowed_.last;
        const bool is_none =
            std::string_view(error.what()).find("is no pMEMCPY pool") != std::string_view::npos;
        if (!may_be_none || !is_none) fail(error.what());
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

// A pool that says it is clean is opened without looking at its records; so what is derived from them must be right. Nor may one lead to
// what it has replaced: once that place is another's, only the bits of a tag would tell.
void Explorer::check_links() {
    Inside inside(SimulatedKernel::path, MapSync::automatic);
    const catalog::Audit audit = inside.audit();
    if (!audit.complaints.empty()) fail("the links of a clean pool: " + audit.complaints.front());
    for (std::uint64_t i = 0; i < inside.pool().usable_chunks(); ++i) {
        const heap::ChunkWord word{inside.heap().chunk(i).word};
        if (heap::is_slab(word.kind()) && word.owner() != 0)
            return fail("slab " + std::to_string(i) +
                        " of a clean pool belongs to a process, and nobody adopts it");
    }
    inside.heap().for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
        if (!heap::is_whole(inside.pool(), offset, room)) return;
        const auto& record = inside.pool().as<heap::RecordHeader>(offset);
        const auto kind = static_cast<heap::RecordKind>(record.kind);
        if (kind != heap::RecordKind::value && kind != heap::RecordKind::block) return;
        if (kind == heap::RecordKind::block &&
            (reinterpret_cast<const catalog::Block&>(record).flags & catalog::block_in_place) != 0)
            return;  // there it is a checksum
        const heap::Link replaced{record.word};
        if (replaced.is_record() && replaced.is_dead())
            fail("the record at " + std::to_string(offset) +
                 " of a clean pool leads to what it has replaced");
    });
}

// Of what was erased there is nothing left; also where the links are trusted, because the pool was closed cleanly.
void Explorer::check_wiped() {
    Inside inside(SimulatedKernel::path, MapSync::automatic);
    if (const auto place = inside.heap().find_unwiped())
        fail("free space at " + std::to_string(*place) + " of a pool that wipes is not zeros");
}

void Explorer::check_second(const Content& found) {
    PMEM pmem;
    pmem.mmap(SimulatedKernel::path);
    ++counts_.recoveries;
    const std::string wrong = difference(observe_now(pmem), found);
    if (!wrong.empty()) fail("after a second recovery " + wrong);
}

// Somebody goes on working: what he stores takes space that is free.
void Explorer::store_later(PMEM& pmem) {
    try {
        pmem.alloc<double>("later/array", Dimensions{16});  // of whose blocks a slab holds many
        pmem.store<double>("later/array", std::vector<double>(16, 1.5).data(), Box{{0}, {16}});
        for (int i = 0; i < 3; ++i) {
            pmem.store("later/" + std::to_string(i), i);
            pmem.store("later/text" + std::to_string(i), std::string(700, 'l'));
            pmem.store("later/long" + std::to_string(i), std::string(14'000, 'L'));
        }
    } catch (const Error& error) {
        if (error.kind() != Code::no_space) throw;
    }
}

Content Explorer::observe_without_later(const PMEM& pmem) const {
    Content now = observe_now(pmem);
    std::erase_if(now, [](const auto& entry) { return entry.first.starts_with("later/"); });
    return now;
}

// Nothing that was there changes when something else is stored.
void Explorer::go_on(PMEM& pmem, const Content& found) {
    store_later(pmem);
    if (const std::string wrong = difference(observe_without_later(pmem), found); !wrong.empty())
        fail("after something else was stored " + wrong);
    if (const std::vector<Damage> damages = pmem.verify(); !damages.empty())
        fail("after something else was stored, verify: '" + damages[0].id + "' " + damages[0].what);
}

// Whatever is in the pool is erased: then nothing may be taken any more.
void Explorer::audit(PMEM& pmem) {
    ++counts_.audits;
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    std::vector<std::string> groups = pmem.groups();
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (const std::string& id : groups) pmem.erase(id);
    for (const std::string& name : pmem.attributes("/")) pmem.remove_attribute("/", name);
    pmem.sync();
    pmem.trim();
    const PoolInfo info = pmem.info();
    constexpr std::uint64_t root_bytes = 128 + 192;  // the entry and the value of the group "/", which stays
    const std::uint64_t root = info.metadata_bytes == root_bytes ? root_bytes : 0;
    if (info.metadata_bytes != root || info.data_bytes != 0 || info.retired_records != 0) {
        fail("space is lost: after erasing all, " + std::to_string(info.metadata_bytes) +
             " bytes of records, " + std::to_string(info.data_bytes) + " of data and " +
             std::to_string(info.retired_records) + " retired records are left");
    }
    const std::span<const std::byte> pool = image_.live();
    const auto& super = *reinterpret_cast<const pool::Superblock*>(pool.data() + pool::superblock_offset);
    const auto& state = *reinterpret_cast<const pool::PoolState*>(pool.data() + pool::state_offset);
    const auto* table = reinterpret_cast<const heap::ChunkEntry*>(pool.data() + super.table_offset);
    for (std::uint64_t i = 0; i < state.usable_chunks.value; ++i) {
        const heap::ChunkKind kind = heap::ChunkWord{table[i].word}.kind();
        if (kind == heap::ChunkKind::free || kind == heap::ChunkKind::hole) continue;
        if (kind == heap::ChunkKind::meta_slab) continue;
        return fail("space is lost: after erasing all and trim, chunk " + std::to_string(i) + " is of kind " +
                    std::to_string(static_cast<int>(kind)));
    }
}

// The recovery of this image is itself killed at random moments, with what had arrived until then; and so is the session
// after it, in which something is stored; and after the pool was closed cleanly, so that its links are trusted from then on.
// Behind the page cache each page alone is old or new as well, where most pages wait for a sync: what a recovery left behind
// shows only beside new pages of the session after it.
void Explorer::check_cut_short() {
    const std::vector<std::byte> crashed(image_.live().begin(), image_.live().end());
    Recording recording;
    Content found;
    std::size_t recovered = 0;
    {
        RecoverySink sink(kernel_, image_, &recording, plan_.left_out);
        PMEM pmem;
        pmem.mmap(SimulatedKernel::path);
        recovered = recording.events.size();
        found = observe_now(pmem);
        store_later(pmem);
        pmem.munmap();
    }
    if (const std::string wrong = judge(found); !wrong.empty()) fail(wrong);
    Image image(image_.live(), crashed);
    Media media(plan_.model, image, recording, media_.allocation_after(changes_));
    std::string when;
    const auto lose_power = [&](std::size_t changes, const Arriving& arriving) {
        for (const auto& [number, granule] : media.pending()) {
            const std::size_t stores = arriving(number, granule);
            for (std::size_t i = 0; i < stores; ++i)
                image.put(granule.stores[i].offset, media.bytes_of(granule.stores[i]));
        }
        kernel_.set_allocation(media.allocation_after(changes));
        RecoverySink sink(kernel_, image);
        if (is_clean(image.live())) check_links();
        PMEM pmem;
        pmem.mmap(SimulatedKernel::path);
        ++counts_.images;
        ++counts_.distinct;
        ++counts_.recoveries;
        const std::string wrong = difference(observe_without_later(pmem), found);
        if (!wrong.empty()) fail(when + wrong);
        go_on(pmem, found);
        audit(pmem);
        pmem.munmap();
        if (!sink.violation().empty()) fail(when + sink.violation());
        image.restore();
    };
    std::vector<std::size_t> moments = {recording.events.size() - 1, recording.events.size() - 1};
    for (std::uint64_t n = 0; n < plan_.nested_images; ++n)
        moments.push_back(random_() % recording.events.size());
    const std::size_t fullest =
        plan_.model == Model::page ? fullest_moment(recording, recovered) : recording.events.size();
    if (fullest < recording.events.size()) moments.push_back(fullest);
    std::sort(moments.begin(), moments.end());
    std::size_t next = 0;
    try {
        for (const std::size_t moment : moments) {
            for (; next <= moment; ++next) media.apply(recording.events[next]);
            when = std::string(moment < recovered ? "after a recovery" : "after a session") +
                   " that was cut short at event " + std::to_string(moment) + " of " +
                   std::to_string(recording.events.size()) + ", " + describe(recording.events[moment]) + ": ";
            const std::size_t changes = media.pending_changes();
            const std::uint64_t share = random_() % 5;
            lose_power(random_() % (changes + 1), [&](std::uint32_t, const Media::Granule& granule) {
                const std::size_t cut = random_() % 4 < share ? granule.stores.size() : 0;
                const bool in_between = share > 0 && random_() % 4 == 0;
                return in_between ? random_() % (granule.stores.size() + 1) : cut;
            });
            if (moment != fullest) continue;
            for (const auto& [odd, all] : media.pending()) {
                for (const bool others_are_new : {true, false}) {
                    lose_power(changes, [&, &odd = odd](std::uint32_t number, const Media::Granule& granule) {
                        return (number == odd) != others_are_new ? granule.stores.size() : 0;
                    });
                }
            }
        }
    } catch (const std::exception& error) {
        fail(when + error.what());
    }
    std::memcpy(image_.live().data(), image_.certain().data(), image_.certain().size());
}

}  // namespace pmemcpy::crash
