// Recovery: the records alone decide. They are found by scanning the metadata slabs; the word that publishes a
// version is believed when what it names is whole, and else the highest whole version is elected (law 1).
// All that is derived is then written anew. Repeating it changes nothing.

#include "base/crc32c.hpp"
#include "catalog/catalog.hpp"
#include "catalog/losses.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace pmemcpy::catalog {

using heap::mark_empty;
using heap::RecordKind;
using persist::Medium;

namespace {

/// Everything that recovery knows, as offsets of whole records.
class Scan {
public:
    /// `salvage`: null but in a repair.
    Scan(pool::Pool& pool, heap::Heap& heap, Salvage* salvage)
        : pool_(pool), heap_(heap), salvage_(salvage) {}

    void collect();
    void elect();
    void rewrite(std::uint64_t bucket_mask);
    const std::vector<Link>& pinned() const { return pinned_; }
    std::uint64_t highest_version() const { return highest_version_; }
    std::uint64_t highest_step() const { return highest_step_; }
    /// Kept without a place: blocks whose directory is damaged, and definitions whose entry is.
    const std::vector<std::pair<Link, Link>>& blocks_without_slot() const { return blocks_without_slot_; }
    const std::vector<Link>& definitions_without_name() const { return definitions_without_name_; }
    std::vector<Damage> losses() const { return losses_.named(); }

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
    void keep_blocks_without_slot(std::uint64_t array);
    void keep_definitions_without_name();
    Link elect_block(std::uint64_t slot_offset, Link found, const Array& array);
    bool is_uncommitted(Link link) const;
    void lose(std::uint64_t incarnation, const std::string& what) {
        if (salvage_ != nullptr) losses_.add(incarnation, what);
    }
    /// In a pool that was closed in an orderly way nothing is half erased: a flag that says so is damage.
    bool is_dead(Link link) const { return link.is_dead() && (salvage_ == nullptr || !salvage_->was_clean); }
    void put_in_chain(std::uint64_t* head, std::uint64_t node);

