// Length: every walk along a chain, so that all look twice in the same way.
// Looking things up in chains that others change. Insertions happen at the head by CAS; removals under the
// name lock; a removed entry leads onwards until it is freed, and after that its tag or state tells.

#include "base/hash.hpp"
#include "catalog/catalog.hpp"
#include "catalog/follow.hpp"
#include "catalog/retry.hpp"
#include "heap/hops.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace pmemcpy::catalog {

using heap::RecordKind;
using heap::UnitState;
using persist::Medium;

Catalog::Catalog(pool::Pool& pool, heap::Heap& heap) : pool_(pool), heap_(heap) {
    heap_.set_extent_of(extent_of);
    heap_.set_used_of(used_bytes_of);
    heap_.set_older_of(older_of);
}

Catalog::Key Catalog::key_of(std::string_view id) const { return {base::xxh3_64(id), 0, id}; }

Catalog::Key Catalog::attribute_key(Link owner, std::string_view name) const {
    return {base::xxh3_64(name), pool_.as<Entry>(owner.offset()).header.incarnation, name};
}

std::uint64_t* Catalog::bucket(std::uint64_t hash) const {
    return &pool_.as<std::uint64_t>(pool_.super().bucket_offset +
                                    8 * (hash & (pool_.super().bucket_count - 1)));
}

std::uint64_t* Catalog::attributes_word(Link owner) const {
    return &pool_.as<Entry>(owner.offset()).attributes.word;
}

std::uint64_t* Catalog::value_word(Link entry) const { return &pool_.as<Entry>(entry.offset()).header.word; }

std::optional<Link> Catalog::find(std::string_view id) const {
    const Key key = key_of(id);
    Seen seen;
    if (!find_in_chain(bucket(key.hash), key, Looking::to_use, seen)) return std::nullopt;
    return seen.identity;
}

std::optional<Catalog::Named> Catalog::find_named(std::string_view id) const {
    const Key key = key_of(id);
    Seen seen;
    if (!find_in_chain(bucket(key.hash), key, Looking::to_use, seen) || !seen.definition.is_live())
        return std::nullopt;
    return Named{seen.identity, seen.definition, seen.node};
}

std::optional<Link> Catalog::find_attribute(Link owner, std::string_view name) const {
    Seen seen;
    if (!find_in_chain(attributes_word(owner), attribute_key(owner, name), Looking::to_use, seen, owner))
        return std::nullopt;
    return seen.identity;
}

std::optional<Link> Catalog::definition(Link entry) const {
    const auto word = current_word(entry);
    return word && word->is_live() ? word : std::nullopt;
}

std::optional<Link> Catalog::current_word(Link entry) const {
    const auto* there = follow<Entry>(pool_, entry);
    if (there == nullptr) return std::nullopt;
    const Link word{Medium::load(&there->header.word)};
    return heap::is_still_current_unguarded(pool_, entry) ? std::optional(word) : std::nullopt;
}

// `owner`: of attributes, whose they are. When it is gone, so is the chain.
bool Catalog::find_in_chain(const std::uint64_t* head, const Key& key, Looking looking, Seen& seen,
                            Link owner) const {
    for (Retry retry(key.bytes);; retry.again()) {
        if (owner_is_gone(owner)) return false;
        const std::uint64_t before = pool_.recovery_count();
        bool found = false;
        bool calm = false;
        pool_.guarded([&] { calm = try_find_in_chain(head, key, looking, seen, found); });
        if (calm && before % 2 == 0 && pool_.recovery_count() == before) return found;
        // In a rebuild that this process itself does, nobody else is there and the count stays odd.
        if (calm && before % 2 == 1 && !pool_.read_only()) return found;
        if (before % 2 == 1 && pool_.read_only()) throw_being_recovered(pool_);
        if (calm) continue;
        retry.doubt(pool_, seen.node);
        if (!seen.pending || !is_under_way(seen.identity, seen.node)) continue;
        // Whoever was renaming has died or is held up, and what it was to name is gone: so it names nothing.
        return looking == Looking::to_create;
    }
}

namespace {

// Without a copy on the free store, because the walk is left by a long jump where memory is gone (law 12).
bool equals(const pool::Pool& pool, std::uint64_t offset, std::string_view wanted) {
    std::array<char, 64> piece{};
    for (std::size_t at = 0; at < wanted.size(); at += piece.size()) {
        const std::size_t bytes = std::min(piece.size(), wanted.size() - at);
        heap::racy_copy(piece.data(), pool.at(offset + at), bytes);
        if (std::memcmp(piece.data(), wanted.data() + at, bytes) != 0) return false;
    }
    return true;
}

/// Whoever finds a name reads what it names next: most of it is on its way while the name is still compared.
void prefetch(const pool::Pool& pool, Link record) {
    constexpr std::uint64_t bytes = 448;
    if (!record.is_record() || !pool.contains(record.offset(), bytes)) return;
    const std::byte* const there = pool.at(record.offset());
    for (std::uint64_t at = 0; at < bytes; at += 64) __builtin_prefetch(there + at);
}

}  // namespace

