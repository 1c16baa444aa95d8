#include "persist/ways.hpp"

#include <algorithm>

#include "base/crc32c.hpp"
#include "os/guard.hpp"
#include "os/map.hpp"
#include "os/process.hpp"
#include "persist/copy.hpp"

namespace pmemcpy::persist {

namespace {

// Less is not worth the look.
constexpr std::size_t least_bytes = std::size_t{128} * 1024;
// Stored through the mapping to see whether that meets a fault for each small page.
constexpr std::size_t tried_bytes = std::size_t{16} * 1024;
constexpr std::uint64_t faults_of_small_pages = 3;
// Bytes are looked at, and then written while the second-level cache holds them.
constexpr std::size_t call_bytes = std::size_t{128} * 1024;
// At first both are tried several times, for a single time may be a bad one; later the slower one now and then, so that all
// its trials together cost a hundredth.
constexpr std::uint64_t few_trials = 4;  // enough where one takes twice as long
constexpr std::uint64_t first_trials = 8;
constexpr std::uint64_t least_turns_between_trials = 32;
constexpr std::uint64_t most_turns_between_trials = 512;

/// One store on its way.
class Passage {
public:
    Passage(const Medium& medium, const Place& place, const Wanted& wanted, Characteristic& known, Site site)
        : medium_(medium), place_(place), wanted_(wanted), known_(known), site_(site) {}

    bool through_mapping(const std::byte* source, std::size_t size) {
        std::byte* to = place_.mapped + done_;
        Characteristic part;
        const auto copy = [&] {
            if (wanted_.element != Element::none)
                part = copy_to_medium_characterised(medium_, to, source, size, wanted_.element, site_);
            else if (wanted_.crc)
                part.crc = copy_to_medium_crc(medium_, to, source, size, site_);
            else
                copy_to_medium(medium_, to, source, size, site_);
        };
        bool is_source_there = true;
        const bool alive = os::guarded(to, size, [&] { is_source_there = looking_at(source, size, copy); });
        if (alive && is_source_there) join(part, size);
        return alive && is_source_there;
    }

    bool by_calls(const std::byte* source, std::size_t size) {
        for (std::size_t at = 0; at < size; at += call_bytes) {
            const std::size_t length = std::min(call_bytes, size - at);
            Characteristic part;
            const bool is_there = looking_at(source + at, length, [&] {
                if (wanted_.element != Element::none)
                    part = characterise(source + at, length, wanted_.element);
                else if (wanted_.crc)
                    part.crc = base::crc32c(0, source + at, length);
            });
            if (!is_there) return false;
            place_.file->write_exactly(source + at, length, place_.offset + done_);
            trace_bulk(place_.mapped + done_, length, site_);
            join(part, length);
        }
        return true;
    }

    bool piece(const std::byte* source, std::size_t size) {
        Ways& ways = *place_.ways;
        const std::uint64_t offset = place_.offset + done_;
        const Ways::Piece known = ways.piece(offset);
        if (known == Ways::Piece::mapped || size <= tried_bytes) return through_mapping(source, size);
        if (known == Ways::Piece::written_by_call) return through_mapping_from_now_on(offset, source, size);
        const std::uint64_t faults = os::page_faults();
        if (!through_mapping(source, tried_bytes)) return false;
        const bool has_small_pages = os::page_faults() - faults >= faults_of_small_pages;
        source += tried_bytes;
        size -= tried_bytes;
        if (!has_small_pages) {
            ways.set(offset, Ways::Piece::mapped);
            return through_mapping(source, size);
        }
        const Ways::Way way = ways.next();
        const std::uint64_t begin = os::monotonic_ns();
        if (way == Ways::Way::call) {
            if (!by_calls(source, size)) return false;
            ways.set(offset, Ways::Piece::written_by_call);
        } else {
            if (!through_mapping_from_now_on(offset, source, size)) return false;
        }
        ways.took(way, os::monotonic_ns() - begin, size);
        return true;
    }

private:
    template <class F>
    bool looking_at(const std::byte* source, std::size_t size, F&& f) const {
        if (wanted_.source_may_vanish) return os::guarded(source, size, f);
        f();
        return true;
    }

