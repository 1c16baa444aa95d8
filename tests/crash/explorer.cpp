#include "explorer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

#include "base/hash.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::size_t few_granules = 16;
constexpr std::uint64_t untraced_every = 4096;  // images between two checks that no store went past the hook

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
    events += other.events;
    points += other.points;
    exhausted += other.exhausted;
    images += other.images;
    distinct += other.distinct;
    recoveries += other.recoveries;
    audits += other.audits;
    failures += other.failures;
    first_failures.insert(first_failures.end(), other.first_failures.begin(), other.first_failures.end());
    return *this;
}

Explorer::Explorer(SimulatedKernel& kernel, const Run& run, const Plan& plan)
    : kernel_(kernel),
      run_(run),
      plan_(plan),
      image_(kernel.pool(), run.start),
      media_(plan.model, image_, run.recording, run.allocation),
      random_(plan.seed) {}

Counts Explorer::explore() {
    if (!run_.recording.violation.empty()) fail(run_.recording.violation);
    const std::vector<Event>& events = run_.recording.events;
    counts_.events = events.size();
    const auto changes =
        static_cast<std::uint64_t>(std::count_if(events.begin(), events.end(), [](const Event& e) {
            return e.kind <= Event::Kind::bulk || e.kind >= Event::Kind::punch;
        }));
    const std::uint64_t each =
        std::max<std::uint64_t>(plan_.random_images / std::max<std::uint64_t>(changes, 1), 1);
    std::size_t synced = 0;
    for (event_ = 0; event_ < events.size() && counts_.failures < plan_.most_failures; ++event_) {
        const Event& event = events[event_];
        const std::vector<std::uint32_t> newest = media_.apply(event);
        const bool is_looked_at = allowed_.last > run_.first_operation;
        if (event.kind == Event::Kind::begin) {
            allowed_ = {plan_.model == Model::line ? event.offset : synced, event.offset + 1};
        } else if (event.kind == Event::Kind::acknowledge) {
            if (run_.is_sync[event.offset + 1]) synced = event.offset + 1;
            allowed_.first = plan_.model == Model::line ? event.offset + 1 : synced;
            if (is_looked_at) explore_point({}, each);
        } else if (!newest.empty() && is_looked_at) {
            explore_point(newest, each);
        }
    }
    return std::move(counts_);
}

// With `newest`, images in which something of it has arrived: all others were possible, and tried, before.
void Explorer::explore_point(const std::vector<std::uint32_t>& newest, std::uint64_t images) {
    if (counts_.points++ % plan_.point_every != 0 && !newest.empty()) return;
    known_.clear();
    const Media::Pending& pending = media_.pending();
    const std::uint32_t forced = newest.size() == 1 ? newest.front() : ~std::uint32_t{0};
    std::vector<const Media::Pending::value_type*> free;
    std::vector<const Media::Pending::value_type*> older;
    const std::size_t operation = allowed_.last;
    for (const auto& granule : pending) {
        if (granule.first == forced) continue;
        (granule.second.operation + 1 == operation ? free : older).push_back(&granule);
    }
    std::uint64_t choices = free.size() < 32 ? std::uint64_t{1} << free.size() : ~std::uint64_t{0};
    if (choices <= plan_.exhaustive_limit) {
        const bool all = older.size() < 32 && choices << older.size() <= plan_.exhaustive_limit;
        if (all) {
            free.insert(free.end(), older.begin(), older.end());
            older.clear();
            choices = std::uint64_t{1} << free.size();
            ++counts_.exhausted;
        }
        for (std::uint64_t choice = 0; choice < choices; ++choice) {
            arrived_.clear();
            if (newest.size() == 1) let_arrive(forced, pending.at(forced), pending.at(forced).stores.size());
            for (std::size_t i = 0; i < free.size(); ++i) {
                if ((choice >> i & 1) != 0)
                    let_arrive(free[i]->first, free[i]->second, free[i]->second.stores.size());
            }
            for (const auto* granule : older)
                let_arrive(granule->first, granule->second, random_() % (granule->second.stores.size() + 1));
            check();
        }
    }
    if (!older.empty() || choices > plan_.exhaustive_limit)
        explore_one_by_one(forced, newest.empty() || pending.size() <= few_granules);
    for (std::uint64_t n = 0; n < images; ++n) {
        arrived_.clear();
        const std::uint64_t sure = newest.empty() ? ~std::uint64_t{0} : newest[random_() % newest.size()];
        const std::uint64_t share = random_() % 5;  // how much of what may have arrived has
        for (const auto& [line, granule] : pending) {
            const std::size_t all = granule.stores.size();
            std::size_t cut = random_() % 4 < share ? all : 0;
            if (random_() % 4 == 0) cut = random_() % (all + 1);
            if (line == sure) cut = all;
            const bool tears = plan_.tears_words && cut < all && random_() % 2 == 0;
            let_arrive(line, granule, cut, tears ? words_of(granule.stores[cut]) : 0);
        }
        check();
    }
}

