#include "heat/tally.hpp"

#include "os/access.hpp"
#include "os/guard.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "pool/runtime.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>
#include <utility>

namespace pmemcpy::heat {

namespace {

constexpr std::uint64_t time_bits = 40;
constexpr std::uint64_t time_mask = (1ULL << time_bits) - 1;
constexpr unsigned float_bits_left_out = 8;

std::uint64_t now_ms() { return os::wall_ns() / 1'000'000; }

std::uint64_t load(const std::uint64_t& word) {
    return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_relaxed);
}
void count_up(std::uint64_t& word, std::uint64_t by) {
    std::atomic_ref(word).fetch_add(by, std::memory_order_relaxed);
}

std::uint64_t packed(double reads, std::uint64_t ms) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(reads));
    return static_cast<std::uint64_t>(bits >> float_bits_left_out) << time_bits | (ms & time_mask);
}
// Whatever stands there is some number of reads.
double reads_in(std::uint64_t word) {
    const auto reads =
        std::bit_cast<float>(static_cast<std::uint32_t>(word >> time_bits) << float_bits_left_out);
    return reads >= 0 && reads < 1e30F ? static_cast<double>(reads) : 0;
}
// How long ago that was; 0 for a time that has not come yet, because somebody has set the clock.
std::uint64_t age_ms(std::uint64_t word, std::uint64_t now) {
    const std::uint64_t age = (now - word) & time_mask;
    return age > time_mask / 2 ? 0 : age;
}
double reads_now(std::uint64_t word, std::uint64_t now, double half_life_s) {
    return tier::faded(reads_in(word), static_cast<double>(age_ms(word, now)) / 1000, half_life_s);
}

std::string path_of(const os::File& pool) { return pool::path_beside(pool, ".heat"); }

// Whoever may read the pool may see the numbers, and who may write it counts.
unsigned mode_for(unsigned pool_mode) { return (pool_mode & 0666) | 0600; }

// Any user of the directory may cut the file off at any moment: memory that is gone reads as if nothing had been counted.
template <class F>
auto guarded(const os::Mapping& map, const F& f) {
    decltype(f()) result{};
    static_cast<void>(os::guarded(map.base(), sizeof(HeatFile), [&] { result = f(); }));
    return result;
}

bool is_its(const os::Mapping& map, const std::array<std::uint8_t, 16>& uuid) {
    const auto& file = *reinterpret_cast<const HeatFile*>(map.base());
    return guarded(map, [&] {
        return std::atomic_ref(const_cast<std::uint64_t&>(file.magic)).load(std::memory_order_acquire) ==
                   heat_magic &&
               file.uuid == uuid;
    });
}

std::optional<os::Mapping> found(const os::File& pool, const std::array<std::uint8_t, 16>& uuid,
                                 bool read_only) {
    auto file = os::File::open_if_exists(path_of(pool), (read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW);
    if (!file) return std::nullopt;
    pool::refuse_foreign(*file, pool);
    if (!file->is_regular() || file->size() < sizeof(HeatFile)) return std::nullopt;
    // A copy of it may have holes, which would be a signal on a full device.
    if (!read_only && file->allocated_bytes() < sizeof(HeatFile)) file->allocate(0, sizeof(HeatFile));
    os::Mapping map(*file, sizeof(HeatFile), {read_only ? os::Access::read : os::Access::read_write});
    return is_its(map, uuid) ? std::make_optional(std::move(map)) : std::nullopt;
}

// Of another pool, or begun and not finished. A user may have called something of their own so.
bool is_to_be_replaced(const std::string& path) {
    const auto file = os::File::open_if_exists(path, O_RDONLY | O_NOFOLLOW);
    if (!file || !file->is_regular() || file->size() == 0) return true;
    std::uint64_t magic = 0;
    if (file->size() >= sizeof magic) file->read_exactly(&magic, sizeof magic, offsetof(HeatFile, magic));
    return magic == heat_magic;
}

// Gets its name when it is whole. Of two that make one at once the second takes the first's.
void make_file(const os::File& pool, const std::array<std::uint8_t, 16>& uuid) {
    const std::string path = path_of(pool);
    os::File file = os::File::create_unnamed(path, 0600);
    file.allocate(0, sizeof(HeatFile));  // else a full device is a signal, later
    os::share_like(file, pool, mode_for(pool.mode_bits()));
    {
        const os::Mapping map(file, sizeof(HeatFile));
        auto& fresh = *reinterpret_cast<HeatFile*>(map.base());
        fresh.uuid = uuid;
        fresh.since_ns = os::wall_ns();
        std::atomic_ref(fresh.magic).store(heat_magic, std::memory_order_release);
    }
    try {
        file.link_as(path);
    } catch (const Error& error) {
        if (error.kind() != Code::already_exists) throw;
        if (found(pool, uuid, false)) return;
        if (!is_to_be_replaced(path)) throw;
        pool::check_in_place(pool);  // else it is another pool's, in the right place
        os::remove_file(path);
        file.link_as(path);
    }
}

}  // namespace

std::shared_ptr<Tally> Tally::open(const os::File& pool, const std::array<std::uint8_t, 16>& uuid,
                                   bool read_only) {
    try {
        auto map = found(pool, uuid, read_only);
        if (!map && !read_only) {
            make_file(pool, uuid);
            map = found(pool, uuid, read_only);
        }
        if (map) return std::shared_ptr<Tally>(new Tally(std::move(*map)));
    } catch (const Error&) {
        // No room for it, or somebody else's file: then nothing is counted.
    }
    return nullptr;
}

// What lies beside the name of a pool that was moved is another's, and its own was moved with it.
void Tally::remove(const os::File& pool) {
    if (pool::is_in_place(pool)) os::remove_file(path_of(pool));
}

