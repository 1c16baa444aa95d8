#include "explorer.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <sstream>
#include <string_view>

#include "persist/trace.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::uint64_t second_every = 16;      // images between two whose recovery is repeated
constexpr std::uint64_t audit_every = 16;       // and between two that are emptied
constexpr std::uint64_t untraced_every = 4096;  // and between two checks that no store went past the hook

std::string_view file_name(const char* path) {
    const std::string_view whole(path == nullptr ? "" : path);
    return whole.substr(whole.rfind('/') + 1);
}

std::string_view name_of(Event::Kind kind) {
    constexpr std::string_view names[] = {"store", "bulk", "flush", "fence",
                                          "punch", "sync", "begin", "acknowledge"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
    events += other.events;
    points += other.points;
    exhausted += other.exhausted;
    images += other.images;
    recoveries += other.recoveries;
    audits += other.audits;
    failures += other.failures;
    first_failures.insert(first_failures.end(), other.first_failures.begin(), other.first_failures.end());
    return *this;
}

/// Tells the image what recovery writes, and may write its events down. Without a recording flushes and fences are
/// left out: nothing depends on them then, and they cost more than the recovery.
class Explorer::RecoverySink final : public persist::TraceSink, public FileListener {
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
    void on_sync() override {
        if (recording_ != nullptr) recording_->events.push_back({Event::Kind::sync});
    }
    void on_punch(std::uint64_t offset, std::uint64_t length) override {
        add(Event::Kind::punch, kernel_.pool().data() + offset, length, {});
    }

private:
    void add(Event::Kind kind, const void* address, std::size_t size, const persist::Site& site) {
        const std::span<std::byte> pool = image_.live();
        const auto* begin = static_cast<const std::byte*>(address);
        if (begin < pool.data() || begin >= pool.data() + pool.size()) return;
        const auto offset = static_cast<std::uint32_t>(begin - pool.data());
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
};

Explorer::Explorer(SimulatedKernel& kernel, const Run& run, const Plan& plan)
    : kernel_(kernel),
      run_(run),
      plan_(plan),
      image_(kernel.pool(), run.start),
      media_(plan.model, image_, run.recording),
      random_(plan.seed) {}

Counts Explorer::explore() {
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
        if (event.kind == Event::Kind::begin) {
            allowed_ = {plan_.model == Model::line ? event.offset : synced, event.offset + 1};
        } else if (event.kind == Event::Kind::acknowledge) {
            if (run_.is_sync[event.offset + 1]) synced = event.offset + 1;
            allowed_.first = plan_.model == Model::line ? event.offset + 1 : synced;
            explore_point({}, each);
        } else if (!newest.empty()) {
            explore_point(newest, each);
        }
    }
    return std::move(counts_);
}

// With `newest`, images in which something of it has arrived: all others were possible, and tried, before.
void Explorer::explore_point(const std::vector<std::uint32_t>& newest, std::uint64_t images) {
    ++counts_.points;
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
            cuts_.clear();
            if (newest.size() == 1) put_line(forced, pending.at(forced), pending.at(forced).stores.size());
            for (std::size_t i = 0; i < free.size(); ++i) {
                if ((choice >> i & 1) != 0)
                    put_line(free[i]->first, free[i]->second, free[i]->second.stores.size());
            }
            for (const auto* granule : older)
                put_line(granule->first, granule->second, random_() % (granule->second.stores.size() + 1));
            check();
        }
    }
    for (std::uint64_t n = 0; n < images; ++n) {
        cuts_.clear();
        const std::uint64_t sure = newest.empty() ? ~std::uint64_t{0} : newest[random_() % newest.size()];
        const std::uint64_t share = random_() % 5;  // how much of what may have arrived has
        for (const auto& [line, granule] : pending) {
            const std::size_t all = granule.stores.size();
            std::size_t cut = random_() % 4 < share ? all : 0;
            if (random_() % 4 == 0) cut = random_() % (all + 1);
            if (line == sure) cut = all;
            put_line(line, granule, cut);
            if (plan_.tears_words && cut < all && random_() % 2 == 0) put_torn(granule, cut);
        }
        check();
    }
}

void Explorer::put_line(std::uint32_t line, const Media::Granule& granule, std::size_t cut) {
    if (cut > 0) cuts_.emplace_back(line, cut);
    for (std::size_t i = 0; i < cut; ++i)
        image_.put(granule.stores[i].offset, media_.bytes_of(granule.stores[i]));
}

