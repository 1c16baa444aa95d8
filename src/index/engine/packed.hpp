#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <pmemcpy/error.hpp>

#include "index/engine/engine.hpp"

namespace pmemcpy::index {

/// A posting's place, in whose lowest bit is whether it is a group's, as an engine writes it.
inline std::uint64_t marked_place(const Posting& posting) {
    return posting.place | (posting.is_group ? 1U : 0U);
}
inline Posting posting_at(std::uint64_t marked) {
    return {marked & ~std::uint64_t{1}, {}, (marked & 1) != 0};
}

/// Postings one behind the other in one entry of an engine, sorted by key, then place: so a walk takes one step for all of them.
///
/// Of each: 2 bytes, the length of its key; 8, its marked place; the key.
class PackReader {
public:
    explicit PackReader(std::string_view pack) : pack_(pack) {}

    /// False at the end. Errors: corrupt.
    bool next() {
        at_ = end_;
        if (at_ == pack_.size()) return false;
        std::uint16_t length = 0;
        if (pack_.size() - at_ < head_bytes) throw_corrupt();
        std::memcpy(&length, pack_.data() + at_, sizeof length);
        std::memcpy(&marked_, pack_.data() + at_ + sizeof length, sizeof marked_);
        if (pack_.size() - at_ - head_bytes < length) throw_corrupt();
        key_ = pack_.substr(at_ + head_bytes, length);
        end_ = at_ + head_bytes + length;
        return true;
    }
    std::string_view key() const { return key_; }
    Posting posting() const { return posting_at(marked_); }
    /// As what it is sorted.
    int compare(std::string_view key, std::uint64_t marked) const {
        const int order = key_.compare(key);
        return order != 0 ? order : marked_ < marked ? -1 : marked_ > marked ? 1 : 0;
    }
    /// Where it lies; at the end of a pack, where the next one would.
    std::size_t begin() const { return at_; }
    std::size_t end() const { return end_; }

    static constexpr std::size_t head_bytes = sizeof(std::uint16_t) + sizeof(std::uint64_t);

private:
    [[noreturn]] static void throw_corrupt() {
        throw Error(Code::corrupt, "postings of the index make no sense");
    }

    std::string_view pack_;
    std::size_t at_ = 0;
    std::size_t end_ = 0;
    std::uint64_t marked_ = 0;
    std::string_view key_;
};

/// False if it is there already.
bool add_to_pack(std::string& pack, std::string_view key, const Posting& posting);
/// False if it is not there.
bool remove_from_pack(std::string& pack, std::string_view key, const Posting& posting);

/// Where to cut a pack that has become too long: between two keys, in the middle, or before the last key if it is the one that `was_added`
/// and nothing comes `behind` the pack, for then more are to be expected there. 0 if there is only one key.
std::size_t place_to_cut(std::string_view pack, std::string_view was_added, bool behind);

}  // namespace pmemcpy::index
