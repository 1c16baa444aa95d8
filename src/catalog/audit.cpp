// Follows every id to all that it owns, then looks at every unit and chunk that is taken. Only means something
// while nobody stores: what another process is in the middle of looks leaked.

#include "catalog/audit.hpp"

#include "catalog/catalog.hpp"

#include <unordered_map>
#include <unordered_set>

namespace pmemcpy::catalog {

using heap::RecordKind;
using heap::UnitState;
using persist::Medium;

namespace {

constexpr std::size_t most_complaints = 20;

class Auditor {
public:
    Auditor(pool::Pool& pool, heap::Heap& heap) : pool_(pool), heap_(heap) {}

    Audit run() {
        for (std::uint64_t i = 0; i < pool_.super().bucket_count; ++i) {
            follow_chain(Link{Medium::load(&pool_.as<std::uint64_t>(pool_.super().bucket_offset + 8 * i))},
                         0);
        }
        follow_retire_lists();
        heap_.for_each_taken([&](const heap::Taken& taken) { judge(taken); });
        for (const auto& [extent, record] : extents_) {
            if (taken_.contains(extent)) continue;
            ++audit_.lost;
            complain("the extent" + at(extent) + " of the record" + at(record) +
                     " is in use, and marked free");
        }
        if (const auto place = heap_.wipes() ? heap_.find_unwiped() : std::nullopt) {
            ++audit_.unwiped;
            complain("free space" + at(*place) + " is not wiped");
        }
        return std::move(audit_);
    }

private:
    void complain(std::string text) {
        if (audit_.complaints.size() < most_complaints) audit_.complaints.push_back(std::move(text));
    }
    static std::string at(std::uint64_t offset) { return " at " + std::to_string(offset); }

    /// Notes that something leads to `record`. False if it must not be followed.
    bool reach(Link record, RecordKind kind, const std::string& what) {
        if (!heap::is_current(pool_, record)) {
            ++audit_.lost;
            complain(what + at(record.offset()) + " is gone");
            return false;
        }
        const auto& header = pool_.as<RecordHeader>(record.offset());
        const std::uint64_t room = pool_.room_in_chunk(record.offset());
        if (static_cast<RecordKind>(header.kind) != kind || !heap::is_whole(pool_, record.offset(), room)) {
            ++audit_.lost;
            complain(what + at(record.offset()) + " is damaged");
            return false;
        }
        if (UnitState{Medium::load(&header.state)}.kind() != UnitState::owned) {
            ++audit_.lost;
            complain(what + at(record.offset()) + " is in use, and marked free or retired");
        }
        if (!reached_.insert(record.offset()).second) {
            ++audit_.doubly_owned;
            complain(what + at(record.offset()) + " is reached twice");
            return false;
        }
        ++audit_.reached_records;
        const Extent extent = Catalog::extent_of(header);
        if (extent.length != 0 && extent.target == 0) {
            ++audit_.reached_extents;
            if (!extents_.emplace(extent.offset, record.offset()).second) {
                ++audit_.doubly_owned;
                complain("extent" + at(extent.offset) + " belongs to two records");
            }
        }
        return true;
    }

    /// parent 0: ids of a bucket; else the attributes of that incarnation.
    void follow_chain(Link link, std::uint64_t parent) {
        std::uint64_t hops = pool_.usable_chunks() * pool_.super().chunk_bytes / sizeof(Entry);
        for (; link.is_record(); --hops) {
            if (hops == 0 || !reach(link, RecordKind::entry, "an entry in a chain")) return;
            const auto& entry = pool_.as<Entry>(link.offset());
            if (entry.parent != parent) {
                ++audit_.leaked_records;
                complain("entry" + at(link.offset()) + " hangs in a chain of something else");
            }
            if (entry.alias != 0) {
                follow_alias(link);
            } else if (entry.moved.is_record()) {
                ++audit_.leaked_records;
                complain("a renamed entry" + at(link.offset()) + " is still in its old chain");
            } else {
                follow_identity(link);
            }
            link = {Medium::load(&entry.header.next.word)};
        }
    }

    void follow_alias(Link link) {
        const Link identity{Medium::load(&pool_.as<Entry>(link.offset()).header.word)};
        if (!heap::is_current(pool_, identity) || pool_.as<Entry>(identity.offset()).moved != link) {
            ++audit_.leaked_records;
            complain("the alias" + at(link.offset()) + " of a rename that did not happen");
            return;
        }
        if (reach(identity, RecordKind::entry, "a renamed entry")) follow_identity(identity);
    }