// Of the store behind the cut some words have arrived.
void Explorer::put_torn(const Media::Granule& granule, std::size_t cut) {
    const Media::Store& store = granule.stores[cut];
    const std::span<const std::byte> bytes = media_.bytes_of(store);
    for (std::uint32_t at = 0; at < store.size;) {
        const std::uint32_t size = std::min(8 - (store.offset + at) % 8, store.size - at);
        if (store.size <= 8) return;  // one word is stored whole
        if (random_() % 2 == 0) image_.put(store.offset + at, bytes.subspan(at, size));
        at += size;
    }
}

Content Explorer::observe_now(const PMEM& pmem) const {
    return observe(pmem, plan_.model == Model::page ? Grain::element : Grain::array);
}

void Explorer::check() {
    ++counts_.images;
    recover_and_check();
    image_.restore();
    if (counts_.images % untraced_every == 0 && !image_.is_restored()) {
        fail("a recovery wrote to the pool past the trace hook");
        std::memcpy(image_.live().data(), image_.certain().data(), image_.certain().size());
    }
}

// Behind the page cache each store stands for itself: since the last sync it is there or not, whatever came later. So a
// variable, or an element of an array, has a content of any moment since then, which it may have had by another name.
std::string Explorer::judge_alone(const Content& found) const {
    const auto begin = run_.contents.begin() + static_cast<std::ptrdiff_t>(allowed_.first);
    const auto end = run_.contents.begin() + static_cast<std::ptrdiff_t>(allowed_.last) + 1;
    for (const auto& [key, hash] : *begin) {
        if (found.contains(key)) continue;
        const bool was_absent =
            std::any_of(begin, end, [&, &name = key](const Content& c) { return !c.contains(name); });
        if (!was_absent) return "'" + key + "' is lost";
    }
    for (const auto& [key, hash] : found) {
        const bool was_there =
            std::any_of(begin, end, [&, &name = key](const Content& c) { return c.contains(name); });
        const bool had_content = std::any_of(begin, end, [&, value = hash](const Content& c) {
            return std::any_of(c.begin(), c.end(), [&](const auto& entry) { return entry.second == value; });
        });
        if (!was_there || !had_content) return "'" + key + "' has a content it never had";
    }
    return {};
}

std::string Explorer::judge(const Content& found) const {
    if (plan_.model == Model::page) return judge_alone(found);
    const Content& before = run_.contents[allowed_.first];
    const Content& after = run_.contents[allowed_.last];
    for (const auto& [key, hash] : before) {
        if (is_group(key) && after.contains(key) && !found.contains(key))
            return "group '" + key + "' is lost";
    }
    Content without_new_groups = found;
    for (auto i = without_new_groups.begin(); i != without_new_groups.end();) {
        const bool may_be = is_group(i->first) && before.contains(i->first) != after.contains(i->first);
        i = may_be ? without_new_groups.erase(i) : std::next(i);
    }
    const auto without_groups_of_one = [](const Content& all, const Content& other) {
        Content rest;
        for (const auto& entry : all) {
            if (!is_group(entry.first) || other.contains(entry.first)) rest.insert(entry);
        }
        return rest;
    };
    const std::string old_one = difference(without_new_groups, without_groups_of_one(before, after));
    if (old_one.empty()) return {};
    const std::string new_one = difference(without_new_groups, without_groups_of_one(after, before));
    if (new_one.empty()) return {};
    if (allowed_.first == allowed_.last) return new_one;
    return "neither before (" + old_one + ") nor after (" + new_one + ")";
}