    pool::Pool& pool_;
    heap::Heap& heap_;
    Salvage* salvage_;
    Losses losses_;
    std::uint64_t highest_version_ = 0;
    std::uint64_t highest_step_ = 0;
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
    std::vector<std::pair<Link, Link>> blocks_without_slot_;  // array, block
    std::vector<Link> definitions_without_name_;
};

void Scan::collect() {
    heap_.for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
        const RecordHeader& record = header(offset);
        if (record.magic != heap::record_magic || !heap::is_whole(pool_, offset, room)) {
            // What never was a record, or is none any more, has no magic at all.
            if (salvage_ != nullptr && record.magic != 0) losses_.add_record(pool_, offset, room);
            if (record.magic == heap::record_magic && salvage_ == nullptr)
                highest_version_ = std::max(highest_version_, record.version);
            return;
        }
        highest_version_ = std::max(highest_version_, record.version);
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
                if (!data_holds(record)) return lose(record.incarnation, "the bytes of a value are damaged");
                highest_step_ = std::max(highest_step_, pool_.as<Value>(offset).step);
                definitions_.emplace(record.incarnation, offset);
                break;
            case RecordKind::array:
                if (record.length < sizeof(Array) || !is_committed(pool_.as<Array>(offset).step)) return;
                highest_step_ = std::max(highest_step_, pool_.as<Array>(offset).step);
                definitions_.emplace(record.incarnation, offset);
                break;
            case RecordKind::segment:
                if (record.length < sizeof(Segment) + 8ULL * pool_.as<Segment>(offset).slots) return;
                break;
            case RecordKind::block:
                if (record.length < sizeof(Block) || !is_committed(pool_.as<Block>(offset).step)) return;
                if (!data_holds(record)) return lose(record.incarnation, "the bytes of a block are damaged");
                highest_step_ = std::max(highest_step_, pool_.as<Block>(offset).step);
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

void Scan::set(std::uint64_t* word, Link link) {
    if (*word == link.word) return;
    pool_.medium().store(word, link.word);
    pool_.medium().flush(word, sizeof *word);
}

// A record that is whole and left out all the same: of a step that nobody committed.
bool Scan::is_uncommitted(Link link) const {
    if (!pool_.contains(link.offset(), sizeof(RecordHeader))) return false;
    const std::uint64_t room = pool_.super().chunk_bytes - link.offset() % pool_.super().chunk_bytes;
    return !whole_.contains(link.offset()) && heap::is_current(pool_, link) &&
           heap::is_whole(pool_, link.offset(), room);
}

Link Scan::elect_definition(const Entry& entry) {
    const Link published{entry.header.word};
    if (!published.is_record() || is_dead(published)) return {};  // erased, or never given a value
    const Link word = published.alive();
    for (const RecordKind kind : {RecordKind::value, RecordKind::array}) {
        if (is_whole(word, kind, entry.header.incarnation)) return word;
    }
    std::uint64_t best = 0;
    const auto [first, last] = definitions_.equal_range(entry.header.incarnation);
    for (auto i = first; i != last; ++i) {
        if (best == 0 || header(i->second).version > header(best).version) best = i->second;
    }
    if (!is_uncommitted(word)) {
        lose(entry.header.incarnation, best == 0 ? "the record that defines it is lost"
                                                 : "the newest record that defines it could not be found");
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
        const Link definition = elect_definition(pool_.as<Entry>(identity));
        const std::uint64_t node = elect_name(identity);
        const auto& name = pool_.as<Entry>(node);
        std::pair key(name.parent, std::string(reinterpret_cast<const char*>(&name + 1), name.key_bytes));
        if (salvage_ != nullptr) losses_.knows(header(identity).incarnation, key.first, key.second);
        if (!definition.is_record()) continue;
        const auto found = by_key.find(key);
        if (found != by_key.end() && header(found->second.node).version > header(node).version) continue;
        by_key[std::move(key)] = {identity, node, definition, false};
    }
    std::map<std::uint64_t, bool> incarnations;
    for (const auto& [key, named] : by_key) {
        if (key.first == 0) incarnations[header(named.identity).incarnation] = true;
    }
    for (const auto& [key, named] : by_key) {
        if (key.first == 0 || incarnations.contains(key.first)) {
            named_.push_back(named);
        } else if (salvage_ != nullptr && salvage_->was_clean) {
            lose(header(named.identity).incarnation, "the variable it belongs to is lost");
        }
    }
}

bool Scan::keep(std::uint64_t offset) {
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
    if (found.is_record() && is_dead(found) && !in_doubt) return {};
    // One that was unpublished may be needed, when what superseded it is lost. But if that was durable, its space
    // may hold other bytes by now, and its checksum tells.
    if (is_whole(found.alive(), RecordKind::block, array.header.incarnation) &&
        (!is_dead(found) || checksum_holds(header(found.offset())))) {
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
    if (best == 0 && !is_uncommitted(found))
        lose(array.header.incarnation, "the record of a block is damaged; what it held is lost");
    return best == 0 ? Link{} : link_of(best);
}

void Scan::keep_array(std::uint64_t offset) {
    auto& array = pool_.as<Array>(offset);
    if (const std::uint64_t newest = pool_.committed_step();
        pool_.probe().needs_sync && array.kept_since < newest) {
        // Blocks of older steps may be gone from the medium, and the word that says so may not have come there.
        pool_.medium().store(&array.kept_since, newest);
    }
    const std::size_t losses = losses_.size();
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
    if (Link{*tail}.is_record()) {
        lose(array.header.incarnation, "a part of its block directory is damaged; blocks may be lost");
        if (salvage_ != nullptr) keep_blocks_without_slot(offset);
    }
    if (losses_.size() > losses)  // nor is anything promised of what older steps held
        pool_.medium().store(&array.kept_since, std::max(array.kept_since, pool_.committed_step()));
    // Also where it is sealed: behind the page cache the seal may have come through and the erase not.
    set(tail, Link::mark(mark_empty, owner));
}

void Scan::keep_blocks_without_slot(std::uint64_t array) {
    const std::uint64_t incarnation = header(array).incarnation;
    for (const auto& [home, block] : blocks_) {
        if (header(block).incarnation != incarnation || kept_.contains(block) ||
            !checksum_holds(header(block)))
            continue;
        if (keep(block)) blocks_without_slot_.emplace_back(link_of(array), link_of(block));
    }
}

// A variable whose id is lost with its entry; or an attribute's value, for a value does not say which it is.
void Scan::keep_definitions_without_name() {
    std::unordered_set<std::uint64_t> known;
    for (const std::uint64_t identity : identities_) known.insert(header(identity).incarnation);
    std::unordered_map<std::uint64_t, std::uint64_t> newest;
    for (const auto& [incarnation, offset] : definitions_) {
        if (known.contains(incarnation) || Catalog::is_group(pool_, link_of(offset))) continue;
        std::uint64_t& best = newest[incarnation];
        if (best == 0 || header(offset).version > header(best).version) best = offset;
    }
    for (const auto& [incarnation, offset] : newest) {
        if (!keep(offset)) continue;
        if (whole_.at(offset) == RecordKind::array) keep_array(offset);
        definitions_without_name_.push_back(link_of(offset));
    }
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
        if (!keep(named.definition.offset()) || !keep(named.identity) || (renamed && !keep(named.node))) {
            lose(entry.header.incarnation, "its space belongs to something else");
            continue;
        }
        if (renamed) set(&header(named.node).word, link_of(named.identity));
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
    if (salvage_ != nullptr && salvage_->was_clean) keep_definitions_without_name();
    keep_pinned();
    heap_.finish_rebuild();
    if (heap_.outside() != nullptr) heap_.outside()->keep_only(outside_);
}

}  // namespace

void Catalog::rebuild() {
    const Medium& m = pool_.medium();
    pool::PoolState& state = pool_.state();
    Scan scan(pool_, heap_, salvage_);
    if (salvage_ != nullptr) bring_back_slabs();
    scan.collect();
    if (state.committed_step.value == pool::unknown_step)
        m.store(&state.committed_step.value, scan.highest_step());
    scan.elect();
    scan.rewrite(pool_.super().bucket_count - 1);
    m.store(&state.next_version.value, std::max(state.next_version.value, scan.highest_version() + 1));
    m.store(&state.begun_step.value, pool_.committed_step());
    m.store(&state.broken_step.value, 0);
    m.fence();
    // What was dropped, such as an abandoned step, must not come back when a later step is committed.
    if (pool_.probe().needs_sync) m.sync(pool_.file());
    // They wait in a slot that looks like a dead process's, until somebody finds them unpinned.
    for (const Link link : scan.pinned()) heap_.retire(link);
    if (!scan.pinned().empty()) m.store(&pool_.slot().attached, 1);
    if (salvage_ == nullptr) return;
    for (Damage& damage : scan.losses()) salvage_->losses.push_back(std::move(damage));
    for (const Link definition : scan.definitions_without_name()) name_anew(definition);
    for (const auto& [array, block] : scan.blocks_without_slot()) publish_anew(array, block);
    bring_back_groups();
}

}  // namespace pmemcpy::catalog
