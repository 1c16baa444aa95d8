#pragma once

#include <optional>
#include <string>

#include "media.hpp"
#include "recorder.hpp"

namespace pmemcpy::crash {

/// Tells the image what recovery writes, and may write its events down. Without a recording flushes and fences are
/// left out: nothing depends on them then, and they cost more than the recovery.
class RecoverySink final : public persist::TraceSink, public FileListener {
public:
    RecoverySink(SimulatedKernel& kernel, Image& image, Recording* recording = nullptr,
                 const std::optional<MutantSite>& left_out = {})
        : kernel_(kernel), image_(image), recording_(recording), left_out_(left_out) {
        persist::set_trace_sink(this);
        kernel_.set_listener(this);
    }
    ~RecoverySink() override {
        persist::set_trace_sink(nullptr);
        kernel_.set_listener(nullptr);
    }
    RecoverySink(const RecoverySink&) = delete;
    RecoverySink& operator=(const RecoverySink&) = delete;

    void on_store(const void* address, std::size_t size, const persist::Site& site) override {
        add(Event::Kind::store, address, size, site);
    }
    void on_bulk(const void* address, std::size_t size, const persist::Site& site) override {
        add(Event::Kind::bulk, address, size, site);
    }
    void on_flush(const void* address, std::size_t size, const persist::Site& site) override {
        add(Event::Kind::flush, address, size, site);
    }
    void on_fence(const persist::Site& site) override {
        if (recording_ != nullptr) recording_->events.push_back({Event::Kind::fence, 0, 0, 0, site});
    }
    bool site_enabled(persist::Operation operation, const persist::Site& site) override {
        if (recording_ == nullptr) return operation == persist::Operation::bulk;
        return !left_out_ || !left_out_->is(operation, site);
    }
    void on_sync(const persist::Site& site) override {
        if (recording_ != nullptr) recording_->events.push_back({Event::Kind::sync, 0, 0, 0, site});
    }
    void on_allocate(std::uint64_t offset, std::uint64_t length) override {
        if (recording_ == nullptr) return;
        recording_->events.push_back(
            {Event::Kind::allocate, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)});
    }
    void on_punch(std::uint64_t offset, std::uint64_t length) override {
        add(Event::Kind::punch, kernel_.pool().data() + offset, length, {});
    }
    /// The first store to where the file system has promised no space.
    const std::string& violation() const { return violation_; }

private:
    void add(Event::Kind kind, const void* address, std::size_t size, const persist::Site& site) {
        const std::span<std::byte> pool = image_.live();
        const auto* begin = static_cast<const std::byte*>(address);
        if (begin < pool.data() || begin >= pool.data() + pool.size()) return;
        const auto offset = static_cast<std::uint32_t>(begin - pool.data());
        const bool stores = kind == Event::Kind::store || kind == Event::Kind::bulk;
        if (stores && violation_.empty() && !kernel_.is_allocated(offset, size))
            violation_ = unpromised(offset, site);
        if (kind != Event::Kind::flush) image_.touched(offset, size);
        if (recording_ == nullptr) return;
        recording_->events.push_back({kind, offset, static_cast<std::uint32_t>(size),
                                      static_cast<std::uint32_t>(recording_->bytes.size()), site});
        if (kind != Event::Kind::flush)
            recording_->bytes.insert(recording_->bytes.end(), begin, begin + size);
    }

    SimulatedKernel& kernel_;
    Image& image_;
    Recording* recording_;
    std::optional<MutantSite> left_out_;
    std::string violation_;
};

}  // namespace pmemcpy::crash
