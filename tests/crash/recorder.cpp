#include "recorder.hpp"

#include <array>
#include <string_view>

namespace pmemcpy::crash {

namespace {

std::string place_of(const persist::Site& site) {
    const std::string_view file(site.file_name());
    return std::string(file.substr(file.rfind('/') + 1)) + ":" + std::to_string(site.line());
}

}  // namespace

std::string describe(const Event& event) {
    constexpr std::array names = {"store", "bulk", "flush", "fence",      "allocate",
                                  "punch", "sync", "begin", "acknowledge"};
    return names[static_cast<std::size_t>(event.kind)] + (" " + place_of(event.site));
}

std::string unpromised(std::uint64_t offset, const persist::Site& site) {
    return "a store to " + std::to_string(offset) + ", for which the file system has promised no space, by " +
           place_of(site);
}

Recorder::Recorder(SimulatedKernel& kernel, std::optional<MutantSite> left_out)
    : kernel_(kernel), previous_(persist::trace_sink()), left_out_(std::move(left_out)) {
    persist::set_trace_sink(this);
    kernel_.set_listener(this);
}

Recorder::~Recorder() {
    persist::set_trace_sink(previous_);
    kernel_.set_listener(nullptr);
}

void Recorder::mark(Event::Kind kind, std::size_t operation) {
    recording_.events.push_back({kind, static_cast<std::uint32_t>(operation)});
}

void Recorder::add(Event::Kind kind, const void* address, std::size_t size, const persist::Site& site,
                   bool with_bytes) {
    const std::span<std::byte> pool = kernel_.pool();
    const auto* begin = static_cast<const std::byte*>(address);
    if (begin < pool.data() || begin >= pool.data() + pool.size())
        return;  // the .rt: nothing of it outlives a crash
    Event event{kind, static_cast<std::uint32_t>(begin - pool.data()), static_cast<std::uint32_t>(size),
                static_cast<std::uint32_t>(recording_.bytes.size()), site};
    const bool stores = kind == Event::Kind::store || kind == Event::Kind::bulk;
    if (stores && recording_.violation.empty() && !kernel_.is_allocated(event.offset, size))
        recording_.violation = unpromised(event.offset, site);
    if (with_bytes) recording_.bytes.insert(recording_.bytes.end(), begin, begin + size);
    recording_.events.push_back(event);
}

void Recorder::on_store(const void* address, std::size_t size, const persist::Site& site) {
    add(Event::Kind::store, address, size, site, true);
}
void Recorder::on_bulk(const void* address, std::size_t size, const persist::Site& site) {
    add(Event::Kind::bulk, address, size, site, true);
}
void Recorder::on_flush(const void* address, std::size_t size, const persist::Site& site) {
    add(Event::Kind::flush, address, size, site, false);
}
void Recorder::on_fence(const persist::Site& site) {
    recording_.events.push_back({Event::Kind::fence, 0, 0, 0, site});
}
bool Recorder::site_enabled(persist::Operation operation, const persist::Site& site) {
    return !left_out_ || !left_out_->is(operation, site);
}
void Recorder::on_sync(const persist::Site& site) {
    recording_.events.push_back({Event::Kind::sync, 0, 0, 0, site});
}
void Recorder::on_allocate(std::uint64_t offset, std::uint64_t length) {
    recording_.events.push_back(
        {Event::Kind::allocate, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)});
}
void Recorder::on_punch(std::uint64_t offset, std::uint64_t length) {
    add(Event::Kind::punch, kernel_.pool().data() + offset, length, {}, true);
}

std::set<MutantSite> sites_of(const Recording& recording) {
    std::set<MutantSite> sites;
    for (const Event& event : recording.events) {
        persist::Operation operation{};
        switch (event.kind) {
            case Event::Kind::bulk:
                operation = persist::Operation::bulk;
                break;
            case Event::Kind::flush:
                operation = persist::Operation::flush;
                break;
            case Event::Kind::fence:
                operation = persist::Operation::fence;
                break;
            case Event::Kind::sync:
                operation = persist::Operation::sync;
                break;
            default:
                continue;
        }
        sites.insert({operation, event.site.file_name(), event.site.line()});
    }
    return sites;
}

}  // namespace pmemcpy::crash
