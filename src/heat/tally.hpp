#pragma once

#include "heat/format.hpp"
#include "os/file.hpp"
#include "os/map.hpp"
#include "tier/heat.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace pmemcpy::heat {

/// The key of a variable; a block's is its version.
constexpr std::uint64_t key_of_variable(std::uint64_t incarnation) { return incarnation | 1ULL << 63; }

/// What all processes together count. Any thread may call anything. Where somebody has cut off the file, nothing is counted.
class Tally {
public:
    /// The file beside a pool; of who may write the pool made, if it is missing or another pool's. Null where it cannot be had: then
    /// nothing is counted, and nothing is hot.
    static std::shared_ptr<Tally> open(const os::File& pool, const std::array<std::uint8_t, 16>& uuid,
                                       bool read_only);
    static void remove(const os::File& pool);

    // ---- of who may write the pool ----

    void add(Count count, std::uint64_t by = 1) const;
    void add(std::uint32_t target, Flow flow, std::uint64_t by) const;
    /// One more read, or as many as are given, now.
    void read(std::uint64_t key, double half_life_s, double reads = 1) const;
    /// Sets some marks and takes others away. Returns what was there.
    std::uint64_t mark(std::uint64_t block, std::uint64_t set, std::uint64_t clear) const;
    /// The same for a block that is known already: nothing is made for one that is not.
    std::uint64_t mark_known(std::uint64_t block, std::uint64_t set, std::uint64_t clear) const;
    /// All counts and flows from zero; heat stays.
    void begin_counting() const;
    void set_least_score(std::uint32_t target, std::uint32_t score) const;

    // ---- of anybody ----

    std::uint64_t count(Count count) const;
    std::uint64_t flow(std::uint32_t target, Flow flow) const;
    std::uint32_t least_score(std::uint32_t target) const;
    std::uint64_t since_ns() const;
    std::uint64_t marks_of(std::uint64_t block) const;
    /// Need, reads until now, and when it was last read. Nothing of what was never read, or forgotten.
    std::optional<tier::Past> past_of(std::uint64_t key, double half_life_s) const;

private:
    explicit Tally(os::Mapping map) : map_(std::move(map)) {}
    template <class F>
    void change(const F& f) const;
    std::uint64_t word(const std::uint64_t& word) const;
    HeatFile& file() const { return *reinterpret_cast<HeatFile*>(map_.base()); }
    Thing* find(std::uint64_t key) const;
    Thing& make(std::uint64_t key, std::uint64_t now_ms) const;
    Thing* bucket_of(std::uint64_t key) const;

    os::Mapping map_;
};

}  // namespace pmemcpy::heat
