#pragma once

#include "shares/fair.hpp"
#include "shares/ledger.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pmemcpy::shares {

/// What a pool's hierarchy says of a target.
struct Terms {
    std::uint64_t weight = 1;
    std::uint64_t together_bytes = 0;  // that all pools may use; 0: what there is
    bool may_not_leave = false;        // what is put there can go nowhere else
    bool has_scratch = false;          // there may be blocks that are to go when the job ends
};

/// Another pool that uses a directory.
struct Other {
    std::string directory;  // of its own, in this one; empty if there is none
    std::uint64_t used_bytes = 0;
    std::uint64_t weight = 1;
    bool is_open = false;  // for writing, by anybody
    bool needs = false;
    bool writes = false;
    bool may_have_scratch = false;
};

/// What somebody sees who only looks.
struct View {
    std::vector<Other> others;
    std::uint64_t part_bytes = 0;   // of the pool that asks; 0: nobody has it open for writing
    std::uint64_t total_bytes = 0;  // for all together
};

/// One pool's share of a directory in which others may have targets too, as long as this lives. Any thread may call anything.
class Share {
public:
    /// Null where no ledger can be had, or all its slots are taken: then nobody is considered, and nobody considers this pool.
    static std::unique_ptr<Share> open(const std::string& directory,
                                       const std::array<std::uint8_t, 16>& identity, const Terms& terms);
    static View look(const std::string& directory, const std::array<std::uint8_t, 16>& identity,
                     const Terms& terms);
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() = default;

    bool is_there() const { return ledger_.is_there(); }

    // ---- capacity ----

    /// Says what the pool uses: what `count` finds that all its processes have counted together. Of two processes that publish at once the later one
    /// wins, whichever stores last: who has stored looks once more.
    template <class Count>
    void publish(const Count& count) const {
        for (std::uint64_t now = count(), then = ~now; now != then;) {
            say_used(now);
            then = std::exchange(now, count());
        }
    }
    /// Nothing, if there is nobody else and nothing to be kept.
    std::optional<Standing> standing(std::uint64_t used_bytes) const;
    /// Somebody wanted to put so many bytes there. If the pool's part has room for them and the directory has not, others make way.
    void want(std::uint64_t used_bytes, std::uint64_t bytes) const;
    /// The job has ended in the normal way, and its scratch blocks are gone.
    void end_scratch() const;

    // ---- bandwidth ----

    /// While one lives, the pool has something to write there: others who are ahead of it wait. `takes_s`: how long a piece takes, about; who is
    /// stopped, or much slower, is waited for no longer than four times that (a second at least, half a minute at most).
    class Turn {
    public:
        Turn(const Share* share, double takes_s);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        /// So much was written. Waits while the pool is ahead of another one that has something to write; as long as `goes_on`, which is
        /// asked now and then.
        void wrote(std::uint64_t bytes, const std::function<bool()>& goes_on = {}) const;

    private:
        const Share* share_;
        std::uint64_t window_ns_;
    };

private:
    Share(Ledger ledger, std::size_t slot, os::File directory, const Terms& terms);
    void say_used(std::uint64_t bytes) const;
    bool is_ahead(std::uint64_t now) const;

    Ledger ledger_;
    std::size_t slot_;
    os::File directory_;
    Terms terms_;
    mutable std::atomic<unsigned> turns_ = 0;
};

}  // namespace pmemcpy::shares