// False when something moved under the walk, so that it proves nothing, or when an entry makes no sense: `seen` says at which.
// Owns nothing, see equals().
bool Catalog::try_find_in_chain(const std::uint64_t* head, const Key& key, Looking looking, Seen& seen,
                                bool& found) const {
    const auto ends_at = [&](Link link) {
        seen = {.node = link};
        return false;
    };
    heap::Hops hops;
    for (Link link{Medium::load(head)}; link.is_record();) {
        if (!hops.take(link) || !pool_.contains(link.offset(), sizeof(Entry))) return ends_at(link);
        const auto& there = pool_.as<Entry>(link.offset());
        Entry entry;
        heap::racy_copy(&entry, &there, sizeof entry);
        if (entry.header.magic != heap::record_magic ||
            static_cast<RecordKind>(entry.header.kind) != RecordKind::entry)
            return ends_at(link);
        if ((entry.header.version & Link::tag_mask) != link.tag()) return ends_at(link);
        const Link next{Medium::load(&there.header.next.word)};
        // Retiring changes the state before it reuses `next`: a stale `next` is never followed.
        if (UnitState{Medium::load(&there.header.state)}.kind() != UnitState::owned) return ends_at(link);
        if (entry.hash == key.hash && entry.parent == key.parent && entry.key_bytes == key.bytes.size() &&
            pool_.contains(link.offset(), sizeof entry + key.bytes.size())) {
            prefetch(pool_, Link{entry.header.word});
            const bool is_it = equals(pool_, link.offset() + sizeof entry, key.bytes);
            // What it leads to was stored before it was published: so it takes more than the copy's plain read.
            const Link word{Medium::load(&there.header.word)};
            if (!heap::is_still_current_unguarded(pool_, link)) return ends_at(link);
            if (is_it) {
                // What is found is used as an entry next, which a record that says it is shorter, or longer, never can be.
                if (entry.header.length < sizeof entry + key.bytes.size() ||
                    !heap::has_sane_length(entry.header, pool_.room_in_chunk(link.offset())))
                    return ends_at(link);
                seen = {link, link, word, false};
                if (entry.alias != 0) {
                    seen.identity = word;
                    const auto* identity = follow_unguarded<Entry>(pool_, word);
                    if (identity == nullptr) {
                        seen.pending = true;
                        return false;
                    }
                    const bool named = Medium::load(&identity->moved.word) == link.word;
                    seen.pending = !named;
                    seen.definition = {Medium::load(&identity->header.word)};
                    if (!heap::is_still_current_unguarded(pool_, word)) return ends_at(link);
                    const bool dead = seen.definition.is_dead();
                    found = named ? !dead : looking == Looking::to_create && !dead;
                } else {
                    found = !word.is_dead() && !entry.moved.is_record();
                }
                if (found) return true;
            }
        }
        // An entry that was freed and is another by now is owned too, and leads along another chain.
        if (!heap::is_still_current_unguarded(pool_, link)) return ends_at(link);
        link = next;
    }
    return true;
}

// `broken`: told when the chain is damaged, and what lies before the damage is given; without it that is an error.
void Catalog::walk(const std::uint64_t* head,
                   const std::function<void(Link, const Entry&, const std::string&)>& f, Link owner,
                   const std::function<void()>& broken) const {
    bool waits = true;  // for whoever may be changing what looks damaged
    for (Retry retry(pool_.path());;) {
        if (owner_is_gone(owner)) return;
        std::vector<std::tuple<Link, Entry, std::string>> seen;
        pool_.check_memory(head, sizeof *head);
        bool calm = true;
        bool is_whole = true;
        Link last{};
        heap::Hops hops;
        for (Link link{Medium::load(head)}; calm && link.is_record();) {
            last = link;
            heap::RecordCopy copy;
            bool leads_on = hops.take(link);
            bool is_read = false;
            try {
                is_read = leads_on && heap::read_record(pool_, link, RecordKind::entry, copy) &&
                          copy.size() >= sizeof(Entry);
            } catch (const Error&) {  // nothing behind it can be seen
                if (!broken) throw;
                waits = false;
                leads_on = false;
            }
            if (!is_read) {
                // Where no waiting helps, what an entry leads to may be found beyond it all the same.
                is_whole = false;
                calm = leads_on && !waits && heap::is_current(pool_, link);
                if (calm) link = {Medium::load(&pool_.as<Entry>(link.offset()).header.next.word)};
                continue;
            }
            Entry entry;
            std::memcpy(&entry, copy.data(), sizeof entry);
            const auto& there = pool_.as<Entry>(link.offset());
            const Link next{Medium::load(&there.header.next.word)};
            calm = UnitState{Medium::load(&there.header.state)}.kind() == UnitState::owned &&
                   heap::is_still_current(pool_, link) && entry.key_bytes <= copy.size() - sizeof entry;
            if (!calm) break;
            seen.emplace_back(
                link, entry,
                std::string(reinterpret_cast<const char*>(copy.data()) + sizeof entry, entry.key_bytes));
            link = next;
        }
        if (!calm && waits) {
            retry.doubt(pool_, last);
            broken ? static_cast<void>(waits = retry.once_more()) : retry.again();
            continue;
        }
        for (const auto& [link, entry, key] : seen) f(link, entry, key);
        if (!calm || !is_whole) broken();
        return;
    }
}

