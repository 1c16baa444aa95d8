#pragma once

#include "layout/payload_files.hpp"
#include "layout/throttle.hpp"
#include "layout/trouble.hpp"
#include "shares/share.hpp"

#include <pmemcpy/error.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pmemcpy::layout {

/// A target below the pool, as the pool's hierarchy says it.
struct Mount {
    std::uint32_t number = 0;  // that extents name
    std::string name;
    std::string path;  // of a directory, in which the pool has one of its own
    std::uint64_t capacity_bytes = 0;
    std::optional<Limits> limits{};
    shares::Terms terms{};  // on which it is shared with other pools
};

inline constexpr std::uint32_t directory_target = 1;    // `.data`, beside the records
inline constexpr std::uint32_t first_target_below = 2;  // and up to, but not with,
inline constexpr std::uint32_t targets_end = 16;

/// All extents outside of the pool file: which target has one, and where that is.
class Targets final : public heap::Outside {
public:
    /// The targets below the pool. Asked when an extent lies there, and anew when the hierarchy's word in the state page has changed.
    using Mounts = std::function<std::vector<Mount>()>;
    Targets(heap::Heap& heap, Mounts mounts);
    ~Targets() override;
    Targets(const Targets&) = delete;
    Targets& operator=(const Targets&) = delete;

    /// The payloads beside the records, in the directory layout.
    void set_home(PayloadFiles* home);

    heap::Extent allocate(std::uint32_t target, std::uint64_t length) override;
    bool may_be(std::uint32_t target) const override;
    /// Errors: io_error for a target that is not there.
    heap::Bytes map(const heap::Extent& extent, bool create) override;
    void shrink(heap::Extent& extent, std::uint64_t length) override;
    void settle(const heap::Extent& extent) override;
    void free(const heap::Extent& extent) override;
    void keep_only(const std::vector<heap::Extent>& extents) override;
    /// What keep_only could not do below the pool, because where that is stands in the catalog.
    void finish_recovery();

    /// Bytes in the files of a target below the pool.
    std::uint64_t used_bytes(std::uint32_t target) const;
    /// Waits as long as an access of so many bytes takes in a target that is limited.
    void pace(std::uint32_t target, Throttle::Way way, std::uint64_t bytes) {
        if (target >= first_target_below) wait_for(target, way, bytes);
    }
    /// What the pool may take of a target below it now. Nothing where no other pool uses its directory, and nothing is to be kept.
    std::optional<shares::Standing> standing_in(std::uint32_t target);
    /// Somebody wanted to put so many bytes there: others make way, if the pool's part has room for them.
    void want(std::uint32_t target, std::uint64_t bytes);
    /// While it lives, there is something to write to a target: see shares::Share::Turn. `takes_s`: a piece of it.
    class Turn {
    public:
        Turn(Targets& targets, std::uint32_t target, double takes_s);
        void wrote(std::uint64_t bytes, const std::function<bool()>& goes_on = {}) const {
            if (turn_) turn_->wrote(bytes, goes_on);
        }

    private:
        std::shared_ptr<shares::Share> share_;
        std::optional<shares::Share::Turn> turn_;
    };
    /// The job has ended, and nothing of it is left that was to go then.
    void end_scratch(std::uint32_t target);
    /// Which other pools use its directory.
    shares::View others_in(std::uint32_t target);
    /// Why nothing is put into a target below the pool at present; empty if it is well.
    std::string trouble_of(std::uint32_t target);
    /// A look of now, for a file or directory that has just been written below the pool: its path still leads to it. Errors: io_error.
    void check_reached(std::uint32_t target, const os::File& written);
    /// By a look of now, whether the target is there.
    bool is_reached(std::uint32_t target);
    /// Whether what is in a target below the pool cannot be read either: it is not mounted, or its directory is gone.
    bool is_away(std::uint32_t target);
    /// For a while nobody, in any process, puts anything there; what is there can be read.
    void set_aside(std::uint32_t target, Trouble why);
    static constexpr std::uint64_t aside_ns = 10'000'000'000;
    /// Makes the pool's own directory in that of the target, if it is missing. Errors: not_found, permission_denied, busy.
    void prepare(const Mount& mount);
    std::string name_of(std::uint32_t target);
    /// Errors: io_error for a target that is not there.
    std::shared_ptr<PayloadFiles> files_of(std::uint32_t target);

private:
    struct Below {
        Below(heap::Heap& heap, const Mount& mount);
        Mount mount;
        os::File directory;
        std::optional<Error> refusal;  // why this pool may only read there; none where it has the claim
        std::uint64_t asked_ns = 0;    // when it asked for the claim
        std::shared_ptr<shares::Share> share;  // null where it cannot be shared
        PayloadFiles files;
        std::unique_ptr<Throttle> throttle;
        /// Whether it is still what is found under its path, by a look that may be a tenth of a second old.
        bool is_there(const pool::Pool& pool);
        std::uint64_t looked_ns;
    };
    void wait_for(std::uint32_t target, Throttle::Way way, std::uint64_t bytes);
    static std::shared_ptr<shares::Share> share_of(const pool::Pool& pool, const Mount& mount);
    /// Errors: io_error for a target that is not there; busy, permission_denied where a copy of a pool's file may not write.
    std::shared_ptr<Below> below(std::uint32_t target);
    /// That, or one that a copy of the pool's file may only read.
    std::shared_ptr<Below> below_to_read(std::uint32_t target);
    void look_again();

    heap::Heap& heap_;
    Mounts mounts_of_;
    PayloadFiles* home_ = nullptr;
    std::mutex mutex_;
    std::uint64_t hierarchy_ =
        ~std::uint64_t{0};  // none yet; the state page's word when the mounts were asked for
    std::vector<Mount> mounts_;
    std::array<std::shared_ptr<Below>, targets_end> below_{};
    bool recovered_ = false;
    std::uint64_t recovered_before_ = 0;  // versions drawn since are not what recovery has seen
    std::vector<heap::Extent> kept_;
};

}  // namespace pmemcpy::layout
