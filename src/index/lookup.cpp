#include "index/lookup.hpp"

#include <cstring>
#include <string_view>
#include <utility>

#include "index/posted.hpp"
#include "index/posting.hpp"

namespace pmemcpy::index {

namespace {

constexpr std::size_t most_keys_kept = 1024;

bool has(const Reading& reading, const std::string& posting) {
    bool is_there = false;
    reading.walk_postings(table_of(posting), posting, [&](std::string_view key, const Posting&) {
        is_there = key == posting;
        return false;
    });
    return is_there;
}

}  // namespace

Lookup::Lookup(std::shared_ptr<Engine> engine) : engine_(std::move(engine)), snapshot_(engine_->read()) {
    look_again();
}

void Lookup::renew() {
    snapshot_->renew();
    if (snapshot_->commits() != commits_) look_again();
}

void Lookup::look_again() {
    commits_ = snapshot_->commits();
    about_ = about_in(*snapshot_);
    keys_.clear();
    sorts_.clear();
    has_unposted_ = about_.format == index_format && key(std::string(unposted_key)).has_more;
}

PostedKey Lookup::key(const std::string& name) const {
    if (const auto known = keys_.find(name); known != keys_.end()) return known->second;
    if (keys_.size() == most_keys_kept) keys_.clear();
    return keys_.emplace(name, read_key(name)).first->second;
}

// From the first of one sort to the first of the next.
unsigned Lookup::sorts_under(const std::string& name) const {
    if (const auto known = sorts_.find(name); known != sorts_.end()) return known->second;
    if (sorts_.size() == most_keys_kept) sorts_.clear();
    unsigned sorts = 0;
    if (const auto number = key(name).number) {
        Range left = all_of(*number);
        for (bool more = true; more;) {
            more = false;
            snapshot_->walk_postings(table_of(left.from), left.from,
                                     [&](std::string_view at, const Posting&) {
                                         if (at >= left.end) return false;
                                         sorts |= 1U << static_cast<unsigned>(sort_in(at));
                                         left.from = all_of(*number, sort_in(at)).end;
                                         more = left.from < left.end;
                                         return false;
                                     });
        }
    }
    return sorts_.emplace(name, sorts).first->second;
}

std::vector<Posting> Lookup::take_list() const {
    buffers_.postings.clear();
    return std::exchange(buffers_.postings, {});
}

void Lookup::leave(std::vector<Posting>&& list) const {
    constexpr std::size_t most_kept = std::size_t{1} << 15;
    if (list.capacity() <= most_kept) buffers_.postings = std::move(list);
}

PostedKey Lookup::read_key(const std::string& name) const {
    PostedKey key;
    const auto bytes = snapshot_->get(Table::keys, name);
    if (!bytes || bytes->size() != sizeof(std::uint32_t)) return key;
    std::uint32_t number = 0;
    std::memcpy(&number, bytes->data(), sizeof number);
    return {number, has(*snapshot_, posting_of_more(number)), has(*snapshot_, posting_of_several(number)),
            has(*snapshot_, posting_of_group(number))};
}

}  // namespace pmemcpy::index