    // All faults in one call.
    bool through_mapping_from_now_on(std::uint64_t piece, const std::byte* source, std::size_t size) {
        os::populate(place_.mapped + done_, size);
        place_.ways->set(piece, Ways::Piece::mapped);
        return through_mapping(source, size);
    }

    void join(const Characteristic& part, std::size_t size) {
        known_.crc = done_ == 0 || !(wanted_.crc || wanted_.element != Element::none)
                         ? part.crc
                         : base::crc32c_combine(known_.crc, part.crc, size);
        widen(known_, part, wanted_.element);
        done_ += size;
    }

    const Medium& medium_;
    const Place& place_;
    const Wanted& wanted_;
    Characteristic& known_;
    Site site_;
    std::uint64_t done_ = 0;
};

}  // namespace

std::atomic<Ways::Piece>& Ways::known(std::uint64_t offset) {
    std::call_once(first_, [&] { known_ = std::make_unique<Known>(); });
    return (*known_)[offset / piece_bytes % known_pieces];
}

Ways::Piece Ways::piece(std::uint64_t offset) { return known(offset).load(std::memory_order_relaxed); }

void Ways::set(std::uint64_t offset, Piece piece) { known(offset).store(piece, std::memory_order_relaxed); }

void Ways::forget(std::uint64_t bytes) {
    for (std::uint64_t offset = 0; offset < bytes; offset += piece_bytes) set(offset, Piece::unknown);
}

Ways::Way Ways::next() {
    const std::uint64_t turn = turns_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t call = picoseconds_a_byte_[0].load(std::memory_order_relaxed);
    const std::uint64_t map = picoseconds_a_byte_[1].load(std::memory_order_relaxed);
    const auto [least, greatest] = std::minmax(call, map);
    const bool is_plain = greatest > 2 * least;
    if (turn < (is_plain ? few_trials : first_trials)) return turn % 2 == 0 ? Way::call : Way::map;
    // What is mapped has to be unmapped again, which nobody sees here: about as much as a fifth of the faults.
    const bool is_call_faster = call * 4 <= map * 5;
    const Way faster = is_call_faster ? Way::call : Way::map;
    const Way slower = is_call_faster ? Way::map : Way::call;
    const std::uint64_t between = std::clamp(100 * (greatest - least) / std::max<std::uint64_t>(least, 1),
                                             least_turns_between_trials, most_turns_between_trials);
    return turn % between == between - 1 ? slower : faster;
}

// The last few weigh most: how many others write at the same time changes.
void Ways::took(Way way, std::uint64_t nanoseconds, std::uint64_t bytes) {
    const std::uint64_t now =
        std::max<std::uint64_t>(nanoseconds * 1000 / std::max<std::uint64_t>(bytes, 1), 1);
    std::atomic<std::uint64_t>& mean = picoseconds_a_byte_[static_cast<std::size_t>(way)];
    const std::uint64_t before = mean.load(std::memory_order_relaxed);
    mean.store(before == 0 ? now : (3 * before + now) / 4, std::memory_order_relaxed);
}

bool store(const Medium& medium, const Place& place, const void* source, std::size_t size,
           const Wanted& wanted, Characteristic& known, Site site) {
    Passage passage(medium, place, wanted, known, site);
    const auto* from = static_cast<const std::byte*>(source);
    // Where a line is durable once it is flushed, what a write call stores would have to be flushed again.
    const bool only_mapped = place.file == nullptr || place.ways == nullptr || size < least_bytes ||
                             medium.durability() == Durability::line ||
                             medium.durability() == Durability::byte;
    if (only_mapped) return passage.through_mapping(from, size);
    // A write call beyond the limit is a signal, and the pool may have been grown by somebody without it.
    if (place.offset + size > os::file_size_limit()) return passage.through_mapping(from, size);
    for (std::size_t done = 0; done < size;) {
        const std::size_t room = Ways::piece_bytes - (place.offset + done) % Ways::piece_bytes;
        const std::size_t length = std::min(room, size - done);
        if (!passage.piece(from + done, length)) return false;
        done += length;
    }
    return true;
}

}  // namespace pmemcpy::persist
