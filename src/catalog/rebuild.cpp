// Recovery: the records alone decide. They are found by scanning the metadata slabs; the word that publishes a
// version is believed when what it names is whole, and else the highest whole version is elected (law 1).
// All that is derived is then written anew. Repeating it changes nothing.

#include "base/crc32c.hpp"
#include "catalog/catalog.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace pmemcpy::catalog {

using heap::mark_empty;
using heap::RecordKind;
using persist::Medium;

namespace {

// Behind the page cache a record may have come to the medium and the chunk table that leads to it not. Such a record is not
// seen now, and may be once its chunk becomes a slab again: nobody may draw its version, or its variable's, a second time.
constexpr std::uint64_t versions_unseen = std::uint64_t{1} << 40;

/// Everything that recovery knows, as offsets of whole records.
class Scan {
public:
    Scan(pool::Pool& pool, heap::Heap& heap) : pool_(pool), heap_(heap) {}

    void collect();
    void elect();
    void rewrite(std::uint64_t bucket_mask);
    const std::vector<Link>& pinned() const { return pinned_; }
    std::uint64_t highest_version() const { return highest_version_; }

private:
    Link link_of(std::uint64_t offset) const { return Link::to(offset, header(offset).version); }
    RecordHeader& header(std::uint64_t offset) const { return pool_.as<RecordHeader>(offset); }
    bool is_whole(Link link, RecordKind kind, std::uint64_t incarnation) const;
    bool is_committed(std::uint64_t step) const { return step <= pool_.committed_step(); }
    bool was_synced(const RecordHeader& record) const {
        return record.version < pool_.state().synced_version.value;
    }
    bool data_holds(const RecordHeader& record) const;
    bool checksum_holds(const RecordHeader& record) const;
    void set(std::uint64_t* word, Link link);
    bool keep(std::uint64_t offset);
    void keep_pinned();
    Link elect_definition(const Entry& entry);
    std::uint64_t elect_name(std::uint64_t identity);
    void keep_array(std::uint64_t offset);
    Link elect_block(std::uint64_t slot_offset, Link found, const Array& array);
    void put_in_chain(std::uint64_t* head, std::uint64_t node);

    pool::Pool& pool_;
    heap::Heap& heap_;
    std::uint64_t highest_version_ = 0;
    std::unordered_map<std::uint64_t, RecordKind> whole_;
    std::vector<std::uint64_t> identities_;
    std::unordered_multimap<std::uint64_t, std::uint64_t> aliases_;      // identity -> alias
    std::unordered_multimap<std::uint64_t, std::uint64_t> definitions_;  // incarnation -> value or array
    std::unordered_multimap<std::uint64_t, std::uint64_t> blocks_;       // home -> block
    struct Named {
        std::uint64_t identity;
        std::uint64_t node;  // whose key is the name: the identity itself or an alias
        Link definition;
        bool kept = false;
    };
    std::vector<Named> named_;
    std::vector<Extent> outside_;
    std::unordered_set<std::uint64_t> kept_;
    std::vector<Link> pinned_;
};

void Scan::collect() {
    heap_.for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
        const RecordHeader& record = header(offset);
        if (record.magic != heap::record_magic) return;
        highest_version_ = std::max(highest_version_, record.version);
        if (!heap::is_whole(pool_, offset, room)) return;
        const auto kind = static_cast<RecordKind>(record.kind);
        switch (kind) {
            case RecordKind::entry:
                if (room < sizeof(Entry) ||
                    record.length != sizeof(Entry) + pool_.as<Entry>(offset).key_bytes)
                    return;
                if (pool_.as<Entry>(offset).alias != 0) {
                    aliases_.emplace(Link{record.word}.offset(), offset);
                } else {
                    identities_.push_back(offset);
                }
                break;
            case RecordKind::value:
                if (record.length < sizeof(Value) || !is_committed(pool_.as<Value>(offset).step)) return;
                if (!data_holds(record)) return;
                definitions_.emplace(record.incarnation, offset);
                break;
            case RecordKind::array:
                if (record.length < sizeof(Array) || !is_committed(pool_.as<Array>(offset).step)) return;
                definitions_.emplace(record.incarnation, offset);
                break;
            case RecordKind::segment:
                if (record.length < sizeof(Segment) + 8ULL * pool_.as<Segment>(offset).slots) return;
                break;
            case RecordKind::block:
                if (record.length < sizeof(Block) || !is_committed(pool_.as<Block>(offset).step)) return;
                if (!data_holds(record)) return;
                blocks_.emplace(record.home, offset);
                break;
            case RecordKind::none:
                return;
        }
        whole_.emplace(offset, kind);
    });
}

