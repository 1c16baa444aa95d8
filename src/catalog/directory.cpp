#include "catalog/directory.hpp"

#include "array/selection.hpp"
#include "base/hash.hpp"
#include "heap/hops.hpp"
#include "heap/pin.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <atomic>

namespace pmemcpy::catalog {

using heap::mark_empty;
using heap::mark_sealed;
using heap::RecordKind;
using persist::Medium;

namespace {

constexpr std::uint32_t first_slots = 7;           // one line of slots beside the segment's own words
constexpr std::uint32_t most_slots = 8192;         // 64 KiB
constexpr std::uint64_t unread = ~0ULL;            // no word of a slot: the block there must be read
constexpr std::uint64_t drawn_while_looking = 64;  // versions, as a rule fewer

/// The first version from there on whose link has this tag.
std::uint64_t drawn_again(Link link, std::uint64_t from) {
    return from + ((link.tag() - from) & Link::tag_mask);
}

std::uint64_t hash_of(const Selection& box) {
    const auto bytes = 8 * static_cast<std::size_t>(box.size());
    std::uint64_t hash = 0;
    for (const Dimensions* part : {&box.offset, &box.count, &box.stride}) {
        hash = hash * 0x9e3779b97f4a7c15ULL + base::xxh3_64(part->data(), bytes);
    }
    return hash;
}

}  // namespace

Directory::Directory(pool::Pool& pool, heap::Heap& heap, ArrayDefinition definition)
    : pool_(pool), heap_(heap), definition_(std::move(definition)), index_(definition_.dims.size()) {}

bool Directory::refresh() {
    const std::uint64_t* retirements = &pool_.as<Array>(definition_.link.offset()).retirements;
    check_memory();
    for (std::uint64_t meanwhile = drawn_while_looking + blocks_.size() / 512;; meanwhile *= 2) {
        // A block may be published in a slot that was passed already, and take another out of one that was not.
        // Each time around another process has got on: it has taken a block out in favour of one elsewhere.
        const std::uint64_t before = Medium::load(retirements);
        const std::uint64_t next = pool_.next_version();
        const std::uint64_t end = next + meanwhile;
        if (!find_segments()) return false;
        for (SegmentSeen& segment : segments_) look_at(segment, next, end);
        const bool is_whole = pool_.next_version() <= end;
        if (is_whole) looked_at_ = next;
        const bool is_done = is_whole && persist::still(Medium::load(retirements) == before);
        if (is_done || !heap::is_current(pool_, definition_.seen())) break;
    }
    index_.settle();
    return heap::is_still_current(pool_, definition_.seen());
}

// A word that has changed since the last look and looks the same has a tag that was drawn in between: its record was sealed after the
// one before it had been freed, and so after that look. While none of the segment's tags was drawn, to look at the words is enough.
void Directory::look_at(SegmentSeen& segment, std::uint64_t next, std::uint64_t end) {
    const auto note_due = [&](std::uint32_t i) {
        const Link seen{segment.words[i]};
        if (seen.is_live()) segment.due = std::min(segment.due, drawn_again(seen, next));
    };
    const bool may_look_the_same = segment.due < end;
    for (std::uint32_t i = 0; i < segment.count; ++i) {
        const std::uint64_t word = Medium::load(&segment.slots[i]);
        if (word == segment.words[i]) continue;
        take_slot(segment, i, word);
        note_due(i);
    }
    if (!may_look_the_same) return;
    segment.due = never;
    for (std::uint32_t i = 0; i < segment.count; ++i) {
        const Link seen{segment.words[i]};
        if (seen.is_live() && drawn_again(seen, looked_at_) < end && !is_the_same(segment.first_handle + i))
            take_slot(segment, i, seen.word);
        note_due(i);
    }
}

bool Directory::is_the_same(std::uint64_t handle) const {
    const auto known = blocks_.find(handle);
    return known == blocks_.end() || heap::is_current(pool_, known->second.seen());
}

void Directory::retire(std::uint64_t handle, std::uint64_t newer_step) {
    // No tag protects the array's own words from whoever comes late: they may be another record's by now.
    const heap::Pin pin(heap_, definition_.seen());
    if (!pin) return;
    const Medium& m = pool_.medium();
    auto& array = pool_.as<Array>(definition_.link.offset());
    if (blocks_.at(handle).block.step < newer_step) {
        pool_.vouch_for_committed_step();
        std::uint64_t before = Medium::load(&array.kept_since);
        while (before < newer_step && !m.compare_exchange(&array.kept_since, before, newer_step)) {
        }
        // With its fence the committed step is durable too, before a block is retired.
        m.persist(&array.kept_since, sizeof array.kept_since);
    }
    m.fetch_add(&array.retirements, 1);  // before the block goes, so that whoever misses it looks again
    heap_.unlink(slot_word(handle), blocks_.at(handle).seen(), empty_word(handle));
}

// That publishes the array. Where its record is gone something else stands there, whose home does not lead to this array: null.
const Entry* Directory::entry() const {
    RecordHeader header;
    heap::racy_copy(&header, pool_.at(definition_.link.offset()), sizeof header);
    constexpr std::uint64_t before = offsetof(Entry, header.word);
    if (header.home % 8 != 0 || header.home < before || !pool_.contains(header.home - before, sizeof(Entry)))
        return nullptr;
    const auto* entry = &pool_.as<Entry>(header.home - before);
    return Medium::load(&entry->header.word) == definition_.link.word ? entry : nullptr;
}

bool Directory::is_published() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one of retire_array
    return persist::still(entry() != nullptr);
}

