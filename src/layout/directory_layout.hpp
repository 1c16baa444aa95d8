#pragma once

#include "layout/names.hpp"
#include "layout/payload_files.hpp"
#include "layout/place.hpp"
#include "layout/targets.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::layout {

/// What a pool in a directory has beside its records: payloads in files, and readable names for them. Made before
/// the pool is attached, gone after it is detached.
class DirectoryLayout {
public:
    /// The payload that an id's name should lead to now, as the records say: nothing if it should have no name.
    using PayloadOf = std::function<std::optional<std::uint64_t>(std::string_view id)>;

    DirectoryLayout(heap::Heap& heap, Targets& targets, const Place& place, PayloadOf payload_of);
    ~DirectoryLayout();
    DirectoryLayout(const DirectoryLayout&) = delete;
    DirectoryLayout& operator=(const DirectoryLayout&) = delete;

    const std::string& path() const { return root_.path(); }
    std::uint64_t payload_bytes() const { return payloads_.used_bytes(); }

    void check_room(std::uint64_t bytes) const { payloads_.check_room(bytes); }

    /// The id was stored into, erased, or renamed to or from. In a step its name changes once that is committed.
    void changed(std::string_view id, std::uint64_t step);
    /// The id is about to be erased. Before, because a name that stays behind would keep the space.
    void leaving(std::string_view id) { names_.unlink(id); }
    void group_erased(std::string_view id) { names_.remove_group(id); }
    /// Brings up to date the names of what this process has stored in steps up to `committed_step`.
    void settle(std::uint64_t committed_step);
    /// Makes all names anew if some may be wrong: after a recovery, or after a process died over one.
    void heal(const std::function<std::vector<std::string>()>& all_ids);

private:
    void refresh(std::string_view id);
    std::optional<std::uint64_t> payload_of(std::string_view id) const;

    Targets& targets_;
    os::File root_;
    os::File data_;
    PayloadFiles payloads_;
    Names names_;
    PayloadOf payload_of_;
    std::mutex pending_mutex_;
    std::map<std::uint64_t, std::set<std::string, std::less<>>> pending_;  // by step
};

}  // namespace pmemcpy::layout
