#include "index/doubts.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "index/inheritance.hpp"
#include "index/known.hpp"
#include "index/lookup.hpp"
#include "index/posted.hpp"
#include "index/posting.hpp"
#include "index/search.hpp"

namespace pmemcpy::index {

namespace {

// The first few settle it nearly always.
constexpr std::size_t most_to_look_at = 64;

unsigned bit_of(PostedSort sort) { return 1U << static_cast<unsigned>(sort); }

class Doubter {
public:
    Doubter(const Lookup& lookup, const Inheritance& inheritance, const NodePointer& condition,
            std::span<const std::uint64_t> changed)
        : lookup_(lookup), inheritance_(inheritance), scope_(prefix_of(condition)), changed_(changed) {}

    std::optional<Doubt> doubt_of(const Node& test) const {
        const Key& key = *test.key;
        if (!test.misfit.empty() || !inheritance_.means_known(key)) return doubt_of_all(test);
        auto doubt = doubt_of_own(test);
        if (doubt && !doubt->is_all) return doubt;
        return key.means() != Key::Means::known && inheritance_.reaches_into(scope_, key) ? doubt_of_all(test)
                                                                                          : doubt;
    }

private:
    /// That anything in the scope may have something that compares or does not.
    Doubt doubt_of_all(const Node& test) const {
        Doubt doubt{.test = &test};
        const Key name({std::string(word_of(Known::name))}, Key::Means::known);
        const auto begins = index::test(Relation::begins, name, {Literal(scope_)});
        if (const PostedKey names = lookup_.key(name_of_root(name)); names.number)
            list(ranges_of(*names.number, *begins).front(), doubt);
        doubt.is_all = false;
        return doubt;
    }
    std::optional<Doubt> doubt_of_own(const Node& test) const {
        const std::string root_name = name_of_root(*test.key);
        const PostedKey root = lookup_.key(root_name);
        if (!root.number) return {};  // no object has such a thing
        Doubt doubt{.test = &test};
        // What has a number in its name is posted under the names alone.
        if (!has_names_only(*test.key)) {
            list(all_of(*root.number), doubt);
        } else {
            const std::string name = name_of_key(*test.key);
            const std::optional<std::uint32_t> number = lookup_.key(name).number;
            unsigned compared = 0;
            for (const PostedSort sort : sorts_compared(test)) compared |= bit_of(sort);
            const unsigned sorts = number ? lookup_.sorts_under(name) : 0;
            const bool may_be_unlike = (sorts & ~compared) != 0;
            if (!may_be_unlike && !root.has_more) return {};
            if (number && has_any(*number, sorts & compared)) return {};
            doubt.has_unlike = number && has_any(*number, sorts & ~compared);
        }
        if (root.has_more) list(all_of(*root.number, PostedSort::more), doubt);
        const bool is_none = !doubt.has_unlike && doubt.is_all && doubt.to_look_at.empty();
        return is_none ? std::nullopt : std::optional(std::move(doubt));
    }

    using Visit = std::function<bool(std::string_view id)>;
    /// Objects in the scope, until `visit` returns false.
    void each(const Range& range, const Visit& visit) const {
        const Reading& reading = lookup_.reading();
        const auto one = [&](std::string_view at, const Posting& posting) {
            if (at >= range.end) return false;
            if (std::binary_search(changed_.begin(), changed_.end(), posting.place)) return true;
            std::string_view id = posting.id;
            if (id.empty())
                id = reading.get(Table::objects, key_of(posting.place)).value_or(std::string_view());
            return !id.starts_with(scope_) || visit(id);
        };
        reading.walk_postings(table_of(range.from), range.from, std::ref(one));
    }
    /// Something of one of these sorts.
    bool has_any(std::uint32_t number, unsigned sorts) const {
        bool has = false;
        for (unsigned sort = 1; sort < static_cast<unsigned>(PostedSort::more) && !has; ++sort) {
            if ((sorts & 1U << sort) == 0) continue;
            each(all_of(number, static_cast<PostedSort>(sort)), [&](std::string_view) {
                has = true;
                return false;
            });
        }
        return has;
    }
    void list(const Range& range, Doubt& doubt) const {
        each(range, [&](std::string_view id) {
            doubt.is_all = doubt.to_look_at.size() < most_to_look_at;
            if (doubt.is_all) doubt.to_look_at.emplace_back(id);
            return doubt.is_all;
        });
    }

    const Lookup& lookup_;
    const Inheritance& inheritance_;
    std::string scope_;
    std::span<const std::uint64_t> changed_;
};

}  // namespace

std::vector<Doubt> doubts_of(const Lookup& lookup, const Inheritance& inheritance,
                             const NodePointer& condition, std::span<const std::uint64_t> changed) {
    std::vector<Doubt> doubts;
    const std::vector<const Node*> tests = tests_that_can_be_unlike(condition);
    if (tests.empty()) return doubts;
    const Doubter doubter(lookup, inheritance, condition, changed);
    for (const Node* test : tests) {
        if (auto doubt = doubter.doubt_of(*test)) doubts.push_back(std::move(*doubt));
    }
    return doubts;
}

}  // namespace pmemcpy::index