void Directory::vouch() {
    const Medium& m = pool_.medium();
    // The whole of it, for it may have been renamed too.
    if (const Entry* published_by = entry(); published_by != nullptr)
        m.flush(published_by, sizeof *published_by);
    for (SegmentSeen& segment : segments_) {
        if (!segment.is_vouched_for) m.flush(segment.word, sizeof *segment.word);
        segment.is_vouched_for = true;
    }
}

// What a refresh is about to look at. A segment that it finds new it reads as a whole.
void Directory::check_memory() const {
    pool_.guarded([&] {
        static_cast<void>(Medium::load(&pool_.as<Array>(definition_.link.offset()).retirements));
        for (const SegmentSeen& segment : segments_) {
            static_cast<void>(Medium::load(&pool_.as<Segment>(segment.link.offset()).header.word));
            for (std::uint32_t i = 0; i < segment.count; i += pool::page_bytes / 8)
                static_cast<void>(Medium::load(&segment.slots[i]));
            if (segment.count > 0) static_cast<void>(Medium::load(&segment.slots[segment.count - 1]));
        }
    });
}

std::uint64_t Directory::kept_since() const {
    return Medium::load(&pool_.as<Array>(definition_.link.offset()).kept_since);
}

// The word behind the last segment that is known, which leads to the next.
std::uint64_t* Directory::last_word() const {
    return segments_.empty() ? &pool_.as<Array>(definition_.link.offset()).header.word
                             : &pool_.as<Segment>(segments_.back().link.offset()).header.word;
}

// Follows the chain from the last segment that is known. False when the array is being erased.
bool Directory::find_segments() {
    heap::Hops hops;
    for (const SegmentSeen& seen : segments_) static_cast<void>(hops.take(seen.link));
    for (;;) {
        std::uint64_t* tail = last_word();
        const Link next{Medium::load(tail)};
        const Link owner = segments_.empty() ? definition_.link : segments_.back().link;
        if (!heap::is_current(pool_, owner) || next.is_mark(mark_sealed)) return false;
        if (!next.is_record()) return true;
        if (!hops.take(next)) throw Error(Code::corrupt, "an array's directory leads back into itself");
        heap::RecordCopy copy;
        if (!heap::read_record(pool_, next, RecordKind::segment, copy) || copy.size() < sizeof(Segment))
            return false;
        const auto& record = *reinterpret_cast<const Segment*>(copy.data());
        if (copy.size() < sizeof(Segment) + 8ULL * record.slots) {
            throw Error(Code::corrupt, "a directory segment is shorter than its slots");
        }
        SegmentSeen seen;
        seen.link = next;
        seen.word = tail;
        seen.slots = reinterpret_cast<std::uint64_t*>(&pool_.as<Segment>(next.offset()) + 1);
        seen.count = record.slots;
        seen.first_handle = segments_.empty() ? 0 : segments_.back().first_handle + segments_.back().count;
        seen.words.assign(record.slots, unread);
        segments_.push_back(std::move(seen));
    }
}

