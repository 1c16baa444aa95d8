#include "operate/operator.hpp"
#include "os/file.hpp"
#include "os/process.hpp"
#include "pmem/sides.hpp"
#include "tier/advice.hpp"
#include "tier/cores.hpp"

#include <pmemcpy/caching.hpp>
#include <pmemcpy/error.hpp>
#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/tiers.hpp>

#include <fcntl.h>

#include <string>
#include <utility>
#include <vector>

namespace pmemcpy {

using pmem::Sides;

namespace {

std::vector<unsigned> cores_of(std::string_view text) {
    return text.empty() ? std::vector<unsigned>{} : tier::parse_cores(text);
}

}  // namespace

Hierarchy read_hierarchy(const std::string& path) {
    constexpr std::uint64_t longest = 1 << 20;
    const auto file = os::File::open_if_exists(path, O_RDONLY);
    if (!file)
        throw Error(Code::not_found,
                    "there is no hierarchy at " + path + "; docs/tiers.md shows how to write one");
    const std::uint64_t size = file->size();
    if (!file->is_regular() || size > longest)
        throw Error(Code::invalid_argument, path + " is no hierarchy: it is no text file of at most 1 MiB");
    std::string text(size, '\0');
    file->read_exactly(text.data(), text.size(), 0);
    try {
        return parse_hierarchy(text);
    } catch (const Error& error) {
        throw Error(error.kind(), path + ": " + error.what());
    }
}

void set_hierarchy(PMEM& pool, const Hierarchy& hierarchy) {
    store::Store& store = *Sides::of(pool).shared();
    store.set_hierarchy(&hierarchy);
    static_cast<void>(store.background());  // what is to be done there begins now, not with the next store
}

void remove_hierarchy(PMEM& pool) { Sides::of(pool).shared()->set_hierarchy(nullptr); }

std::optional<Hierarchy> hierarchy_of(const PMEM& pool) { return Sides::of(pool).shared()->hierarchy(); }

std::vector<TargetInfo> targets(const PMEM& pool) { return Sides::of(pool).shared()->targets(); }

void set_mode(PMEM& pool, std::string_view match, Buffering mode) {
    store::Store& store = *Sides::of(pool).shared();
    store.set_mode(match, mode);
    static_cast<void>(store.background());
}

std::uint64_t move(PMEM& pool, std::string_view id, std::string_view target,
                   const std::function<bool(const FlushProgress&)>& progress) {
    return Sides::of(pool).shared()->move(id, target, progress);
}

void request(PMEM& pool, Request what, std::string_view id, std::uint32_t urgency) {
    Sides::of(pool).request(what, id, urgency);
}

std::uint64_t requests(const PMEM& pool) { return Sides::of(pool).requests(); }

void reserve(PMEM& pool, std::uint64_t bytes, std::string_view target) {
    Sides::of(pool).shared()->reserve(bytes, target);
}

std::uint64_t reserved(const PMEM& pool, std::string_view target) {
    return Sides::of(pool).shared()->reserved(target);
}

std::uint64_t flush(PMEM& pool, std::string_view id,
                    const std::function<bool(const FlushProgress&)>& progress) {
    store::Store& store = *Sides::of(pool).shared();
    const std::uint64_t bytes = store.flush(id, {}, progress);
    // Somebody who is at it has the same to do; what he leaves is done here.
    constexpr std::uint64_t look_again_ns = 10'000'000;
    while (!store.hand_over([] { return true; })) os::sleep_ns(look_again_ns);
    while (!store.finish_files(id, nullptr, [] { return true; })) os::sleep_ns(look_again_ns);
    return bytes;
}

FlushProgress unstaged(const PMEM& pool) { return Sides::of(pool).shared()->unstaged(); }

FlushProgress unflushed(const PMEM& pool) { return Sides::of(pool).shared()->unflushed(); }

Organizer::Organizer(const std::string& path, std::string_view cores)
    : mover_(std::make_unique<mover::Mover>(resolve_pool(path, Mode::update), cores_of(cores))),
      operator_(std::make_unique<operate::Operator>(resolve_pool(path, Mode::update), cores_of(cores))) {}
Organizer::~Organizer() = default;
std::string Organizer::trouble() const { return mover_->trouble(); }

ReadCounters read_counters(const PMEM& pool) { return Sides::of(pool).read_counters(); }

std::vector<VariableHeat> heat_of(const PMEM& pool) { return Sides::of(pool).shared()->heat_of_arrays(); }

std::optional<PoolCounters> pool_counters(const PMEM& pool) {
    return Sides::of(pool).shared()->pool_counters();
}

std::uint64_t will_need(PMEM& pool, std::string_view id, const std::optional<Box>& box) {
    return Sides::of(pool).say(id, box, tier::Need::soon);
}

std::uint64_t wont_need(PMEM& pool, std::string_view id, const std::optional<Box>& box) {
    return Sides::of(pool).say(id, box, tier::Need::no_more);
}

void set_prefetcher(PMEM& pool, std::function<std::vector<Ahead>(const ReadBlock&)> next) {
    Sides::of(pool).set_prefetcher(std::move(next));
}

Advice advise(const PMEM& pool) {
    const store::Store& store = *Sides::of(pool).shared();
    const auto hierarchy = store.hierarchy();
    if (!hierarchy)
        throw Error(Code::invalid_argument,
                    store.path() +
                        " has no hierarchy; `pmemcpy tiers` gives it one, and then there is "
                        "something to advise on");
    return tier::advise(*hierarchy, store.pool_counters(), store.heat_of_arrays());
}

std::vector<Receipt> receipts(const PMEM& pool, std::string_view id) {
    return Sides::of(pool).shared()->receipts(id);
}

}  // namespace pmemcpy
