#include "media.hpp"

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::size_t most_stores = 96;  // that may have reached a granule and are told apart

}  // namespace

Image::Image(std::span<std::byte> live, std::vector<std::byte> certain)
    : live_(live), certain_(std::move(certain)) {
    std::memcpy(live_.data(), certain_.data(), live_.size());
}

void Image::commit(std::uint64_t offset, std::span<const std::byte> bytes) {
    std::memcpy(certain_.data() + offset, bytes.data(), bytes.size());
    std::memcpy(live_.data() + offset, bytes.data(), bytes.size());
}

void Image::put(std::uint64_t offset, std::span<const std::byte> bytes) {
    std::memcpy(live_.data() + offset, bytes.data(), bytes.size());
    touched(offset, bytes.size());
}

void Image::touched(std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t p = offset / page; p <= (offset + size - 1) / page; ++p) dirty_.set(p);
}

void Image::restore() {
    for (std::size_t p = dirty_._Find_first(); p < dirty_.size(); p = dirty_._Find_next(p)) {
        const std::uint64_t size = std::min<std::uint64_t>(page, live_.size() - p * page);
        std::memcpy(live_.data() + p * page, certain_.data() + p * page, size);
    }
    dirty_.reset();
}

bool Image::is_restored() const { return std::memcmp(live_.data(), certain_.data(), live_.size()) == 0; }

Media::Media(Model model, Image& image, const Recording& recording, const Allocation& allocation)
    : model_(model),
      granule_bytes_(model == Model::line ? 64 : 4096),
      image_(image),
      recording_(recording),
      allocation_(allocation) {}

Media::Allocation Media::allocation_after(std::size_t changes) const {
    Allocation allocation = allocation_;
    for (std::size_t i = 0; i < changes; ++i)
        set_pages(allocation, journal_[i].offset, journal_[i].size,
                  journal_[i].kind == Event::Kind::allocate);
    return allocation;
}

void Media::commit(Pending::iterator granule, std::size_t stores) {
    auto& all = granule->second.stores;
    for (std::size_t i = 0; i < stores; ++i) image_.commit(all[i].offset, bytes_of(all[i]));
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(stores));
    auto& contents = granule->second.contents;
    contents.erase(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(stores));
    granule->second.flushed -= std::min(stores, granule->second.flushed);
    granule->second.punched -= std::min(stores, granule->second.punched);
}

// A word that is stored for ever and never flushed, such as a counter, would make each image dearer than the last: the
// older half of its stores arrives together from here on.
void Media::merge_oldest(std::uint32_t number, Granule& granule) {
    const std::uint32_t begin = number * granule_bytes_;
    const auto size =
        static_cast<std::uint32_t>(std::min<std::size_t>(granule_bytes_, image_.certain().size() - begin));
    const auto certain = image_.certain().begin() + begin;
    std::vector<std::byte> bytes(certain, certain + size);
    const std::size_t half = granule.stores.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
        const std::span<const std::byte> from = bytes_of(granule.stores[i]);
        std::copy(from.begin(), from.end(), bytes.begin() + (granule.stores[i].offset - begin));
    }
    granule.stores[half - 1] = {begin, size,
                                static_cast<std::uint32_t>(recording_.bytes.size() + merged_.size())};
    merged_.insert(merged_.end(), bytes.begin(), bytes.end());
    granule.stores.erase(granule.stores.begin(),
                         granule.stores.begin() + static_cast<std::ptrdiff_t>(half - 1));
    granule.contents.erase(granule.contents.begin() + 1,
                           granule.contents.begin() + static_cast<std::ptrdiff_t>(half));
}

std::size_t Media::Granule::fewest_like(std::size_t stores_arrived) const {
    const auto first = std::find(contents.begin(), contents.end(), contents[stores_arrived]);
    return static_cast<std::size_t>(first - contents.begin());
}

// Zeros upon zeros, and whatever else is stored where it is already, make no other image: they would only be tried in every
// combination with what does. False for such a store.
bool Media::add(std::uint32_t number, const Store& store, Event::Kind kind) {
    const std::uint32_t begin = number * granule_bytes_;
    Granule& granule = pending_[number];
    if (granule.newest.empty()) {
        const auto size = std::min<std::size_t>(granule_bytes_, image_.certain().size() - begin);
        const auto certain = image_.certain().begin() + begin;
        granule.newest.assign(certain, certain + static_cast<std::ptrdiff_t>(size));
        granule.contents.push_back(base::xxh3_64(granule.newest.data(), granule.newest.size()));
    }
    const std::span<const std::byte> bytes = bytes_of(store);
    std::copy(bytes.begin(), bytes.end(), granule.newest.begin() + (store.offset - begin));
    const std::uint64_t content = base::xxh3_64(granule.newest.data(), granule.newest.size());
    const bool changes = content != granule.contents.back();
    if (changes) {
        granule.stores.push_back(store);
        granule.contents.push_back(content);
        granule.operation = operation_;
        if (granule.flushed == 0 && granule.punched == 0 && granule.stores.size() > most_stores)
            merge_oldest(number, granule);
    }
    if (kind == Event::Kind::bulk) granule.flushed = granule.stores.size();
    if (kind == Event::Kind::punch) granule.punched = granule.stores.size();
    if (granule.stores.empty()) pending_.erase(number);
    return changes;
}

std::vector<std::uint32_t> Media::apply(const Event& event) {
    std::vector<std::uint32_t> changed;
    if (event.kind == Event::Kind::allocate || event.kind == Event::Kind::punch) journal_.push_back(event);
    switch (event.kind) {
        case Event::Kind::allocate:
            break;
        case Event::Kind::store:
        case Event::Kind::punch:  // journalled by the file system: it may have happened or not
        case Event::Kind::bulk:
            for (std::uint32_t done = 0; done < event.size;) {
                const std::uint32_t at = event.offset + done;
                const std::uint32_t size = std::min(granule_bytes_ - at % granule_bytes_, event.size - done);
                const std::uint32_t number = at / granule_bytes_;
                if (add(number, {at, size, event.data + done}, event.kind)) changed.push_back(number);
                done += size;
            }
            break;
        case Event::Kind::flush: {
            const std::uint32_t last = (event.offset + event.size - 1) / granule_bytes_;
            for (auto i = pending_.lower_bound(event.offset / granule_bytes_);
                 i != pending_.end() && i->first <= last; ++i) {
                i->second.flushed = i->second.stores.size();
            }
            break;
        }
        case Event::Kind::fence:
            if (model_ == Model::page) break;
            for (auto i = pending_.begin(); i != pending_.end();) {
                if (i->second.flushed > 0) commit(i, i->second.flushed);
                i = i->second.stores.empty() ? pending_.erase(i) : std::next(i);
            }
            break;
        case Event::Kind::sync:
            allocation_ = allocation_after(journal_.size());
            journal_.clear();
            for (auto i = pending_.begin(); i != pending_.end();) {
                const bool is_all = model_ == Model::page;
                if (is_all || i->second.punched > 0)
                    commit(i, is_all ? i->second.stores.size() : i->second.punched);
                i = i->second.stores.empty() ? pending_.erase(i) : std::next(i);
            }
            break;
        case Event::Kind::begin:
            operation_ = event.offset;
            break;
        case Event::Kind::acknowledge:
            break;
    }
    return changed;
}

}  // namespace pmemcpy::crash
