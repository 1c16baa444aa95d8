#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/engine/engine.hpp"
#include "index/fact.hpp"
#include "index/node.hpp"

namespace pmemcpy::index {

/// How facts are written as keys of postings, so that they are sorted as they compare: the number of what was asked for in 4
/// bytes, the sort in one, then the value. Numbers of every kind compare with each other, exactly.
inline constexpr std::size_t posting_head_bytes = 5;
inline constexpr std::size_t longest_posted_text = 400;  // of longer ones the beginning and a hash are posted

enum class PostedSort : unsigned char {
    truth = 1,
    number,
    text,
    time,
    shape,
    incomparable,
    more,
    several,
    group
};

/// Keys of what is known of every object have numbers with the first of these bits, names with both, and postings in tables of their own.
inline constexpr std::uint32_t known_key_bit = std::uint32_t{1} << 31;
inline constexpr std::uint32_t name_key_bit = std::uint32_t{1} << 30;
inline Table table_of(std::uint32_t key) {
    if ((key & known_key_bit) == 0) return Table::attributes;
    return (key & name_key_bit) == 0 ? Table::known : Table::names;
}
/// The same by the first byte of a posting.
Table table_of(std::string_view posting);

std::string posting_of(std::uint32_t key, const Fact& fact);
/// Under the attribute itself: it has more in it than is posted, so whatever is asked of it has to be looked up.
std::string posting_of_more(std::uint32_t key);

/// Under a key: it has more than one thing there, so that of several tests each may be met by another one.
std::string posting_of_several(std::uint32_t key);
/// Under an attribute itself: a group has it, whose members have it too where nothing nearer hides it.
std::string posting_of_group(std::uint32_t key);
/// The first bytes of a posting: which key it is of.
std::string_view key_in(std::string_view posting);

/// What a posting says of its text.
struct PostedText {
    std::string_view text;
    bool is_whole;
};
inline PostedSort sort_in(std::string_view posting) {
    return posting.size() < posting_head_bytes ? PostedSort{} : static_cast<PostedSort>(posting[4]);
}
/// Nothing if it is no text's.
inline std::optional<PostedText> text_in(std::string_view posting) {
    if (sort_in(posting) != PostedSort::text) return {};
    const std::string_view text = posting.substr(posting_head_bytes);
    return PostedText{text.substr(0, longest_posted_text), text.size() <= longest_posted_text};
}
/// The text is all that stands behind the head.
inline bool is_whole_text(std::string_view posting) {
    return sort_in(posting) == PostedSort::text && posting.size() <= posting_head_bytes + longest_posted_text;
}

/// Postings from `from` on, as far as they are before `end`.
struct Range {
    std::string from;
    std::string end;
    bool is_exact = true;  ///< all of them meet the test; else some that do not may be among them
};
/// Where the facts are that meet a test of the key with this number; ranges do not overlap. With ~ and `contains` each text in
/// them is still to be looked at.
std::vector<Range> ranges_of(std::uint32_t key, const Node& test);
/// Makes `posting` the only one under which there is what is equal to a literal; false where there may be others.
bool is_at_one_posting(std::uint32_t key, const Literal& literal, std::string& posting);
/// What is in both.
std::vector<Range> common(const std::vector<Range>& a, const std::vector<Range>& b);
/// All postings of a key, or of one sort of it.
Range all_of(std::uint32_t key);
Range all_of(std::uint32_t key, PostedSort sort);
/// The sorts whose facts compare with the operands of a test.
std::vector<PostedSort> sorts_compared(const Node& test);

}  // namespace pmemcpy::index
