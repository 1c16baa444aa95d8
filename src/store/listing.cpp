#include "store/listing.hpp"

#include "array/id_order.hpp"
#include "store/store.hpp"

#include <algorithm>

namespace pmemcpy::store {

Listing::Listing(const Moment& moment, const std::vector<Found>& sorted) : moment_(moment) {
    std::size_t bytes = 0;
    for (const Found& found : sorted) bytes += found.id.size();
    text_.reserve(bytes);  // so that nothing that points into it moves
    places_.reserve(sorted.size());
    for (const Found& found : sorted) {
        const std::size_t slash = found.id.rfind('/');
        const std::size_t last = slash == std::string::npos ? 0 : slash + 1;
        places_.push_back({text_.size(), static_cast<std::uint32_t>(found.id.size()),
                           static_cast<std::uint32_t>(last), found.is_group});
        text_ += found.id;
        const std::string_view group = id_of(places_.back()).substr(0, last == 0 ? 0 : last - 1);
        groups_[group].push_back(static_cast<std::uint32_t>(places_.size() - 1));
    }
}

std::vector<std::string> Listing::ids(std::string_view prefix, bool groups) const {
    std::vector<std::string> found;
    auto place = std::lower_bound(places_.begin(), places_.end(), prefix,
                                  [&](const Place& a, std::string_view b) { return id_of(a) < b; });
    for (; place != places_.end() && id_of(*place).starts_with(prefix); ++place) {
        if (place->is_group == groups) found.emplace_back(id_of(*place));
    }
    return found;
}

std::span<const std::uint32_t> Listing::in_group(std::string_view group) const {
    const auto found = groups_.find(group == "/" ? std::string_view() : group);
    return found == groups_.end() ? std::span<const std::uint32_t>() : found->second;
}

std::vector<std::string> Listing::members(std::string_view group) const {
    std::vector<std::string> names;
    const auto numbers = in_group(group);
    names.reserve(numbers.size());
    for (const std::uint32_t number : numbers)
        names.emplace_back(id_of(places_[number]).substr(places_[number].last_component));
    return names;
}

std::size_t Listing::count_members(std::string_view group) const { return in_group(group).size(); }

// What a look finds is kept if nothing has changed during it, and used again until something does.
std::shared_ptr<const Listing> Store::listing() const {
    check_readable();
    const auto moment = [&] {
        return Listing::Moment{pool_.names_count(), pool_.committed_step(), step_.load(),
                               pool_.recovery_count()};
    };
    const Listing::Moment before = moment();
    {
        const std::lock_guard one_thread(listing_mutex_);
        if (listing_ && before.names && listing_->moment() == before) return listing_;
    }
    std::vector<Listing::Found> found;
    catalog_.for_each([&](const std::string& id, Link entry) {
        if (id == "/") return;
        if (const auto nature = visible_nature(id, entry)) found.push_back({id, nature->is_group});
    });
    array::sort_by_id(found, [](const Listing::Found& one) { return std::string_view(one.id); });
    auto made = std::make_shared<const Listing>(before, found);
    if (before.names && moment() == before) {
        const std::lock_guard one_thread(listing_mutex_);
        listing_ = made;
    }
    return made;
}

std::vector<std::string> Store::ids(std::string_view prefix, bool groups) const {
    return listing()->ids(prefix, groups);
}

std::vector<std::string> Store::members(std::string_view group) const { return listing()->members(group); }

std::size_t Store::count_members(std::string_view group) const { return listing()->count_members(group); }

}  // namespace pmemcpy::store