void Catalog::for_each(const std::function<void(const std::string&, Link)>& f, const Trouble& trouble) const {
    const WholeLook look(pool_);
    const auto tell = [&](const std::string& id, const char* what) {
        if (trouble) trouble(id, what);
    };
    std::function<void()> broken;
    if (trouble) broken = [&] { tell({}, "a chain of names is broken, so ids in it cannot be found"); };
    const auto tell_entry = [&](Link link, const Entry& entry, const std::string& key) {
        const Link identity = entry.alias != 0 ? Link{entry.header.word} : link;
        const auto tell_damage = [&](const std::function<Wrong()>& wrong, const char* what) {
            if (trouble && wrong() && is_damage(bucket(entry.hash), link, identity, wrong)) tell(key, what);
        };
        if (entry.alias != 0) {
            const auto lost = [&] {
                return follow<Entry>(pool_, identity) == nullptr ? Wrong(identity.word) : std::nullopt;
            };
            tell_damage(lost, "the record that it names is lost");
            const auto* renamed = follow<Entry>(pool_, identity);
            if (renamed == nullptr) return;
            const auto other_name = [&] {
                const std::uint64_t word = Medium::load(&renamed->moved.word);
                return word != link.word ? Wrong(word) : std::nullopt;
            };
            tell_damage(other_name, "the record that it names has another name");
            if (other_name()) return;
        } else if (entry.moved.is_record()) {
            const auto lost_name = [&] {
                const auto* renamed = follow<Entry>(pool_, link);
                const Link name{renamed != nullptr ? Medium::load(&renamed->moved.word) : 0};
                return renamed != nullptr && !heap::is_current(pool_, name) ? Wrong(name.word) : std::nullopt;
            };
            return tell_damage(lost_name, "its new name is lost");
        }
        if (definition(identity)) return f(key, identity);
        const auto erased = [&] {
            const Link word{Medium::load(value_word(identity))};
            return word.is_record() && word.is_dead() ? Wrong(word.word) : std::nullopt;
        };
        tell_damage(erased, "it is half erased");
    };
    // A large pool has millions of buckets, and where few are in use most of their pages are holes in the file: a look at each
    // would take longer than all the names do, and give the holes memory.
    constexpr std::uint64_t in_page = pool::page_bytes / sizeof(std::uint64_t);
    const std::uint64_t begin = pool_.super().bucket_offset;
    const std::uint64_t buckets = pool_.super().bucket_count;
    for (std::uint64_t page = 0; page < buckets; page += in_page) {
        const std::uint64_t data = (pool_.file().next_data(begin + page * 8) - begin) / 8;
        page = data - data % in_page;
        if (page >= buckets) break;
        std::array<std::uint64_t, in_page> used;
        std::size_t count = 0;
        try {
            pool_.guarded([&] {
                const std::uint64_t* const begin_of_page = bucket(page);
                const std::uint64_t* const end = begin_of_page + std::min(in_page, buckets - page);
                for (const std::uint64_t* word = begin_of_page; word != end; ++word) {
                    if (Medium::load(word) == 0) continue;
                    used[count++] = page + static_cast<std::uint64_t>(word - begin_of_page);
                    prefetch(pool_, Link{Medium::load(word)});
                }
                // A walk alone would wait for each entry, and then for what it names.
                for (std::size_t i = 0; i < count; ++i) {
                    const Link first{Medium::load(bucket(used[i]))};
                    if (first.is_record() && pool_.contains(first.offset(), sizeof(Entry)))
                        prefetch(pool_, Link{Medium::load(value_word(first))});
                }
            });
        } catch (const Error& error) {
            if (!trouble) throw;
            trouble({}, error.what());
            continue;
        }
        for (std::size_t i = 0; i < count; ++i) walk(bucket(used[i]), tell_entry, {}, broken);
    }
    look.check();
}