// On page media what was written after the last sync may be there in part: its checksum tells (law 10).
bool Scan::data_holds(const RecordHeader& record) const {
    const Extent extent = Catalog::extent_of(record);
    if (extent.length == 0) return true;
    if (!heap_.is_sane(extent)) return false;
    // Bytes that are missing although they were durable are a damage to be told of, not a store that did not happen.
    if (!pool_.probe().needs_sync || was_synced(record)) return true;
    return checksum_holds(record);
}

// Without a checksum only the mark can vouch for the bytes.
bool Scan::checksum_holds(const RecordHeader& record) const {
    const Extent extent = Catalog::extent_of(record);
    if (extent.length == 0) return true;
    const heap::Bytes there = heap_.bytes(extent);
    if (there.data == nullptr) return false;  // a payload file that never reached the medium
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
    if (static_cast<RecordKind>(record.kind) == RecordKind::value) {
        const auto& value = reinterpret_cast<const Value&>(record);
        bytes = value.bytes;
        crc = value.crc;
        if ((value.flags & value_has_crc) == 0) return was_synced(record);
    } else {
        const auto& block = reinterpret_cast<const Block&>(record);
        if ((block.flags & block_in_place) != 0) return true;  // no promise until frozen
        bytes = block.stored_bytes;
        crc = block.crc;
        if ((block.flags & block_has_crc) == 0) return was_synced(record);
    }
    return bytes <= extent.length && base::crc32c(0, there.data, bytes) == crc;
}

bool Scan::is_whole(Link link, RecordKind kind, std::uint64_t incarnation) const {
    if (!link.is_live()) return false;
    const auto found = whole_.find(link.offset());
    return found != whole_.end() && found->second == kind && link_of(link.offset()) == link &&
           header(link.offset()).incarnation == incarnation;
}

// What is there already may be there for this process only: whoever stored it was killed before he flushed it.
void Scan::set(std::uint64_t* word, Link link) {
    if (*word != link.word) pool_.medium().store(word, link.word);
    pool_.medium().flush(word, sizeof *word);
}

Link Scan::elect_definition(const Entry& entry) {
    const Link word{entry.header.word};
    if (!word.is_live()) return {};  // erased, or never given a value
    for (const RecordKind kind : {RecordKind::value, RecordKind::array}) {
        if (is_whole(word, kind, entry.header.incarnation)) return word;
    }
    std::uint64_t best = 0;
    const auto [first, last] = definitions_.equal_range(entry.header.incarnation);
    for (auto i = first; i != last; ++i) {
        if (best == 0 || header(i->second).version > header(best).version) best = i->second;
    }
    return best == 0 ? Link{} : link_of(best);
}

std::uint64_t Scan::elect_name(std::uint64_t identity) {
    const Link moved = pool_.as<Entry>(identity).moved;
    if (!moved.is_record()) return identity;
    if (is_whole(moved, RecordKind::entry, header(identity).incarnation)) return moved.offset();
    std::uint64_t best = identity;  // the rename did not reach the medium: the newest name that did
    const auto [first, last] = aliases_.equal_range(identity);
    for (auto i = first; i != last; ++i) {
        if (header(i->second).word != link_of(identity).word) continue;
        if (best == identity || header(i->second).version > header(best).version) best = i->second;
    }
    return best;
}

