#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <pmemcpy/box.hpp>
#include <pmemcpy/info.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Questions about what is in a pool: which variables and groups have these attributes, this type, these values?
//
//     for (const Found& found : query(pool, R"(temperature.max > 300 and run.author = "li" and name ~ "u/*")"))
//         std::cout << found.id << '\n';
//
// The language is the same in C++, Python and on the command line: docs/query.md has its grammar. Key and Condition say
// the same without a text.

namespace pmemcpy {

class PMEM;

namespace index {
struct Node;
class Search;
}  // namespace index

/// A moment in UTC. In a query a text stands for one and covers a period as exact as it is: "2026-10" is all
/// of that month.
struct Time {
    std::int64_t seconds = 0;       ///< since 1970, of its first moment
    std::uint64_t attoseconds = 0;  ///< added to these
    friend auto operator<=>(const Time&, const Time&) noexcept = default;
};

/// Stands for a value that is given when the query is asked: the `?` in `author = ?`.
struct Parameter {
    friend auto operator<=>(const Parameter&, const Parameter&) noexcept = default;
};

/// The right-hand side of a comparison: a number, a text, true or false, a time, a shape, or a Parameter.
class Literal {
public:
    using Value =
        std::variant<bool, std::int64_t, std::uint64_t, double, std::string, Time, Dimensions, Parameter>;

    template <class T>
        requires std::integral<T> || std::floating_point<T>
    Literal(T value) : value_(widened(value)) {}
    Literal(const char* text) : value_(std::string(text)) {}
    Literal(std::string_view text) : value_(std::string(text)) {}
    Literal(std::string text) : value_(std::move(text)) {}
    Literal(Time time) : value_(time) {}
    Literal(std::chrono::system_clock::time_point time);
    Literal(const Dimensions& shape) : value_(shape) {}
    Literal(Parameter parameter) : value_(parameter) {}

    const Value& value() const noexcept { return value_; }
    /// The literal as written in a query: 42, 0.5, "li", true, (4, 100), ?. A time as "2026-10-01T12:00:00".
    std::string text() const;

    friend bool operator==(const Literal&, const Literal&) noexcept = default;

private:
    template <class T>
    static Value widened(T value) {
        if constexpr (std::same_as<T, bool>) {
            return value;
        } else if constexpr (std::floating_point<T>) {
            return static_cast<double>(value);
        } else if constexpr (std::signed_integral<T>) {
            return static_cast<std::int64_t>(value);
        } else {
            return static_cast<std::uint64_t>(value);
        }
    }
    Value value_;
};

/// Selects variables and groups. A value, cheap to copy.
class Condition {
public:
    /// Selects what is in a group, at any depth. Errors: invalid_argument (id).
    static Condition under(std::string_view group);

    friend Condition operator&&(const Condition& a, const Condition& b);
    friend Condition operator||(const Condition& a, const Condition& b);
    friend Condition operator!(const Condition& a);

    explicit Condition(std::shared_ptr<const index::Node> node) : node_(std::move(node)) {}
    const std::shared_ptr<const index::Node>& node() const noexcept { return node_; }

private:
    std::shared_ptr<const index::Node> node_;
};

/// What of an object a condition speaks of: an attribute, of which `a.b` is the member b of a structure, or something that is known
/// of each object (`name`, `dtype`, `bytes`, ...: docs/query.md lists them). An attribute of an enclosing group, or of the pool, is
/// its members' too, where nothing nearer has that name.
/// A comparison is true if the object has such a thing and it compares so; of several (a list) if one of them does.
class Key {
public:
    /// What its first part names.
    enum class Means {
        attribute,  ///< attr("step")
        known,      ///< @step
        nearest,  ///< step: the object's own attribute, else what is known of it, else an attribute of what it lies in
    };