    void follow_identity(Link link) {
        const auto& entry = pool_.as<Entry>(link.offset());
        const Link definition{Medium::load(&entry.header.word)};
        if (definition.is_dead()) {
            ++audit_.leaked_records;
            complain("erased entry" + at(link.offset()) + " is still in its chain");
            return;
        }
        if (!definition.is_record()) {
            ++audit_.undefined_entries;
        } else if (heap::is_current(pool_, definition) &&
                   static_cast<RecordKind>(pool_.as<RecordHeader>(definition.offset()).kind) ==
                       RecordKind::array) {
            ++audit_.variables;
            follow_array(definition);
        } else {
            ++audit_.variables;
            follow_value(definition);
        }
        follow_chain(Link{Medium::load(&entry.attributes.word)}, entry.header.incarnation);
    }

    void follow_value(Link value) {
        if (!reach(value, RecordKind::value, "a value")) return;
        // Of the versions that steps have kept some may be gone: nothing needs them once a newer one is committed.
        for (Link older = pool_.as<Value>(value.offset()).previous; heap::is_current(pool_, older);
             older = pool_.as<Value>(older.offset()).previous) {
            if (UnitState{Medium::load(&pool_.as<RecordHeader>(older.offset()).state)}.kind() !=
                UnitState::owned)
                return;
            if (!reach(older, RecordKind::value, "an older value")) return;
        }
    }

    void follow_array(Link array) {
        if (!reach(array, RecordKind::array, "an array")) return;
        Link segment{Medium::load(&pool_.as<Array>(array.offset()).header.word)};
        while (segment.is_record() && reach(segment, RecordKind::segment, "a directory segment")) {
            auto& record = pool_.as<Segment>(segment.offset());
            const auto* slots = reinterpret_cast<const std::uint64_t*>(&record + 1);
            for (std::uint32_t i = 0; i < record.slots; ++i) {
                const Link block{Medium::load(&slots[i])};
                if (block.is_live()) reach(block, RecordKind::block, "a block");
            }
            segment = {Medium::load(&record.header.word)};
        }
    }

    void follow_retire_lists() {
        if (pool_.read_only()) return;
        const std::uint64_t used = Medium::load(&pool_.runtime().header().slots_used);
        for (std::uint64_t i = 0; i < used; ++i) {
            const pool::Slot& slot = pool_.runtime().slot(i);
            if (Medium::load(&slot.attached) == 0) continue;
            Link link{Medium::load(&slot.retire_head)};
            while (link.is_record() && pool_.contains(link.offset(), sizeof(RecordHeader))) {
                if (!retired_.insert(link.offset()).second) break;
                const auto& header = pool_.as<RecordHeader>(link.offset());
                const Extent extent = Catalog::extent_of(header);
                if (extent.length != 0 && extent.target == 0) extents_.emplace(extent.offset, link.offset());
                link = {Medium::load(&header.next.word)};
            }
        }
        audit_.retired_records = retired_.size();
    }

    void judge(const heap::Taken& taken) {
        switch (taken.what) {
            case heap::Taken::record: {
                const auto& header = pool_.as<RecordHeader>(taken.offset);
                const bool listed = retired_.contains(taken.offset);
                if (reached_.contains(taken.offset) || listed) return;
                ++audit_.leaked_records;
                complain("record of kind " + std::to_string(header.kind) + at(taken.offset) + " in state " +
                         std::to_string(UnitState{taken.word}.kind()) + " of owner " +
                         std::to_string(UnitState{taken.word}.owner()) +
                         (header.magic != 0 ? ", whole" : ", without magic") + " is led to by nothing");
                return;
            }
            case heap::Taken::data_unit:
            case heap::Taken::run: {
                const auto found = extents_.find(taken.offset);
                taken_.insert(taken.offset);
                if (found != extents_.end() && found->second == taken.word) return;
                (taken.what == heap::Taken::run ? audit_.leaked_chunks : audit_.leaked_units) += taken.chunks;
                complain((taken.what == heap::Taken::run ? "run" : "data unit") + at(taken.offset) +
                         " of the record" + at(taken.word) + " is led to by nothing");
                return;
            }
            case heap::Taken::stray:
                ++audit_.leaked_chunks;
                complain("chunk" + at(taken.offset) + " belongs to no run");
                return;
            case heap::Taken::hidden:
                ++audit_.hidden_units;
                return;
        }
    }

    pool::Pool& pool_;
    heap::Heap& heap_;
    Audit audit_;
    std::unordered_set<std::uint64_t> reached_;
    std::unordered_set<std::uint64_t> retired_;
    std::unordered_set<std::uint64_t> taken_;                   // extents
    std::unordered_map<std::uint64_t, std::uint64_t> extents_;  // extent -> the record that names it
};

}  // namespace

Audit Catalog::audit() const { return Auditor(pool_, heap_).run(); }

}  // namespace pmemcpy::catalog
