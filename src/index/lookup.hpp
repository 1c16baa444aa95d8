#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "index/engine/engine.hpp"
#include "index/keeper.hpp"

namespace pmemcpy::index {

/// A key as the index has it.
struct PostedKey {
    std::optional<std::uint32_t> number;  ///< nothing: no object has such a thing
    bool has_more = false;     ///< some objects are posted under `more`, so they are to be looked at
    bool has_several = false;  ///< some have more than one thing under it
    bool has_groups = false;   ///< an attribute: some groups have it, and so their members
};

/// An index as one query after another reads it: what every query asks is read once for as long as nothing is committed.
/// Sharing: one thread at a time.
class Lookup {
public:
    explicit Lookup(std::shared_ptr<Engine> engine);

    /// As of now; after a rest().
    void renew();
    void rest() { snapshot_->rest(); }

    const Engine& engine() const { return *engine_; }
    const Reading& reading() const { return *snapshot_; }
    const About& about() const { return about_; }
    /// By its name in the index. Errors: corrupt, io_error.
    PostedKey key(const std::string& name) const;
    /// Which sorts of things there are under a key: bit 1 << PostedSort of each. Errors: corrupt, io_error.
    unsigned sorts_under(const std::string& name) const;
    /// For who looks up one value: they keep their memory from one query to the next.
    struct Buffers {
        std::string posting;
        std::vector<Posting> postings;
    };
    Buffers& buffers() const { return buffers_; }
    /// An empty list, with the memory of the last one that was left.
    std::vector<Posting> take_list() const;
    void leave(std::vector<Posting>&& list) const;
    /// Some objects could not be read when they were to be posted: any of them may be meant.
    bool has_unposted() const { return has_unposted_; }

private:
    void look_again();
    PostedKey read_key(const std::string& name) const;

    std::shared_ptr<Engine> engine_;
    std::unique_ptr<Snapshot> snapshot_;
    std::uint64_t commits_ = 0;
    About about_;
    bool has_unposted_ = false;
    mutable std::unordered_map<std::string, PostedKey> keys_;  // that were asked for
    mutable std::unordered_map<std::string, unsigned> sorts_;  // the same
    mutable Buffers buffers_;
};

}  // namespace pmemcpy::index
