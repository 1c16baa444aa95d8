// Erasing: one CAS flags the entry's word dead, and that is the erase. What follows only gives space back, step
// by step, each of which another process can repeat when this one dies.

#include "catalog/catalog.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::catalog {

using heap::mark_empty;
using heap::mark_sealed;
using heap::RecordKind;
using persist::Medium;

void Catalog::erase(Link entry, std::string_view id) {
    const std::lock_guard one_verb(verb_mutex_);
    const Medium& m = pool_.medium();
    const auto defined = definition(entry);
    if (!defined) throw Error(Code::not_found, "there is no '" + std::string(id) + "' to erase");
    pool::Slot& slot = pool_.slot();
    m.store(&slot.intent_a, entry.word);
    m.store(&slot.intent, static_cast<std::uint64_t>(pool::Intent::erase));
    bool erased = false;
    std::uint64_t expected = defined->word;
    if (is_group(pool_, *defined)) {
        // Nobody puts anything into the group while we hold this lock (create.cpp).
        const pool::Pool::AllocationLock lock(pool_);
        if (has_children(id)) {
            m.store(&slot.intent, 0);
            throw Error(Code::busy, "group '" + std::string(id) + "' is not empty; erase what is in it first");
        }
        erased = m.compare_exchange(value_word(entry), expected, defined->dead().word);
    } else {
        while (!erased && Link{expected}.is_live()) {  // an overwrite in between is erased too
            erased = m.compare_exchange(value_word(entry), expected, Link{expected}.dead().word);
        }
    }
    if (erased) {
        // The erase is acknowledged when this word is durable; recovery believes it (law 1).
        m.persist(value_word(entry), 8);
        clean_up_erased(entry);
    }
    m.store(&slot.intent, 0);
    heap_.reclaim();
    if (!erased) throw Error(Code::not_found, "'" + std::string(id) + "' was erased by somebody else just now");
}

void Catalog::erase_attribute(Link attribute, std::string_view name) { erase(attribute, name); }

void Catalog::clean_up_erased(Link entry) {
    auto& e = pool_.as<Entry>(entry.offset());
    const Link defined = Link{Medium::load(&e.header.word)}.alive();
    if (defined.is_record()) retire_definition(defined);
    // Attributes hang on their owner alone, so nobody finds them any more.
    const std::uint64_t incarnation = e.header.incarnation;
    walk(&e.attributes.word, [&](Link link, const Entry& attribute, const std::string&) {
        if (attribute.parent != incarnation || attribute.alias != 0) return;
        std::uint64_t word = Medium::load(value_word(link));
        while (Link{word}.is_live() && !pool_.medium().compare_exchange(value_word(link), word, Link{word}.dead().word)) {
        }
        if (Link{word}.is_record()) retire_definition(Link{word}.alive());
        heap_.retire(link);
    });
    const pool::Pool::AllocationLock lock(pool_);
    const Link moved{Medium::load(&e.moved.word)};
    if (moved.is_record() && heap::is_current(pool_, moved)) {
        take_out(bucket(pool_.as<Entry>(moved.offset()).hash), moved);
        heap_.retire(moved);
    }
    take_out(e.parent == 0 ? bucket(e.hash) : &pool_.as<std::uint64_t>(e.header.home), entry);
    heap_.retire(entry);
}

void Catalog::retire_definition(Link definition) {
    if (!heap::is_current(pool_, definition)) return;
    const auto kind = static_cast<RecordKind>(pool_.as<RecordHeader>(definition.offset()).kind);
    if (kind == RecordKind::array) return retire_array(definition);
    const Link previous = pool_.as<Value>(definition.offset()).previous;
    if (previous.is_record()) heap_.retire(previous);
    heap_.retire(definition);
}

// Seals every slot and the tail, so that a store that comes late fails (law 4), and retires what was there.
void Catalog::retire_array(Link array) {
    const Medium& m = pool_.medium();
    std::vector<Link> segments;
    std::uint64_t* tail = &pool_.as<Array>(array.offset()).header.word;
    for (Link segment_link{}; segments.size() <= pool_.usable_chunks() * pool_.super().chunk_bytes / sizeof(Segment);) {
        std::uint64_t next = Medium::load(tail);
        if (Link{next}.is_mark(mark_empty)) {
            const Link sealed = Link::mark(mark_sealed, Link{next}.tag());
            if (!m.compare_exchange(tail, next, sealed.word)) continue;
            m.flush(tail, sizeof *tail);
            break;
        }
        segment_link = Link{next}.alive();
        if (!segment_link.is_record() || !heap::is_current(pool_, segment_link)) break;
        segments.push_back(segment_link);
        auto& segment = pool_.as<Segment>(segment_link.offset());
        auto* slots = reinterpret_cast<std::uint64_t*>(&segment + 1);
        for (std::uint32_t i = 0; i < segment.slots; ++i) {
            std::uint64_t word = Medium::load(&slots[i]);
            for (;;) {
                const Link link{word};
                const Link after = link.is_live() ? link.dead() : Link::mark(mark_sealed, link.tag());
                if (link.is_record() ? link.is_dead() : link.is_mark(mark_sealed)) break;
                if (m.compare_exchange(&slots[i], word, after.word)) break;
            }
            if (Link{word}.is_record()) heap_.retire(Link{word}.alive());
        }
        tail = &segment.header.word;
    }
    for (const Link link : segments) heap_.retire(link);
    heap_.retire(array);
}

// Caller holds the allocation lock, so nobody else takes anything out; insertions happen at the head.
void Catalog::take_out(std::uint64_t* head, Link node) {
    const Medium& m = pool_.medium();
    for (;;) {
        std::uint64_t* from = head;
        Link link{Medium::load(from)};
        while (link.is_record() && link != node) {
            from = &pool_.as<Entry>(link.offset()).header.next.word;
            link = {Medium::load(from)};
        }
        if (!link.is_record()) return;
        std::uint64_t expected = node.word;
        const std::uint64_t next = Medium::load(&pool_.as<Entry>(node.offset()).header.next.word);
        if (m.compare_exchange(from, expected, next)) {
            m.flush(from, sizeof *from);
            return;
        }
    }
}

bool Catalog::has_children(std::string_view group) const {
    const std::string prefix = std::string(group) + "/";
    for (std::uint64_t i = 0; i < pool_.super().bucket_count; ++i) {
        bool found = false;
        walk(bucket(i), [&](Link link, const Entry& entry, const std::string& key) {
            if (key.compare(0, prefix.size(), prefix) != 0) return;
            const Link identity = entry.alias != 0 ? Link{entry.header.word} : link;
            found = found || (!entry.moved.is_record() && !Link{Medium::load(value_word(identity))}.is_dead());
        });
        if (found) return true;
    }
    return false;
}

}  // namespace pmemcpy::catalog