void Directory::take_slot(SegmentSeen& segment, std::uint32_t i, std::uint64_t word) {
    const std::uint64_t handle = segment.first_handle + i;
    forget(handle);
    for (bool is_in_doubt = false;;) {
        segment.words[i] = word;
        if (!Link{word}.is_live()) return;
        std::optional<BlockRecord> record;
        try {
            record = read_block(heap_, Link{word}, definition_);
        } catch (const Error&) {
            // It makes no sense, or its memory is gone. It is counted among the damaged: whoever misses its elements is told
            // so, and the other blocks are none the worse for it.
        }
        if (record && record->block.header.incarnation == definition_.incarnation) {
            index_.append(handle, array::bounding_box(record->box));
            by_box_.emplace(hash_of(record->box), handle);
            count(*record);
            blocks_.emplace(handle, std::move(*record));
            return;
        }
        // Replaced while we read it, or damaged: the slot says so before and after, and the block is no better the next time.
        std::atomic_thread_fence(std::memory_order_acquire);
        const std::uint64_t now = Medium::load(&segment.slots[i]);
        if (now == word && is_in_doubt) break;
        is_in_doubt = now == word;
        word = now;
    }
    segment.words[i] = unread;
    damaged_.insert(handle);
}

void Directory::forget(std::uint64_t handle) {
    damaged_.erase(handle);
    const auto found = blocks_.find(handle);
    if (found == blocks_.end()) return;
    index_.erase(handle);
    discount(found->second);
    const auto [first, last] = by_box_.equal_range(hash_of(found->second.box));
    const auto entry = std::find_if(first, last, [&](const auto& pair) { return pair.second == handle; });
    if (entry != last) by_box_.erase(entry);
    blocks_.erase(found);
}

// What is asked of an array most often must not take longer the more blocks it has.
void Directory::count(const BlockRecord& block) {
    for (Totals* const totals : {&total_, &by_step_[block.block.step]}) {
        ++totals->blocks;
        totals->stored_bytes += block.block.stored_bytes;
    }
    if (block.block.written_ns < written_ns_) return;
    written_ns_ = block.block.written_ns;
    is_written_ns_known_ = true;
}

void Directory::discount(const BlockRecord& block) {
    const auto of_step = by_step_.find(block.block.step);
    for (Totals* const totals : {&total_, &of_step->second}) {
        --totals->blocks;
        totals->stored_bytes -= block.block.stored_bytes;
    }
    if (of_step->second.blocks == 0) by_step_.erase(of_step);
    if (block.block.written_ns == written_ns_) is_written_ns_known_ = false;
}

Directory::Totals Directory::totals(std::uint64_t committed, std::uint64_t own) const {
    Totals seen = total_;
    auto newest = by_step_.rbegin();
    for (; newest != by_step_.rend() && newest->first > committed; ++newest) {
        if (newest->first == own) {
            seen.newest_step = own;
            continue;
        }
        seen.blocks -= newest->second.blocks;
        seen.stored_bytes -= newest->second.stored_bytes;
    }
    if (seen.newest_step == 0 && newest != by_step_.rend()) seen.newest_step = newest->first;
    return seen;
}

// The block that was written last has nearly always been replaced by one that was written later.
std::uint64_t Directory::written_ns() const {
    if (!is_written_ns_known_) {
        written_ns_ = 0;
        for (const auto& [handle, block] : blocks_)
            written_ns_ = std::max(written_ns_, block.block.written_ns);
        is_written_ns_known_ = true;
    }
    return written_ns_;
}