template <class F>
void Tally::change(const F& f) const {
    static_cast<void>(os::guarded(map_.base(), sizeof(HeatFile), f));
}

Thing* Tally::bucket_of(std::uint64_t key) const {
    return &file().things[(key * 0x9e3779b97f4a7c15ULL >> 40) % bucket_count * bucket_things];
}

Thing* Tally::find(std::uint64_t key) const {
    Thing* const bucket = bucket_of(key);
    for (std::size_t i = 0; i < bucket_things; ++i) {
        if (load(bucket[i].key) == key) return &bucket[i];
    }
    return nullptr;
}

// Two may make the same thing twice at once; then the second stays unread and is forgotten.
Thing& Tally::make(std::uint64_t key, std::uint64_t now) const {
    if (Thing* const there = find(key)) return *there;
    Thing* const bucket = bucket_of(key);
    Thing* coldest = bucket;
    double least = 0;
    for (std::size_t i = 0; i < bucket_things; ++i) {
        Thing& thing = bucket[i];
        // What was never read and marked long ago is as good as free. A day is long for the table, whatever the half-life is.
        constexpr double table_half_life_s = 3600;
        const double reads = load(thing.key) == 0 ? -1 : reads_now(load(thing.reads), now, table_half_life_s);
        if (i == 0 || reads < least) {
            coldest = &thing;
            least = reads;
        }
    }
    std::atomic_ref(coldest->key).store(key, std::memory_order_relaxed);
    std::atomic_ref(coldest->reads).store(packed(0, now), std::memory_order_relaxed);
    std::atomic_ref(coldest->marks).store(0, std::memory_order_relaxed);
    return *coldest;
}

// The rest works in memory that may vanish: it is left by a long jump then, and owns nothing.

void Tally::add(Count count, std::uint64_t by) const {
    change([&] { count_up(file().counts[static_cast<std::size_t>(count)], by); });
}

void Tally::add(std::uint32_t target, Flow flow, std::uint64_t by) const {
    change([&] { count_up(file().flows[target % target_count][static_cast<std::size_t>(flow)], by); });
}

void Tally::read(std::uint64_t key, double half_life_s, double reads) const {
    const std::uint64_t now = now_ms();
    change([&] {
        const std::atomic_ref word(make(key, now).reads);
        std::uint64_t before = word.load(std::memory_order_relaxed);
        while (!word.compare_exchange_weak(before, packed(reads_now(before, now, half_life_s) + reads, now),
                                           std::memory_order_relaxed)) {
        }
    });
}

std::uint64_t Tally::mark(std::uint64_t block, std::uint64_t set, std::uint64_t clear) const {
    const std::uint64_t now = now_ms();
    change([&] { make(block, now); });
    return mark_known(block, set, clear);
}

std::uint64_t Tally::mark_known(std::uint64_t block, std::uint64_t set, std::uint64_t clear) const {
    return guarded(map_, [&]() -> std::uint64_t {
        Thing* const thing = find(block);
        if (thing == nullptr) return 0;
        const std::atomic_ref marks(thing->marks);
        std::uint64_t before = marks.load(std::memory_order_relaxed);
        while (((before & ~clear) | set) != before &&
               !marks.compare_exchange_weak(before, (before & ~clear) | set, std::memory_order_relaxed)) {
        }
        return before;
    });
}

void Tally::begin_counting() const {
    const auto clear = [](std::uint64_t& word) { std::atomic_ref(word).store(0, std::memory_order_relaxed); };
    const std::uint64_t now_ns = os::wall_ns();
    change([&] {
        for (std::uint64_t& word : file().counts) clear(word);
        for (auto& target : file().flows) {
            for (std::uint64_t& word : target) clear(word);
        }
        std::atomic_ref(file().since_ns).store(now_ns, std::memory_order_relaxed);
    });
}

void Tally::set_least_score(std::uint32_t target, std::uint32_t score) const {
    change([&] {
        std::atomic_ref(file().least_score[target % target_count]).store(score, std::memory_order_relaxed);
    });
}

std::uint64_t Tally::word(const std::uint64_t& word) const {
    return guarded(map_, [&] { return load(word); });
}

std::uint64_t Tally::count(Count count) const { return word(file().counts[static_cast<std::size_t>(count)]); }

std::uint64_t Tally::flow(std::uint32_t target, Flow flow) const {
    return word(file().flows[target % target_count][static_cast<std::size_t>(flow)]);
}

std::uint32_t Tally::least_score(std::uint32_t target) const {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(word(file().least_score[target % target_count]), tier::most_heat));
}

std::uint64_t Tally::since_ns() const { return word(file().since_ns); }

std::uint64_t Tally::marks_of(std::uint64_t block) const {
    return guarded(map_, [&] {
        const Thing* const thing = find(block);
        return thing == nullptr ? 0 : load(thing->marks);
    });
}

std::optional<tier::Past> Tally::past_of(std::uint64_t key, double half_life_s) const {
    const std::uint64_t now = now_ms();
    return guarded(map_, [&]() -> std::optional<tier::Past> {
        const Thing* const thing = find(key);
        if (thing == nullptr) return std::nullopt;
        const std::uint64_t word = load(thing->reads);
        const std::uint64_t marks = load(thing->marks);
        tier::Past past;
        if ((marks & mark_no_more) != 0) past.need = tier::Need::no_more;
        if ((marks & mark_soon) != 0) past.need = tier::Need::soon;
        past.reads = reads_now(word, now, half_life_s);
        past.used_ms = now - age_ms(word, now);
        return past;
    });
}

}  // namespace pmemcpy::heat
