#include "layout/directory_layout.hpp"

#include <pmemcpy/error.hpp>

#include <utility>

namespace pmemcpy::layout {
namespace {

constexpr int most_refreshes = 16;  // each one: the variable changed again meanwhile

}  // namespace

DirectoryLayout::DirectoryLayout(heap::Heap& heap, Targets& targets, const Place& place, PayloadOf payload_of)
    : targets_(targets),
      root_(os::File::open(place.directory, O_RDONLY | O_DIRECTORY)),
      data_(open_data(root_)),
      payloads_(heap, data_),
      names_(root_, data_, &heap.pool()),
      payload_of_(std::move(payload_of)) {
    targets_.set_home(&payloads_);
}

DirectoryLayout::~DirectoryLayout() { targets_.set_home(nullptr); }

void DirectoryLayout::changed(std::string_view id, std::uint64_t step) {
    if (step == 0) return refresh(id);
    const std::lock_guard lock(pending_mutex_);
    pending_[step].emplace(id);
}

void DirectoryLayout::settle(std::uint64_t committed_step) {
    std::set<std::string, std::less<>> ids;
    {
        const std::lock_guard lock(pending_mutex_);
        while (!pending_.empty() && pending_.begin()->first <= committed_step) {
            ids.merge(pending_.begin()->second);
            pending_.erase(pending_.begin());
        }
    }
    for (const std::string& id : ids) refresh(id);
}

std::optional<std::uint64_t> DirectoryLayout::payload_of(std::string_view id) const {
    try {
        return payload_of_(id);
    } catch (const Error&) {
        return std::nullopt;  // erased meanwhile, or its records are damaged: no name then
    }
}

// No lock keeps processes from naming the same id at once; but each looks again after it has linked, so that the
// last one to do so has seen the last record.
void DirectoryLayout::refresh(std::string_view id) {
    std::optional<std::uint64_t> wanted = payload_of(id);
    for (int i = 0; i < most_refreshes; ++i) {
        if (wanted) {
            names_.link(id, *wanted);
        } else {
            names_.unlink(id);
        }
        const std::optional<std::uint64_t> now = payload_of(id);
        if (now == wanted) return;
        wanted = now;
    }
}

void DirectoryLayout::heal(const std::function<std::vector<std::string>()>& all_ids) {
    if (!payloads_.take_names_are_stale()) return;
    std::vector<std::string> named;
    for (const std::string& id : all_ids()) {
        if (payload_of(id)) named.push_back(id);
    }
    payloads_.sweep_passing();
    names_.keep_only(named);
    // Looked at once more: others may have stored something that was new to us, and we have taken its name away.
    for (const std::string& id : all_ids()) {
        if (payload_of(id)) refresh(id);
    }
}

}  // namespace pmemcpy::layout
