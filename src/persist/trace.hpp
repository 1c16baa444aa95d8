#pragma once

#include <cstddef>
#include <source_location>

namespace pmemcpy::persist {

#ifdef PMEMCPY_TRACE
inline constexpr bool tracing = true;
#else
inline constexpr bool tracing = false;
#endif

/// Where in the source an operation on the medium was asked for: file and line name the site.
using Site = std::source_location;

/// What a site does, so that one line may hold several.
enum class Operation { store, bulk, flush, fence, sync };

#ifdef PMEMCPY_TRACE
using LookSite = Site;
#else
/// Where a look is asked for that a trace build can leave out. Nothing: no register is passed.
struct LookSite {
    static constexpr LookSite current() { return {}; }
};
#endif

/// Sees every operation on persistent media in program order, right after it was done. Only in trace builds.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    /// Cached stores to [address, address + size), which now hold their new bytes. Failed exchanges are not
    /// seen.
    virtual void on_store(const void* address, std::size_t size, const Site& site) = 0;
    /// Bulk stores that need no flush of their own: non-temporal, or flushed already. In order at the next
    /// fence.
    virtual void on_bulk(const void* address, std::size_t size, const Site& site) = 0;
    /// The cache lines that [address, address + size) touches are on their way; durable at the next fence.
    virtual void on_flush(const void* address, std::size_t size, const Site& site) = 0;
    virtual void on_fence(const Site& site) = 0;
    /// All that was stored in the file's pages so far is on its device.
    virtual void on_sync(const Site& site) = 0;
    /// False to leave out this flush, fence or sync, or the flush of this bulk copy (it then arrives as on_store).
    virtual bool site_enabled(Operation, const Site&) { return true; }
    /// False to leave out this look, which then finds all as it was.
    virtual bool look_enabled(const Site&) { return true; }
};

/// The sink of this process, or null. To be changed only while no thread writes to a medium.
void set_trace_sink(TraceSink* sink) noexcept;
TraceSink* trace_sink() noexcept;

/// Whether the operation at this site is to be done: false only if a sink says so.
inline bool site_enabled(Operation operation, const Site& site) {
    if constexpr (tracing) {
        if (TraceSink* sink = trace_sink()) return sink->site_enabled(operation, site);
    }
    return true;
}

inline bool is_left_out([[maybe_unused]] const LookSite& look) {
#ifdef PMEMCPY_TRACE
    TraceSink* sink = trace_sink();
    return sink != nullptr && !sink->look_enabled(look);
#else
    return false;
#endif
}

/// A look for another that may have said meanwhile what it does (law 13, rule 5): whether none has. Left out, none ever has.
inline bool still(bool is_so, const LookSite& look = LookSite::current()) {
    return is_left_out(look) || is_so;
}

inline void trace_store(const void* address, std::size_t size, const Site& site) {
    if constexpr (tracing) {
        if (TraceSink* sink = trace_sink()) sink->on_store(address, size, site);
    }
}

inline void trace_bulk(const void* address, std::size_t size, const Site& site) {
    if constexpr (tracing) {
        TraceSink* sink = trace_sink();
        if (sink == nullptr) return;
        if (sink->site_enabled(Operation::bulk, site)) {
            sink->on_bulk(address, size, site);
        } else {
            sink->on_store(address, size, site);
        }
    }
}

inline void trace_flush(const void* address, std::size_t size, const Site& site) {
    if constexpr (tracing) {
        if (TraceSink* sink = trace_sink()) sink->on_flush(address, size, site);
    }
}

inline void trace_fence(const Site& site) {
    if constexpr (tracing) {
        if (TraceSink* sink = trace_sink()) sink->on_fence(site);
    }
}

inline void trace_sync(const Site& site) {
    if constexpr (tracing) {
        if (TraceSink* sink = trace_sink()) sink->on_sync(site);
    }
}

}  // namespace pmemcpy::persist
