// The first half of recovery: which records are whole, and which of them speak for a variable. Nothing is written.

#include "catalog/scan.hpp"

#include "base/crc32c.hpp"
#include "heap/hops.hpp"
#include "os/guard.hpp"

#include <algorithm>
#include <map>

namespace pmemcpy::catalog {

using heap::RecordKind;

void Scan::collect() {
    heap_.for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
        const RecordHeader& record = header(offset);
        if (record.magic != heap::record_magic || !heap::is_whole(pool_, offset, room)) {
            // What never was a record, or is none any more, has no magic at all.
            if (salvage_ != nullptr && record.magic != 0 && !heap::is_hidden(pool_, offset, room))
                losses_.add_record(pool_, offset, room);
            if (record.magic == heap::record_magic && salvage_ == nullptr)
                highest_version_ = std::max(highest_version_, record.version);
            return;
        }
        highest_version_ = std::max(highest_version_, record.version);
        const auto kind = static_cast<RecordKind>(record.kind);
        switch (kind) {
            case RecordKind::entry:
                if (room < sizeof(Entry) || record.length < sizeof(Entry) + pool_.as<Entry>(offset).key_bytes)
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
    std::uint32_t found = 0;
    return bytes <= extent.length &&
           os::guarded(there.data, bytes, [&] { found = base::crc32c(0, there.data, bytes); }) &&
           found == crc;
}

bool Scan::is_whole(Link link, RecordKind kind, std::uint64_t incarnation) const {
    if (!link.is_live()) return false;
    const auto found = whole_.find(link.offset());
    return found != whole_.end() && found->second == kind && link_of(link.offset()) == link &&
           header(link.offset()).incarnation == incarnation;
}

// A record that is whole and left out all the same: of a step that nobody committed.
bool Scan::is_uncommitted(Link link) const {
    if (!pool_.contains(link.offset(), sizeof(RecordHeader))) return false;
    const std::uint64_t room = pool_.room_in_chunk(link.offset());
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
    // Of a step that nobody committed: what it was to take the place of is there again. A higher version may be the draft of a process
    // that died before it published it, and others may have seen since that it did not.
    heap::Hops hops;
    for (Link version = word; is_uncommitted(version) && hops.take(version);) {
        const auto& record = pool_.as<Value>(version.offset());
        // One whose bytes did not all come to the medium is left out too, and nothing is known of what it took the place of.
        if (static_cast<RecordKind>(record.header.kind) != RecordKind::value ||
            record.step <= pool_.committed_step())
            break;
        version = record.previous;
        if (!version.is_record()) return {};
        if (is_whole(version, RecordKind::value, entry.header.incarnation)) return version;
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
        const auto& entry = pool_.as<Entry>(identity);
        pool_.medium().flush(&entry, sizeof entry);  // an erase too is believed; as in set()
        const Link definition = elect_definition(entry);
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
    if (salvage_ != nullptr && salvage_->was_clean) {
        for (const Named& named : named_) tell_attribute_behind(pool_.as<Entry>(named.identity));
    }
}

// Of an attribute whose record is gone nobody knows the name; but what led to it is whole, and says that there was one.
void Scan::tell_attribute_behind(const Entry& entry) {
    const bool is_attribute = entry.parent != 0;
    const Link next = is_attribute ? entry.header.next : entry.attributes;
    if (!next.is_record() || is_whole_entry(next)) return;
    lose(is_attribute ? entry.parent : entry.header.incarnation,
         "the record of an attribute is damaged, and its name is lost with it");
}

bool Scan::is_whole_entry(Link link) const {
    const auto found = whole_.find(link.offset());
    return found != whole_.end() && found->second == RecordKind::entry && link_of(link.offset()) == link;
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

}  // namespace pmemcpy::catalog