void Explorer::recover_and_check() {
    const bool second = counts_.images % second_every == 1;
    const bool empties = counts_.images % audit_every == 2;
    const bool nested = plan_.nested_images > 0 && counts_.images % plan_.nested_every == 3;
    try {
        if (nested) return check_cut_short();
        RecoverySink sink(kernel_, image_);
        PMEM pmem;
        pmem.mmap(SimulatedKernel::path);
        ++counts_.recoveries;
        const Content found = observe_now(pmem);
        if (const std::string wrong = judge(found); !wrong.empty()) return fail(wrong);
        if (const std::vector<Damage> damages = pmem.verify(); !damages.empty()) {
            return fail("verify: '" + damages[0].id + "' " + damages[0].what);
        }
        if (second) {
            const std::vector<std::byte> killed(image_.live().begin(), image_.live().end());
            pmem.munmap();
            check_second(found);  // closed cleanly: by the links
            image_.put(0, killed);
            check_second(found);  // lost right after recovery: by scanning
        } else if (empties) {
            audit(pmem);
        }
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void Explorer::check_second(const Content& found) {
    PMEM pmem;
    pmem.mmap(SimulatedKernel::path);
    ++counts_.recoveries;
    const std::string wrong = difference(observe_now(pmem), found);
    if (!wrong.empty()) fail("after a second recovery " + wrong);
}

// Whatever is in the pool is erased: then nothing may be taken any more.
void Explorer::audit(PMEM& pmem) {
    ++counts_.audits;
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    std::vector<std::string> groups = pmem.groups();
    std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (const std::string& id : groups) pmem.erase(id);
    for (const std::string& name : pmem.attributes("/")) pmem.remove_attribute("/", name);
    pmem.sync();
    const PoolInfo info = pmem.info();
    constexpr std::uint64_t root_bytes = 128 + 192;  // the entry and the value of the group "/", which stays
    const std::uint64_t root = info.metadata_bytes == root_bytes ? root_bytes : 0;
    if (info.metadata_bytes != root || info.data_bytes != 0 || info.retired_records != 0) {
        fail("space is lost: after erasing all, " + std::to_string(info.metadata_bytes) +
             " bytes of records, " + std::to_string(info.data_bytes) + " of data and " +
             std::to_string(info.retired_records) + " retired records are left");
    }
}

// The recovery of this image is itself killed at random moments, with what had arrived until then; and after the pool
// was closed cleanly, so that its links are trusted from then on.
void Explorer::check_cut_short() {
    const std::vector<std::byte> crashed(image_.live().begin(), image_.live().end());
    Recording recording;
    Content found;
    std::size_t recovered = 0;
    {
        RecoverySink sink(kernel_, image_, &recording, plan_.left_out);
        PMEM pmem;
        pmem.mmap(SimulatedKernel::path);
        recovered = recording.events.size();
        found = observe_now(pmem);
        pmem.munmap();
    }
    if (const std::string wrong = judge(found); !wrong.empty()) fail(wrong);
    Image image(image_.live(), crashed);
    Media media(plan_.model, image, recording);
    std::vector<std::size_t> moments = {recording.events.size() - 1, recording.events.size() - 1};
    for (std::uint64_t n = 0; n < plan_.nested_images; ++n)
        moments.push_back(random_() % recording.events.size());
    std::sort(moments.begin(), moments.end());
    std::size_t next = 0;
    std::string when;
    try {
        for (const std::size_t moment : moments) {
            for (; next <= moment; ++next) media.apply(recording.events[next]);
            const Event& event = recording.events[moment];
            when = std::string(moment < recovered ? "after a recovery" : "after a session") +
                   " that was cut short at event " + std::to_string(moment) + " of " +
                   std::to_string(recording.events.size()) + ", " + std::string(name_of(event.kind)) + " " +
                   std::string(file_name(event.site.file_name())) + ":" + std::to_string(event.site.line()) +
                   ": ";
            const std::uint64_t share = random_() % 5;
            for (const auto& [line, granule] : media.pending()) {
                std::size_t cut = random_() % 4 < share ? granule.stores.size() : 0;
                if (share > 0 && random_() % 4 == 0) cut = random_() % (granule.stores.size() + 1);
                for (std::size_t i = 0; i < cut; ++i)
                    image.put(granule.stores[i].offset, media.bytes_of(granule.stores[i]));
            }
            RecoverySink sink(kernel_, image);
            PMEM pmem;
            pmem.mmap(SimulatedKernel::path);
            ++counts_.images;
            ++counts_.recoveries;
            const std::string wrong = difference(observe_now(pmem), found);
            if (!wrong.empty()) fail(when + wrong);
            audit(pmem);
            pmem.munmap();
            image.restore();
        }
    } catch (const std::exception& error) {
        fail(when + error.what());
    }
    std::memcpy(image_.live().data(), image_.certain().data(), image_.certain().size());
}

void Explorer::fail(const std::string& what) {
    if (++counts_.failures > plan_.most_failures) return;
    const Event& event = run_.recording.events[event_];
    std::ostringstream text;
    text << what << "\n    at event " << event_ << " (" << name_of(event.kind) << ' '
         << file_name(event.site.file_name()) << ':' << event.site.line() << "), image " << counts_.images
         << ", seed " << plan_.seed << ", contents " << allowed_.first << ".." << allowed_.last
         << ", arrived:";
    std::size_t told = 0;
    for (const auto& [line, cut] : cuts_) {
        const auto found = media_.pending().find(line);
        if (found == media_.pending().end() || ++told > 12) continue;
        const std::uint32_t first = found->second.stores.front().offset;
        text << ' ' << first << ':' << cut << '/' << found->second.stores.size();
    }
    counts_.first_failures.push_back(text.str());
}

}  // namespace pmemcpy::crash
