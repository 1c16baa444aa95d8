#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulated_kernel.hpp"
#include "persist/trace.hpp"

namespace pmemcpy::crash {

/// One thing that happened to the pool's bytes, or to the operation that makes it happen.
struct Event {
    enum class Kind : std::uint8_t { store, bulk, flush, fence, punch, sync, begin, acknowledge };
    Kind kind;
    std::uint32_t offset = 0;  // in the pool; of begin and acknowledge: the operation's number
    std::uint32_t size = 0;
    std::uint32_t data = 0;  // where a store's bytes begin in Recording::bytes
    persist::Site site = {};
};

struct Recording {
    std::vector<Event> events;
    std::vector<std::byte> bytes;
};

/// Writes down what the library does to the simulated pool. A mutant of the library is made by leaving out one site.
class Recorder final : public persist::TraceSink, public FileListener {
  public:
    explicit Recorder(SimulatedKernel& kernel);
    ~Recorder() override;
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void begin(std::size_t operation) { mark(Event::Kind::begin, operation); }
    void acknowledge(std::size_t operation) { mark(Event::Kind::acknowledge, operation); }
    const Recording& recording() const { return recording_; }

    void on_store(const void* address, std::size_t size, const persist::Site& site) override;
    void on_bulk(const void* address, std::size_t size, const persist::Site& site) override;
    void on_flush(const void* address, std::size_t size, const persist::Site& site) override;
    void on_fence(const persist::Site& site) override;
    void on_sync() override;
    void on_punch(std::uint64_t offset, std::uint64_t length) override;

  private:
    void mark(Event::Kind kind, std::size_t operation);
    void add(Event::Kind kind, const void* address, std::size_t size, const persist::Site& site, bool with_bytes);

    SimulatedKernel& kernel_;
    persist::TraceSink* previous_;
    Recording recording_;
};

}  // namespace pmemcpy::crash