    /// As in a query. Errors: invalid_argument, naming the column.
    explicit Key(std::string_view text);
    Key(const char* text) : Key(std::string_view(text)) {}
    /// An attribute of exactly this name, also if it has dots in it or is a word of the language.
    static Key attribute(std::string_view name) { return {{std::string(name)}, Means::attribute}; }
    /// Taken apart, with the members behind. A word of the language for what is known is needed for all but an attribute.
    Key(std::vector<std::string> parts, Means means) : parts_(std::move(parts)), means_(means) {}

    Condition exists() const;
    /// A text that this glob is for, as for ids in `pmemcpy ls`. Errors: invalid_argument.
    Condition matches(std::string_view glob) const;
    Condition contains(std::string_view text) const;
    Condition begins_with(std::string_view text) const;
    /// Both ends included.
    Condition between(const Literal& first, const Literal& last) const;
    Condition one_of(std::initializer_list<Literal> values) const { return one_of(std::vector(values)); }
    Condition one_of(const std::vector<Literal>& values) const;

    friend Condition operator==(const Key& key, const Literal& value);
    friend Condition operator!=(const Key& key, const Literal& value);
    friend Condition operator<(const Key& key, const Literal& value);
    friend Condition operator<=(const Key& key, const Literal& value);
    friend Condition operator>(const Key& key, const Literal& value);
    friend Condition operator>=(const Key& key, const Literal& value);

    /// As in a query.
    std::string text() const;
    const std::vector<std::string>& parts() const noexcept { return parts_; }
    Means means() const noexcept { return means_; }

private:
    std::vector<std::string> parts_;
    Means means_;
};

/// A condition, and what to return of the objects that meet it. A value, cheap to copy.
class Query {
public:
    Query() = default;  ///< everything
    Query(Condition condition) : condition_(std::move(condition)) {}
    /// Parses a query.
    /// Errors: invalid_argument, with the column that was not understood and what could stand there;
    ///     type_mismatch for a comparison that no object can meet, such as `bytes > "a"`.
    static Query parse(std::string_view text);

    /// The same query with values for its `?`, in order.
    /// Errors: invalid_argument for more or fewer values; type_mismatch, as of parse().
    Query with(std::span<const Literal> values) const;
    Query with(std::initializer_list<Literal> values) const { return with(std::span(values)); }

    /// Restricts the query to a group, at any depth. Errors: invalid_argument (id).
    Query& within(std::string_view group);
    /// Sorts by this key first, then by those set before, then by name. Objects without the key come last.
    Query& order_by(const Key& key, bool descending = false);
    /// Limits the number of results.
    Query& limit(std::uint64_t most);
    /// Counts the objects; with a key, counts those of each value.
    Query& count();
    Query& count_by(const Key& key);

    struct Order {
        Key key;
        bool descending;
    };
    const std::optional<Condition>& condition() const noexcept { return condition_; }
    const std::vector<Order>& order() const noexcept { return order_; }
    const std::optional<std::uint64_t>& most() const noexcept { return most_; }
    bool is_count() const noexcept { return is_count_; }
    const std::optional<Key>& counted_key() const noexcept { return counted_key_; }
    /// What it compares, sorts and counts by, each once, in the order of its text.
    std::vector<Key> keys() const;

    /// The text, which parse() reads.
    std::string text() const;

private:
    std::optional<Condition> condition_;
    std::vector<Order> order_;
    std::optional<std::uint64_t> most_;
    std::optional<Key> counted_key_;
    bool is_count_ = false;
};

/// A variable or group that a query found.
struct Found {
    std::string id;
    /// When the query compares `value`: for each block of an array with matching elements, the smallest box
    /// around these. With several such comparisons, of all that were needed.
    std::vector<Box> boxes{};
    /// The values sorted by, one for each key of `order by`; nothing for a key that the object does not have.
    std::vector<std::optional<Literal>> order{};

