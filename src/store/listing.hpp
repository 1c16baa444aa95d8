#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pmemcpy::store {

/// The ids that one look at a pool has found, in the order of their bytes, and which of them are directly in which group.
class Listing {
public:
    /// What tells that a later look would find the same.
    struct Moment {
        std::optional<std::uint64_t> names;  // nothing: they are just changing
        std::uint64_t committed_step;
        std::uint64_t own_step;
        std::uint64_t recoveries;
        bool operator==(const Moment&) const = default;
    };
    struct Found {
        std::string id;
        bool is_group;
    };
    Listing(const Moment& moment, const std::vector<Found>& sorted);

    const Moment& moment() const { return moment_; }
    /// Those that begin with `prefix`.
    std::vector<std::string> ids(std::string_view prefix, bool groups) const;
    /// The last component of each that lies in the group; in "/" and in "" the first of those without another.
    std::vector<std::string> members(std::string_view group) const;
    std::size_t count_members(std::string_view group) const;

private:
    struct Place {
        std::size_t begin;  // in text_
        std::uint32_t bytes;
        std::uint32_t last_component;
        bool is_group;
    };
    std::string_view id_of(const Place& place) const {
        return std::string_view(text_).substr(place.begin, place.bytes);
    }
    std::span<const std::uint32_t> in_group(std::string_view group) const;

    // A pool may have a million names, and they stay here as long as nothing changes: so they lie in one piece.
    Moment moment_;
    std::string text_;
    std::vector<Place> places_;
    std::unordered_map<std::string_view, std::vector<std::uint32_t>> groups_;  // numbers of places
};

}  // namespace pmemcpy::store
