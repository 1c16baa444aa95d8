#include "pmem/at_exit.hpp"

#include "os/fork.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <utility>

namespace pmemcpy::pmem {
namespace {

struct List {
    List* before = nullptr;  // the parent's
    std::uint64_t fork_generation = os::fork_generation();
    std::mutex mutex;
    std::set<const std::function<void()>*> all;
};

// A forked child has a list of its own: the parent's may be locked by a thread that the child does not have. Lists are never freed, for
// who is destroyed after main() still looks into his.
std::atomic<List*> newest = nullptr;

void call_all() {
    List* const list = newest.load();
    if (list == nullptr || list->fork_generation != os::fork_generation()) return;
    const std::lock_guard lock(list->mutex);
    for (const auto* f : list->all) (*f)();
}

List& list_of_this_process() {
    List* list = newest.load();
    while (list == nullptr || list->fork_generation != os::fork_generation()) {
        auto* const fresh = new List;
        fresh->before = list;
        if (newest.compare_exchange_strong(list, fresh)) {
            // What is registered again in a child is called twice there, and finds nothing the second time.
            std::atexit(call_all);
            return *fresh;
        }
        delete fresh;
    }
    return *list;
}

}  // namespace

AtExit::AtExit(std::function<void()> f) : f_(std::move(f)) {
    List& list = list_of_this_process();
    const std::lock_guard lock(list.mutex);
    list.all.insert(&f_);
}

// In a forked child whose parent registered it there is nothing to take back.
AtExit::~AtExit() {
    List* const list = newest.load();
    if (list == nullptr || list->fork_generation != os::fork_generation()) return;
    const std::lock_guard lock(list->mutex);
    list->all.erase(&f_);
}

}  // namespace pmemcpy::pmem