    /// The object's present properties. The pool must be open. Errors: not_found, when it was erased since.
    Info info() const;
    const PMEM* pool = nullptr;
};

/// The results of a query, one after another, as they are found.
/// Sharing: one thread at a time; the pool must stay open. Stores, erases and renames by others meanwhile are
///     seen or not, object by object: each object is as it was when the query looked at it.
class Matches {
public:
    /// The next result; nothing at the end.
    /// Errors: type_mismatch at the end, when a comparison met only values of another type (a text compared
    ///     with a number, say), so that it could not be true of any; corrupt, io_error.
    std::optional<Found> next();

    class Iterator {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Found;
        using difference_type = std::ptrdiff_t;
        using pointer = const Found*;
        using reference = const Found&;
        explicit Iterator(Matches& matches) : matches_(&matches), found_(matches.next()) {}
        const Found& operator*() const { return *found_; }
        const Found* operator->() const { return &*found_; }
        Iterator& operator++() {
            found_ = matches_->next();
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator==(std::default_sentinel_t) const { return !found_; }

    private:
        Matches* matches_;
        std::optional<Found> found_;
    };
    Iterator begin() { return Iterator(*this); }
    std::default_sentinel_t end() const noexcept { return {}; }

    explicit Matches(std::unique_ptr<index::Search> search);
    Matches(Matches&&) noexcept;
    Matches& operator=(Matches&&) noexcept;
    ~Matches();

private:
    std::unique_ptr<index::Search> search_;
};

/// True if `a` comes before `b` in `order by`: numbers before texts before times, and missing ones last.
bool sorts_before(const std::optional<Literal>& a, const std::optional<Literal>& b);

/// The number of objects with one value.
struct Counted {
    std::optional<Literal> value;  ///< nothing: for a plain count, or for objects without the key
    std::uint64_t objects = 0;
};

/// Finds the objects that meet a condition, sorted by name unless the query gives another order. `values`
/// stand for its `?`, in order: a query is then parsed once and asked many times, which is fastest, and
/// values from outside need no quotes.
/// Errors: those of Query::parse; invalid_argument for a query that counts, or for more or fewer values than
///     it has `?`.
/// Example: query(pool, by_author, {"li"}), where by_author is Query::parse("author = ?")
Matches query(const PMEM& pool, const Query& question, std::span<const Literal> values = {});
Matches query(const PMEM& pool, std::string_view text, std::span<const Literal> values = {});
inline Matches query(const PMEM& pool, const Query& question, std::initializer_list<Literal> values) {
    return query(pool, question, std::span(values));
}
inline Matches query(const PMEM& pool, std::string_view text, std::initializer_list<Literal> values) {
    return query(pool, text, std::span(values));
}

/// Returns only the ids that query() would find, as of one moment of the call where the index tells. Takes
/// less than half the time.
/// Errors: those of query(), and of Matches::next().
std::vector<std::string> ids(const PMEM& pool, const Query& question, std::span<const Literal> values = {});
std::vector<std::string> ids(const PMEM& pool, std::string_view text, std::span<const Literal> values = {});
/// Appends the ids to `ids`, so that a caller that asks often keeps the memory. After an error some may have
/// been added.
void add_ids(const PMEM& pool, const Query& question, std::span<const Literal> values,
             std::vector<std::string>& ids);

/// What an object has under a key, as a query sees it: of a list each, and what lies in groups that hold it, too.
/// Shape: nothing if it has no such thing, and for the elements of an array.
/// Errors: not_found for an object that is not there; corrupt, io_error.
std::vector<Literal> values_under(const PMEM& pool, std::string_view id, const Key& key);

/// How a query is answered, in lines for people: what the index says, and how many objects are still to be looked at.
/// Errors: those of Query::parse.
std::string explain(const PMEM& pool, const Query& question);
std::string explain(const PMEM& pool, std::string_view text);

/// Counts the objects that meet a condition: one number, or for `count by` one for each value, sorted by
/// value.
/// Shape: an object with several values (a list) counts for each of them.
/// Errors: those of query(), and of Matches::next().
std::vector<Counted> count(const PMEM& pool, const Query& question);
std::vector<Counted> count(const PMEM& pool, std::string_view text);

}  // namespace pmemcpy
