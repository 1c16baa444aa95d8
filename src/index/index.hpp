#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <pmemcpy/index.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "index/asked.hpp"
#include "index/candidates.hpp"
#include "index/keeper.hpp"
#include "index/lookup.hpp"
#include "index/plan.hpp"
#include "index/surroundings.hpp"

namespace pmemcpy::index {

/// The index beside one open pool: what a PMEM has of it.
///
/// It reads the pool as any other reader does, through an attachment of its own, so that it never sees what the PMEM has stored
/// in a step that is not committed; and it hears of changes by the feed, so that no room below knows of it.
class Index {
public:
    /// `is_new`: the pool has just been made, so that what lies beside it is another one's.
    Index(std::shared_ptr<store::Store> store, std::string path, const Options& options, bool is_new);
    ~Index();
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

    /// Stops what works in the background, with the index up to date if that is possible. Does not throw.
    void close();

    IndexMode mode() const;
    void set_mode(IndexMode mode);
    IndexMode mode_of(std::string_view id) const;
    void set_mode_of(std::string_view id, std::optional<IndexMode> mode);
    void flush();
    IndexInfo info();

    /// Which objects a condition may mean; nothing where only a look at all of them tells. `ids`, if not null, is where those go
    /// that come sorted and for sure, which are no candidates then.
    std::optional<Candidates> candidates(Asked& asked, Steps steps, Surroundings& around,
                                         std::vector<std::string>* ids = nullptr);
    /// Where the feed is now: what was told at another position may have changed.
    std::uint64_t position() const { return store_->feed().position(); }
    std::optional<std::uint64_t> position_of_whole() const;
    /// Why the last ones could not be told, for people.
    std::string why_not();

    static Index& of(const PMEM& pool);
    /// Of the side of a pool that an id is on.
    static Index& of_side_of(const PMEM& pool, std::string_view id);
    /// Null where this user has nothing private beside the pool.
    static PMEM* private_side_of(const PMEM& pool) { return pool.own_side(); }
    /// Of the side of the pool that this is the index of, sorted.
    std::vector<std::string> ids(std::string_view prefix, bool groups) const {
        return store_->ids(prefix, groups);
    }

private:
    bool is_writer() const { return !store_->read_only(); }
    void start();
    void stop();
    void work();
    bool wait_for_pause();
    bool has_all();
    void wake();
    void after_change(std::uint64_t place);
    IndexMode mode_of_place(std::uint64_t place) const;
    /// All that was changed before is in the index, but for so many. False when more is to be looked at. Errors: those of Keeper::follow().
    bool follow(Keeper::MayMiss most = {});
    bool try_follow(Keeper::MayMiss most = {});
    void note(const std::string& trouble);
    bool keeps() const { return is_writer() && mode_ != IndexMode::none; }
    /// What a query of this process reads; null where there is none.
    std::shared_ptr<Engine> engine();
    std::shared_ptr<Engine> engine_to_read();
    class Lent;
    std::unique_ptr<Lookup> take_lookup();
    void take_back(std::unique_ptr<Lookup> lookup);
    void forget_lookups();
    std::optional<Candidates> candidates_in(const Lookup& lookup, const pool::Changes& changes, Asked& asked,
                                            Steps steps, Object* pool, std::vector<std::string>* ids) const;
    std::shared_ptr<Keeper> keeper();

    std::shared_ptr<store::Store> store_;
    std::string path_;
    Options options_;
    std::uint64_t fork_generation_;
    std::atomic<IndexMode> mode_ = IndexMode::none;  // that this process keeps it by
    std::atomic<bool> has_own_modes_ = false;        // some objects are kept by others
    // Another process holds the index: bringing changes in is left to the thread until it has come through, so that no store waits.
    std::atomic<bool> is_held_up_ = false;
    std::atomic<std::uint64_t> has_heard_ = 0;  // up to here of the feed at least the index

    std::mutex mutex_;
    PMEM reader_;                                   // opened with the first need
    std::shared_ptr<Keeper> keeper_;                // of a writer
    std::shared_ptr<Engine> engine_;                // of who may only read
    std::vector<std::unique_ptr<Lookup>> lookups_;  // that no query is at
    std::string trouble_;
    std::string why_not_;

    /// What works in the background. A forked child leaves its copy alone: who waits in it is the parent's.
    struct Worker {
        std::thread thread;
        std::mutex mutex;
        std::condition_variable wake;
        bool stops = false;
    };
    std::unique_ptr<Worker> worker_ = std::make_unique<Worker>();  // there for as long as anybody may wake it
    std::atomic<bool> is_idle_ = false;
};

/// The index is empty, and none of what was in it is in a file any more: whoever keeps it makes it anew.
void begin_anew(const store::Store& store);

}  // namespace pmemcpy::index