void Catalog::for_each_attribute(Link owner, const std::function<void(const std::string&, Link)>& f,
                                 const std::function<void()>& broken) const {
    const WholeLook look(pool_);
    const std::uint64_t incarnation = pool_.as<Entry>(owner.offset()).header.incarnation;
    walk(
        attributes_word(owner),
        [&](Link link, const Entry& entry, const std::string& key) {
            if (entry.parent == incarnation && definition(link)) f(key, link);
        },
        owner, broken);
    look.check();
}

// Each attribute that is set is counted first, and each look at a variable counts them: so nothing is copied or summed for it.
std::uint64_t Catalog::count_attributes(Link owner) const {
    const std::uint64_t incarnation = pool_.as<Entry>(owner.offset()).header.incarnation;
    for (Retry retry(pool_.path());; retry.again()) {
        if (owner_is_gone(owner)) return 0;
        std::uint64_t count = 0;
        bool calm = false;
        Link link{};
        pool_.guarded([&] { calm = try_count_attributes(attributes_word(owner), incarnation, count, link); });
        if (calm) return count;
        retry.doubt(pool_, link);
    }
}

// As try_find_in_chain(). `link`: the entry at which it ends.
bool Catalog::try_count_attributes(const std::uint64_t* head, std::uint64_t incarnation, std::uint64_t& count,
                                   Link& link) const {
    heap::Hops hops;
    for (link = {Medium::load(head)}; link.is_record();) {
        const auto* there = hops.take(link) ? follow_unguarded<Entry>(pool_, link) : nullptr;
        if (there == nullptr) return false;
        const Link next{Medium::load(&there->header.next.word)};
        const Link word{Medium::load(&there->header.word)};
        const bool is_its = Medium::load(&there->parent) == incarnation && word.is_live();
        if (UnitState{Medium::load(&there->header.state)}.kind() != UnitState::owned ||
            !heap::is_still_current_unguarded(pool_, link))
            return false;
        if (is_its) ++count;
        link = next;
    }
    return true;
}

std::optional<std::string> Catalog::name_of(Link identity) const {
    heap::RecordCopy copy;
    if (!identity.is_record() || !definition(identity)) return std::nullopt;
    const auto* there = follow<Entry>(pool_, identity);
    if (there == nullptr) return std::nullopt;
    const Link moved{Medium::load(&there->moved.word)};
    if (!heap::read_record(pool_, moved.is_record() ? moved : identity, RecordKind::entry, copy) ||
        copy.size() < sizeof(Entry))
        return std::nullopt;
    Entry entry;
    std::memcpy(&entry, copy.data(), sizeof entry);
    if (entry.key_bytes > copy.size() - sizeof entry || entry.parent != 0) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(copy.data()) + sizeof entry, entry.key_bytes);
}

std::uint64_t Catalog::entry_of(Link definition) const {
    return pool_.as<heap::RecordHeader>(definition.offset()).home - offsetof(Entry, header.word);
}

std::optional<Link> Catalog::entry_at_home(const RecordHeader& definition) const {
    const std::uint64_t offset = definition.home - offsetof(Entry, header.word);
    if (offset % heap::record_alignment != 0 || !pool_.contains(offset, sizeof(Entry))) return std::nullopt;
    RecordHeader entry;
    pool_.guarded([&] { heap::racy_copy(&entry, pool_.at(offset), sizeof entry); });
    const bool is_its = entry.magic == heap::record_magic && entry.incarnation == definition.incarnation &&
                        static_cast<RecordKind>(entry.kind) == RecordKind::entry;
    return is_its ? std::optional(Link::to(offset, entry.version)) : std::nullopt;
}

bool Catalog::is_in_chain(const std::uint64_t* head, Link node) const {
    bool found = false;
    walk(head, [&](Link link, const Entry&, const std::string&) { found = found || link == node; });
    return found;
}

std::optional<Catalog::Nature> Catalog::nature_of(const pool::Pool& pool, Link definition) {
    Nature nature{};
    bool is_there = false;
    pool.guarded([&] {
        // Copied before they are looked at: another may erase the variable now and write something else there.
        if (const auto* value = follow_unguarded<Value>(pool, definition)) {
            Value copy;
            heap::racy_copy(&copy, value, sizeof copy);
            nature = {false, static_cast<ValueKind>(copy.kind) == ValueKind::group, copy.step};
        } else if (const auto* array = follow_unguarded<Array>(pool, definition)) {
            Array copy;
            heap::racy_copy(&copy, array, sizeof copy);
            nature = {true, false, copy.step};
        } else {
            return;
        }
        is_there = heap::is_still_current_unguarded(pool, definition);
    });
    return is_there ? std::optional(nature) : std::nullopt;
}

bool Catalog::is_group(const pool::Pool& pool, Link definition) {
    const auto nature = nature_of(pool, definition);
    return nature && nature->is_group;
}

}  // namespace pmemcpy::catalog