void Scan::elect() {
    // Of two entries for one key the younger wins; the older one's erase did not reach the medium.
    std::map<std::pair<std::uint64_t, std::string>, Named> by_key;
    for (const std::uint64_t identity : identities_) {
        const auto& entry = pool_.as<Entry>(identity);
        pool_.medium().flush(&entry, sizeof entry);  // an erase too is believed; as in set()
        const Link definition = elect_definition(entry);
        if (!definition.is_record()) continue;
        const std::uint64_t node = elect_name(identity);
        const auto& name = pool_.as<Entry>(node);
        std::pair key(name.parent, std::string(reinterpret_cast<const char*>(&name + 1), name.key_bytes));
        const auto found = by_key.find(key);
        if (found != by_key.end() && header(found->second.node).version > header(node).version) continue;
        by_key[std::move(key)] = {identity, node, definition, false};
    }
    std::map<std::uint64_t, bool> incarnations;
    for (const auto& [key, named] : by_key) {
        if (key.first == 0) incarnations[header(named.identity).incarnation] = true;
    }
    for (const auto& [key, named] : by_key) {
        if (key.first == 0 || incarnations.contains(key.first)) named_.push_back(named);
    }
}

bool Scan::keep(std::uint64_t offset) {
    if (kept_.contains(offset))
        return false;  // a record belongs to one place, whatever a scribbled pool says
    const RecordHeader& record = header(offset);
    if (!heap_.mark_extent(Catalog::extent_of(record), link_of(offset))) return false;
    if (const Extent extent = Catalog::extent_of(record); extent.target != 0) outside_.push_back(extent);
    kept_.insert(offset);
    return heap_.mark_record(offset, record.length);
}

// A reader without write permission may have viewed, since before everybody else died, what is garbage now. Its
// locks on the records say so (law 6).
void Scan::keep_pinned() {
    for (const auto& [offset, kind] : whole_) {
        if (kept_.contains(offset) || Catalog::extent_of(header(offset)).length == 0) continue;
        if (heap_.pins().is_pinned(link_of(offset)) && keep(offset)) pinned_.push_back(link_of(offset));
    }
}

Link Scan::elect_block(std::uint64_t slot_offset, Link found, const Array& array) {
    const bool in_doubt = pool_.probe().needs_sync;
    // Unpublished on a medium that keeps order: what superseded it is there.
    if (found.is_record() && found.is_dead() && !in_doubt) return {};
    // One that was unpublished may be needed, when what superseded it is lost. But if that was durable, its space
    // may hold other bytes by now, and its checksum tells.
    if (is_whole(found.alive(), RecordKind::block, array.header.incarnation) &&
        (found.is_live() || checksum_holds(header(found.offset())))) {
        return found.alive();
    }
    if (!found.is_record()) return {};
    std::uint64_t best = 0;
    const auto [first, last] = blocks_.equal_range(slot_offset);
    for (auto i = first; i != last; ++i) {
        if (header(i->second).incarnation != array.header.incarnation || !checksum_holds(header(i->second)))
            continue;
        if (best == 0 || header(i->second).version > header(best).version) best = i->second;
    }
    return best == 0 ? Link{} : link_of(best);
}

void Scan::keep_array(std::uint64_t offset) {
    auto& array = pool_.as<Array>(offset);
    if (const std::uint64_t newest = pool_.committed_step();
        pool_.probe().needs_sync && array.kept_since < newest) {
        // Blocks of older steps may be gone from the medium, and the word that says so may not have come there.
        pool_.medium().store(&array.kept_since, newest);
    }
    std::uint64_t* tail = &array.header.word;
    std::uint64_t owner = array.header.version;
    for (Link link{*tail}; is_whole(link, RecordKind::segment, array.header.incarnation); link = {*tail}) {
        if (!keep(link.offset())) break;
        auto& segment = pool_.as<Segment>(link.offset());
        auto* slots = reinterpret_cast<std::uint64_t*>(&segment + 1);
        set(&segment.header.home, {pool_.offset_of(tail)});
        for (std::uint32_t i = 0; i < segment.slots; ++i) {
            const std::uint64_t slot_offset = pool_.offset_of(&slots[i]);
            Link block = elect_block(slot_offset, Link{slots[i]}, array);
            if (block.is_record() && !keep(block.offset())) block = {};
            if (!block.is_record()) block = Link::mark(mark_empty, segment.header.version);
            set(&slots[i], block);
            if (!block.is_record()) continue;
            auto& record = pool_.as<Block>(block.offset());
            set(&record.header.home, {slot_offset});
            if ((record.flags & block_in_place) == 0) set(&record.header.word, {});
        }
        tail = &segment.header.word;
        owner = segment.header.version;
    }
    // Also where it is sealed: behind the page cache the seal may have come through and the erase not.
    set(tail, Link::mark(mark_empty, owner));
}

