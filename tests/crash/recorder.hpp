#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "persist/trace.hpp"
#include "simulated_kernel.hpp"

namespace pmemcpy::crash {

/// One thing that happened to the pool's bytes, or to the operation that makes it happen.
struct Event {
    enum class Kind : std::uint8_t { store, bulk, flush, fence, allocate, punch, sync, begin, acknowledge };
    Kind kind;
    std::uint32_t offset = 0;  // in the pool; of begin and acknowledge: the operation's number
    std::uint32_t size = 0;
    std::uint32_t data = 0;  // where a store's bytes begin in Recording::bytes
    persist::Site site = {};
};

/// A flush, fence or sync in the source, or the flush inside a bulk copy.
struct MutantSite {
    persist::Operation operation;
    std::string file;
    std::uint32_t line;
    bool is(persist::Operation asked, const persist::Site& site) const {
        return operation == asked && line == site.line() && file == site.file_name();
    }
    auto operator<=>(const MutantSite&) const = default;
};

/// "store run.cpp:17": what, and by which line of the library.
std::string describe(const Event& event);

struct Recording {
    std::vector<Event> events;
    std::vector<std::byte> bytes;
    std::string violation;  // a store to where the file system has promised no space; the first one
};

/// What to say of a store to where the file system has promised no space.
std::string unpromised(std::uint64_t offset, const persist::Site& site);

/// Writes down what the library does to the simulated pool. A mutant of the library is made by leaving out one site.
class Recorder final : public persist::TraceSink, public FileListener {
public:
    explicit Recorder(SimulatedKernel& kernel, std::optional<MutantSite> left_out = {});
    ~Recorder() override;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void begin(std::size_t operation) { mark(Event::Kind::begin, operation); }
    void acknowledge(std::size_t operation) { mark(Event::Kind::acknowledge, operation); }
    const Recording& recording() const { return recording_; }

    /// Another process, a forked child, prepares itself and dies in the verb after so many events of it. What it has done to
    /// the pool is part of the recording. Returns which events of it are the verb's.
    struct Part {
        std::size_t first = 0;
        std::size_t count = 0;
    };
    Part kill_another(const std::function<void()>& prepare, const std::function<void()>& verb,
                      std::size_t events);

    void on_store(const void* address, std::size_t size, const persist::Site& site) override;
    void on_bulk(const void* address, std::size_t size, const persist::Site& site) override;
    void on_flush(const void* address, std::size_t size, const persist::Site& site) override;
    void on_fence(const persist::Site& site) override;
    bool site_enabled(persist::Operation operation, const persist::Site& site) override;
    void on_sync(const persist::Site& site) override;
    void on_allocate(std::uint64_t offset, std::uint64_t length) override;
    void on_punch(std::uint64_t offset, std::uint64_t length) override;

private:
    void mark(Event::Kind kind, std::size_t operation);
    void push(const Event& event);
    [[noreturn]] void die();
    void add(Event::Kind kind, const void* address, std::size_t size, const persist::Site& site,
             bool with_bytes);

    SimulatedKernel& kernel_;
    persist::TraceSink* previous_;
    std::optional<MutantSite> left_out_;
    Recording recording_;

    struct Legacy;  // what a child that dies leaves to its parent
    Legacy* legacy_ = nullptr;
    std::size_t last_event_ = 0;  // of a child
};

/// Every flush, fence and sync that a recording passed; but no flush of what had been flushed since it was stored, which may be
/// left out there without any difference.
std::set<MutantSite> sites_of(const Recording& recording);

}  // namespace pmemcpy::crash
