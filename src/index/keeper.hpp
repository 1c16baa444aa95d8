#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/engine/engine.hpp"
#include "index/generations.hpp"
#include "store/store.hpp"

namespace pmemcpy::index {

/// What an index says of itself.
struct About {
    std::uint32_t format = 0;
    std::uint32_t is_complete = 0;
    std::uint64_t position = 0;  // of the feed: what has changed since is not in it yet
    std::uint64_t losses = 0;    // times that changes were missed, so that everything had to be looked at
    std::array<std::uint8_t, 16> uuid{};  // of the pool
};
inline constexpr std::uint32_t index_format = 10;

About about_in(const Reading& reading);
std::string key_of(std::uint64_t place);
std::uint64_t place_in(std::string_view key);

/// Keeps an index as the pool is: looks at what has changed, as any reader sees it, and posts what it is found by.
/// Sharing: threads may share one, and processes have one each.
class Keeper {
public:
    /// `reader`, whose `store` this is, has the pool open for reading; `program` for writing.
    Keeper(const PMEM& reader, const store::Store& store, const store::Store& program,
           Generations generations, std::uint64_t at_most_bytes);

    /// The index, made if it is missing or useless. Errors: those of open_engine(); not_found when the pool is to have none any more.
    std::shared_ptr<Engine> engine();
    /// So many changes may be missing.
    struct MayMiss {
        std::uint64_t changes = 0;
        std::uint64_t while_another_is_at_it = 0;  // not less than those
    };
    /// Everything that was changed before the call is in it, where more than may be missing was not. Returns what it says of itself then:
    /// if it is not complete, more is to be looked at. Errors: those of Feed::start(); io_error if the feed cannot be read.
    About follow(MayMiss most);
    /// Looks at everything, if that is due and nobody else is at it, until done or `stops`. True when the index is complete.
    /// One that is damaged is not: the next call makes another one.
    bool complete(const std::function<bool()>& stops);
    /// For who may read the pool but not write: a copy that never changes, if the last one is older than the index. False when the index is
    /// damaged or replaced, and the next call finds another one; or while another process is at it.
    bool publish_copy();
    /// It survives a power loss.
    void sync();

    std::uint64_t to_do() const { return to_do_; }
    /// A file, on whose first byte the process has a lock that looks at everything.
    std::string lock_path() const { return generations_.directory() + "/lock"; }

private:
    class LookingAtAll;
    std::shared_ptr<Engine> opened();
    void give_up(const std::shared_ptr<Engine>& damaged);
    bool write_copy(const Engine& engine);
    bool try_to_complete(const std::function<bool()>& stops);
    std::uint64_t newest_or_first() const;
    std::shared_ptr<Engine> begin(std::uint64_t generation);
    bool is_of_this_pool(Engine& engine);
    /// What the index says of itself once it has come to this position of the feed; nothing before.
    std::optional<About> follow_some(Engine& engine, std::uint64_t target, std::uint64_t target_of_another);
    void look_at(Writing& writing, std::uint64_t place);
    bool is_posted(const std::string& id) const;
    std::uint64_t fingerprint(const std::string& id) const;
    std::uint32_t number_of(Writing& writing, const std::string& name);
    template <class F>
    void retried(F&& f);

    const PMEM& reader_;
    const store::Store& store_;
    const store::Store& program_;
    Generations generations_;
    std::uint64_t at_most_bytes_;
    std::mutex mutex_;
    std::shared_ptr<Engine> engine_;
    std::uint64_t generation_ = 0;
    std::unordered_map<std::string, std::uint32_t> numbers_;  // of keys, in engine_
    std::atomic<std::uint64_t> to_do_ = 0;
    std::atomic<bool> has_own_modes_ = false;  // some objects are to be indexed otherwise than the pool is
    std::optional<std::uint64_t> copied_position_;
};

}  // namespace pmemcpy::index