std::vector<std::uint64_t> Directory::same_box(const Selection& box) const {
    std::vector<std::uint64_t> handles;
    const auto [first, last] = by_box_.equal_range(hash_of(box));
    for (auto i = first; i != last; ++i) {
        if (blocks_.at(i->second).box == box) handles.push_back(i->second);
    }
    return handles;
}

const Directory::SegmentSeen& Directory::segment_of(std::uint64_t handle) const {
    const auto segment =
        std::upper_bound(segments_.begin(), segments_.end(), handle,
                         [](std::uint64_t h, const SegmentSeen& s) { return h < s.first_handle; });
    return *std::prev(segment);
}

std::uint64_t* Directory::slot_word(std::uint64_t handle) const {
    const SegmentSeen& segment = segment_of(handle);
    return &segment.slots[handle - segment.first_handle];
}

std::uint64_t Directory::empty_word(std::uint64_t handle) const {
    return Link::mark(mark_empty, segment_of(handle).link.tag()).word;
}

bool Directory::is_unchanged(std::uint64_t handle) const {
    return Medium::load(slot_word(handle)) == blocks_.at(handle).link.word;
}

Directory::EmptySlot Directory::find_empty() {
    for (;;) {
        // Once round, and the first one again from its beginning.
        for (std::size_t tried = 0; tried <= segments_.size() && !segments_.empty(); ++tried) {
            SegmentSeen& segment = segments_[empty_segment_];
            for (; empty_slot_ < segment.count; ++empty_slot_) {
                const Link word{Medium::load(&segment.slots[empty_slot_])};
                // The tag is the segment's own, so that a segment that was freed and reused offers nothing (law 4).
                if (word == Link::mark(mark_empty, segment.link.tag()))
                    return {&segment.slots[empty_slot_], word.word};
            }
            empty_slot_ = 0;
            empty_segment_ = (empty_segment_ + 1) % segments_.size();
        }
        append_segment();
    }
}

void Directory::append_segment() {
    const Medium& m = pool_.medium();
    const std::size_t known = segments_.size();
    if (!find_segments())
        throw Error(Code::not_found, "the array was erased while something was being stored in it");
    if (segments_.size() == known) {
        std::uint64_t* tail = last_word();
        const auto room = static_cast<std::uint32_t>((heap_.largest_record() - sizeof(Segment)) / 8);
        const std::uint32_t slots =
            std::min({segments_.empty() ? first_slots : 2 * segments_.back().count + 9, most_slots, room});
        std::uint64_t expected = Medium::load(tail);
        const Link owner = segments_.empty() ? definition_.link : segments_.back().link;
        if (Link{expected} == Link::mark(mark_empty, owner.tag())) {
            Draft draft(heap_, sizeof(Segment) + 8ULL * slots);
            const std::uint64_t version = pool_.draw_version();
            draft.write_header(RecordKind::segment, 0, sizeof(Segment) + 8ULL * slots,
                               definition_.incarnation, pool_.offset_of(tail));
            const std::uint64_t counts = slots;
            draft.write(sizeof(RecordHeader), &counts, sizeof counts);
            const std::vector<std::uint64_t> empty(slots, Link::mark(mark_empty, version).word);
            draft.write(sizeof(Segment), empty.data(), 8ULL * slots);
            const Link last = Link::mark(mark_empty, version);
            draft.write(offsetof(RecordHeader, word), &last, sizeof last);
            const Link link = draft.seal(version);
            if (m.compare_exchange(tail, expected, link.word)) draft.keep();  // vouch() flushes it
        }
        if (!find_segments())
            throw Error(Code::not_found, "the array was erased while something was being stored in it");
        // Neither appended by us nor by anybody else, and not sealed: what stands there is no word that belongs there.
        const bool is_stuck =
            segments_.size() == known && Link{expected} != Link::mark(mark_empty, owner.tag());
        if (is_stuck && Medium::load(tail) == expected)
            throw Error(Code::corrupt, "an array's directory ends in a damaged word; run pmemcpy verify");
    }
    empty_segment_ = segments_.empty() ? 0 : segments_.size() - 1;
    empty_slot_ = 0;
}

}  // namespace pmemcpy::catalog
