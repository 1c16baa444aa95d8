#include "heap/record.hpp"

#include "base/crc32c.hpp"

#include <array>
#include <cstring>

namespace pmemcpy::heap {
namespace {

constexpr std::size_t first_covered = offsetof(RecordHeader, kind);
constexpr std::size_t header_covered_end = offsetof(RecordHeader, home);
constexpr std::uint32_t segment_covered_end = 72;  // all slots of a directory segment are mutable

std::uint32_t covered_begin(const RecordHeader& h) {
    return static_cast<std::uint32_t>(sizeof(RecordHeader)) + 8U * h.mutable_words;
}

std::uint32_t covered_end(const RecordHeader& h) {
    return static_cast<RecordKind>(h.kind) == RecordKind::segment ? segment_covered_end : h.length;
}

using FirstWords = std::array<std::uint64_t, offsetof(RecordHeader, incarnation) / sizeof(std::uint64_t)>;

// As racy_copy(), and inlined: each hop along a chain asks for these. (Attributes counted a second: 7 % more.)
#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"), noinline))
#endif
FirstWords
first_words(const void* record) {
    const auto* words = static_cast<const volatile std::uint64_t*>(record);
    return {words[0], words[1], words[2]};
}

/// Of the first line the three words that tell whether the record is the one that `link` names, and which kind it is.
/// Others may free it and write there meanwhile, so they are looked at in a copy.
bool copy_current(const pool::Pool& pool, Link link, RecordHeader& h) {
    if (!is_plausible(pool, link)) return false;
    const FirstWords words = first_words(pool.at(link.offset()));
    std::memcpy(static_cast<void*>(&h), words.data(), sizeof words);
    const std::uint64_t room = pool.room_in_chunk(link.offset());
    return h.magic == record_magic && (h.version & Link::tag_mask) == link.tag() && has_sane_length(h, room);
}

}  // namespace

bool has_sane_length(const RecordHeader& h, std::uint64_t room) {
    return h.length >= sizeof(RecordHeader) && h.length <= room && covered_begin(h) <= covered_end(h) &&
           covered_end(h) <= h.length;
}

std::uint32_t checksum_of(const RecordHeader& header, std::uint64_t offset) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&header);
    const std::uint32_t place = base::crc32c(0, &offset, sizeof offset);
    const std::uint32_t crc = base::crc32c(place, bytes + first_covered, header_covered_end - first_covered);
    const std::uint32_t begin = covered_begin(header);
    return base::crc32c(crc, bytes + begin, covered_end(header) - begin);
}

void seal(pool::Pool& pool, std::uint64_t offset, std::uint64_t version) {
    const persist::Medium& medium = pool.medium();
    auto& header = pool.as<RecordHeader>(offset);
    medium.write(&header.version, &version, sizeof version);
    const std::uint32_t crc = checksum_of(header, offset);
    medium.write(&header.checksum, &crc, sizeof crc);
    medium.write(&header.magic, &record_magic, sizeof record_magic);
    medium.flush(&header, header.length);
    // Relied on by whoever follows the link published next: the record is whole before it can be found, and so are the
    // bytes that it names, which were streamed past the cache (law 2).
    medium.fence();
}

bool is_plausible(const pool::Pool& pool, Link link) {
    return link.is_record() && pool.contains(link.offset(), sizeof(RecordHeader));
}

bool is_current_unguarded(const pool::Pool& pool, Link link) {
    RecordHeader h;
    return copy_current(pool, link, h);
}

bool is_current_unguarded(const pool::Pool& pool, Link link, RecordKind kind, std::size_t bytes) {
    RecordHeader h;
    return copy_current(pool, link, h) && static_cast<RecordKind>(h.kind) == kind && h.length >= bytes;
}

bool is_current_unguarded(const pool::Pool& pool, const Seen& seen) {
    RecordHeader h;
    return copy_current(pool, seen.link, h) && h.version == seen.version;
}

namespace {

/// `what`: a Link, or what was Seen through one.
template <class What>
bool looks_current(const pool::Pool& pool, const What& what, const persist::LookSite& site) {
    if (persist::is_left_out(site)) return true;
    bool is_it = false;
    pool.guarded([&] { is_it = is_current_unguarded(pool, what); });
    return is_it;
}

template <class What>
bool still_looks_current(const pool::Pool& pool, const What& what, const persist::LookSite& site) {
    std::atomic_thread_fence(std::memory_order_acquire);
    return looks_current(pool, what, site);
}

}  // namespace

bool is_current(const pool::Pool& pool, Link link, persist::LookSite site) {
    return looks_current(pool, link, site);
}
bool is_current(const pool::Pool& pool, const Seen& seen, persist::LookSite site) {
    return looks_current(pool, seen, site);
}
bool is_still_current(const pool::Pool& pool, Link link, persist::LookSite site) {
    return still_looks_current(pool, link, site);
}
bool is_still_current(const pool::Pool& pool, const Seen& seen, persist::LookSite site) {
    return still_looks_current(pool, seen, site);
}

bool read_record(const pool::Pool& pool, Link link, RecordKind kind, RecordCopy& out) {
    if (!is_plausible(pool, link)) return false;
    const std::uint64_t room = pool.room_in_chunk(link.offset());
    const std::byte* const there = pool.at(link.offset());
    const auto fits = [&](const RecordHeader& h) {
        return h.magic == record_magic && (h.version & Link::tag_mask) == link.tag() &&
               static_cast<RecordKind>(h.kind) == kind && has_sane_length(h, room);
    };
    std::byte* const here = out.here_.data();
    const auto& header = *reinterpret_cast<const RecordHeader*>(here);
    bool is_it = false;
    pool.guarded([&] {
        racy_copy(here, there, sizeof header);
        is_it = fits(header);
        if (is_it && header.length <= out.here_.size())
            racy_copy(here + sizeof header, there + sizeof header, header.length - sizeof header);
    });
    if (!is_it) return false;
    out.size_ = header.length;
    if (out.size_ > out.here_.size()) {
        out.elsewhere_.resize(out.size_);
        pool.guarded([&] { racy_copy(out.elsewhere_.data(), there, out.size_); });
        if (out.header().length != out.size_ || !fits(out.header())) return false;
    }
    return checksum_of(out.header(), link.offset()) == out.header().checksum;
}

#if defined(__SANITIZE_THREAD__)
__attribute__((no_sanitize("thread"), noinline))
#endif
void racy_copy(void* to, const void* from, std::size_t bytes) {
    const auto* source = static_cast<const volatile std::uint64_t*>(from);
    auto* target = static_cast<std::byte*>(to);
    std::size_t i = 0;
    // Word by word: four that are gathered first and then copied as one vector wait for each other (an id found: a quarter more).
    // No lambda: what is said to the thread sanitizer of this function does not hold in one.
#pragma GCC unroll 4
    for (; i + 8 <= bytes; i += 8, ++source) {
        const std::uint64_t word = *source;
        std::memcpy(target + i, &word, 8);
    }
    const auto* rest = static_cast<const volatile std::uint8_t*>(from);
    for (; i < bytes; ++i) target[i] = static_cast<std::byte>(rest[i]);
}

bool is_whole(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room) {
    const auto& header = pool.as<RecordHeader>(offset);
    return header.magic == record_magic && has_sane_length(header, room) &&
           checksum_of(header, offset) == header.checksum;
}

bool is_hidden(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room) {
    const auto& header = pool.as<RecordHeader>(offset);
    return header.magic == record_magic && has_sane_length(header, room) &&
           hidden_checksum(checksum_of(header, offset)) == header.checksum;
}

}  // namespace pmemcpy::heap
