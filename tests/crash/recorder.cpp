#include "recorder.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
    push({kind, static_cast<std::uint32_t>(operation)});
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
    push(event);
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
void Recorder::on_fence(const persist::Site& site) { push({Event::Kind::fence, 0, 0, 0, site}); }
bool Recorder::site_enabled(persist::Operation operation, const persist::Site& site) {
    if (!left_out_ || !left_out_->is(operation, site)) return true;
    // Who is to die after so many events dies at the same place as if this were none the less one of them. A bulk copy is one.
    if (operation != persist::Operation::bulk && legacy_ != nullptr && last_event_ != 0 &&
        recording_.events.size() == --last_event_)
        die();
    return false;
}
void Recorder::on_sync(const persist::Site& site) { push({Event::Kind::sync, 0, 0, 0, site}); }
void Recorder::on_allocate(std::uint64_t offset, std::uint64_t length) {
    push({Event::Kind::allocate, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(length)});
}
void Recorder::on_punch(std::uint64_t offset, std::uint64_t length) {
    add(Event::Kind::punch, kernel_.pool().data() + offset, length, {}, true);
}

void Recorder::push(const Event& event) {
    recording_.events.push_back(event);
    if (legacy_ != nullptr && last_event_ != 0 && recording_.events.size() == last_event_) die();
}

struct Recorder::Legacy {
    static constexpr std::size_t most_events = 100'000, most_bytes = std::size_t{16} << 20;
    std::size_t events_before, bytes_before;
    std::size_t verb_began;
    std::size_t events, bytes;
    std::array<Event, most_events> event;
    std::array<std::byte, most_bytes> byte;
};

void Recorder::die() {
    legacy_->events = recording_.events.size() - legacy_->events_before;
    legacy_->bytes = recording_.bytes.size() - legacy_->bytes_before;
    if (legacy_->events > Legacy::most_events || legacy_->bytes > Legacy::most_bytes) ::_exit(2);
    std::copy_n(recording_.events.end() - static_cast<std::ptrdiff_t>(legacy_->events), legacy_->events,
                legacy_->event.begin());
    std::copy_n(recording_.bytes.end() - static_cast<std::ptrdiff_t>(legacy_->bytes), legacy_->bytes,
                legacy_->byte.begin());
    ::_exit(0);
}

Recorder::Part Recorder::kill_another(const std::function<void()>& prepare, const std::function<void()>& verb,
                                      std::size_t events) {
    void* shared = ::mmap(nullptr, sizeof(Legacy), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) throw std::bad_alloc();
    auto* legacy = static_cast<Legacy*>(shared);
    legacy->events_before = recording_.events.size();
    legacy->bytes_before = recording_.bytes.size();
    const pid_t child = ::fork();
    if (child == 0) {
        legacy_ = legacy;
        try {
            prepare();
            legacy->verb_began = recording_.events.size();
            if (events == 0) die();
            if (events < Legacy::most_events) last_event_ = recording_.events.size() + events;
            verb();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "a child that was to die: %s\n", error.what());
            ::_exit(3);
        }
        die();
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) throw std::logic_error("a child that was to die has failed");
    kernel_.bury(child);
    recording_.events.insert(recording_.events.end(), legacy->event.begin(),
                             legacy->event.begin() + static_cast<std::ptrdiff_t>(legacy->events));
    recording_.bytes.insert(recording_.bytes.end(), legacy->byte.begin(),
                            legacy->byte.begin() + static_cast<std::ptrdiff_t>(legacy->bytes));
    const Part part{legacy->verb_began, recording_.events.size() - legacy->verb_began};
    ::munmap(shared, sizeof(Legacy));
    return part;
}

std::set<MutantSite> sites_of(const Recording& recording) {
    constexpr std::uint32_t line_bytes = 64;
    std::set<MutantSite> sites;
    std::set<std::uint32_t> stored;  // lines, since their last flush
    for (const Event& event : recording.events) {
        const std::uint32_t first = event.offset / line_bytes;
        const std::uint32_t end = (event.offset + event.size + line_bytes - 1) / line_bytes;
        bool any = false;
        persist::Operation operation{};
        switch (event.kind) {
            case Event::Kind::store:
                for (std::uint32_t line = first; line < end; ++line) stored.insert(line);
                continue;
            case Event::Kind::bulk:
                for (std::uint32_t line = first; line < end; ++line) stored.insert(line);
                operation = persist::Operation::bulk;
                break;
            case Event::Kind::flush:
                for (std::uint32_t line = first; line < end; ++line) any = stored.erase(line) != 0 || any;
                if (!any) continue;
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