// Each granule alone is old where all others are new, and new where they are old: what a missing flush leaves behind is
// one old line among many, long after, when too many are pending for every choice to be tried. In the middle of an
// operation only those that it has stored in, if there are many; after it all.
void Explorer::explore_one_by_one(std::uint32_t forced, bool all) {
    const Media::Pending& pending = media_.pending();
    for (const auto& [odd, granule] : pending) {
        if (odd == forced || (!all && granule.operation + 1 != allowed_.last)) continue;
        for (const bool others_are_new : {true, false}) {
            arrived_.clear();
            for (const auto& [line, other] : pending) {
                const bool is_new = line == forced || (line == odd) != others_are_new;
                if (is_new) let_arrive(line, other, other.stores.size());
            }
            check();
        }
    }
}

void Explorer::let_arrive(std::uint32_t line, const Media::Granule& granule, std::size_t stores,
                          std::uint64_t words) {
    if (words == 0) stores = granule.fewest_like(stores);
    if (stores > 0 || words != 0)
        arrived_.push_back({line, static_cast<std::uint32_t>(stores), words, &granule});
}

// Some of its words: one bit for each of the first 64, of which the last stands for all behind it too. A store of one word
// arrives whole.
std::uint64_t Explorer::words_of(const Media::Store& store) { return store.size <= 8 ? 0 : random_(); }

void Explorer::put(const Arrived& arrived) {
    const std::vector<Media::Store>& stores = arrived.granule->stores;
    for (std::size_t i = 0; i < arrived.stores; ++i) image_.put(stores[i].offset, media_.bytes_of(stores[i]));
    if (arrived.words == 0) return;
    const Media::Store& store = stores[arrived.stores];
    const std::span<const std::byte> bytes = media_.bytes_of(store);
    std::uint32_t word = 0;
    for (std::uint32_t at = 0; at < store.size; ++word) {
        const std::uint32_t size = std::min(8 - (store.offset + at) % 8, store.size - at);
        if ((arrived.words >> std::min(word, 63U) & 1) != 0)
            image_.put(store.offset + at, bytes.subspan(at, size));
        at += size;
    }
}

bool Explorer::is_known() {
    std::uint64_t key = changes_;
    for (const Arrived& arrived : arrived_) {
        const std::array<std::uint64_t, 4> what{key, arrived.line, arrived.stores, arrived.words};
        key = base::xxh3_64(what.data(), sizeof what);
    }
    return !known_.insert(key).second;
}

void Explorer::check() {
    ++counts_.images;
    changes_ = random_() % (media_.pending_changes() + 1);
    if (is_known()) return;
    ++counts_.distinct;
    for (const Arrived& arrived : arrived_) put(arrived);
    kernel_.set_allocation(media_.allocation_after(changes_));
    recover_and_check();
    image_.restore();
    if (counts_.distinct % untraced_every == 0 && !image_.is_restored()) {
        fail("a recovery wrote to the pool past the trace hook");
        std::memcpy(image_.live().data(), image_.certain().data(), image_.certain().size());
    }
}

void Explorer::fail(const std::string& what) {
    if (++counts_.failures > plan_.most_failures) return;
    const Event& event = run_.recording.events[event_];
    std::ostringstream text;
    text << what << "\n    at event " << event_ << " (" << describe(event) << "), image " << counts_.images
         << ", seed " << plan_.seed << ", contents " << allowed_.first << ".." << allowed_.last
         << ", arrived:";
    std::size_t told = 0;
    for (const Arrived& arrived : arrived_) {
        if (++told > 12) break;
        const std::vector<Media::Store>& stores = arrived.granule->stores;
        text << ' ' << stores.front().offset << ':' << arrived.stores << '/' << stores.size();
    }
    counts_.first_failures.push_back(text.str());
}

}  // namespace pmemcpy::crash