void Scan::put_in_chain(std::uint64_t* head, std::uint64_t node) {
    set(&header(node).next.word, Link{*head});
    set(head, link_of(node));
    set(&header(node).home, {pool_.offset_of(head)});
}

void Scan::rewrite(std::uint64_t bucket_mask) {
    const Medium& m = pool_.medium();
    heap_.begin_rebuild();
    const std::uint64_t table = pool_.super().bucket_offset;
    m.fill(pool_.at(table), 0, (bucket_mask + 1) * 8);
    m.flush(pool_.at(table), (bucket_mask + 1) * 8);
    std::unordered_map<std::uint64_t, std::uint64_t> owners;  // incarnation -> identity
    for (Named& named : named_) {
        auto& entry = pool_.as<Entry>(named.identity);
        const Link empty = Link::mark(mark_empty, entry.header.version);
        const bool renamed = named.node != named.identity;
        if (!keep(named.definition.offset()) || !keep(named.identity) || (renamed && !keep(named.node)))
            continue;
        set(&entry.header.word, named.definition);
        set(&entry.attributes.word, empty);
        set(&entry.moved.word, renamed ? link_of(named.node) : empty);
        RecordHeader& definition = header(named.definition.offset());
        set(&definition.home, {pool_.offset_of(&entry.header.word)});
        if (static_cast<RecordKind>(definition.kind) == RecordKind::array) {
            keep_array(named.definition.offset());
        } else {
            set(&definition.word, {});
        }
        named.kept = true;
        if (entry.parent == 0) owners.emplace(entry.header.incarnation, named.identity);
    }
    for (const Named& named : named_) {
        if (!named.kept) continue;  // in a copy made while in use, two records may claim the same space
        const auto& name = pool_.as<Entry>(named.node);
        if (name.parent == 0) {
            put_in_chain(&pool_.as<std::uint64_t>(table + 8 * (name.hash & bucket_mask)), named.node);
        } else if (const auto owner = owners.find(name.parent); owner != owners.end()) {
            put_in_chain(&pool_.as<Entry>(owner->second).attributes.word, named.node);
        }
    }
    keep_pinned();
    // What was believed and kept has to be durable before anything else goes: its maker may not have come to that.
    // On page media it has been since the sync that took the clean mark away.
    m.fence();
    heap_.finish_rebuild();
    if (heap_.outside() != nullptr) heap_.outside()->keep_only(outside_);
}

}  // namespace

void Catalog::rebuild() {
    const Medium& m = pool_.medium();
    Scan scan(pool_, heap_);
    scan.collect();
    scan.elect();
    scan.rewrite(pool_.super().bucket_count - 1);
    pool::PoolState& state = pool_.state();
    m.store(&state.next_version.value, std::max(state.next_version.value, scan.highest_version() + 1) +
                                           (pool_.probe().needs_sync ? versions_unseen : 0));
    m.store(&state.begun_step.value, pool_.committed_step());
    m.store(&state.broken_step.value, 0);
    m.fence();
    // What was dropped, such as an abandoned step, must not come back when a later step is committed.
    if (pool_.probe().needs_sync) m.sync(pool_.file());
    // They wait in a slot that looks like a dead process's, until somebody finds them unpinned.
    for (const Link link : scan.pinned()) heap_.retire(link);
    if (!scan.pinned().empty()) m.store(&pool_.slot().attached, 1);
}

}  // namespace pmemcpy::catalog
