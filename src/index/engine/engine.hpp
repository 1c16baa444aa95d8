#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::index {

/// What an index is made of. Keys are sorted as bytes are, and places in any order; the three of postings have any number of
/// objects under a key, sorted by place; the others have one value each.
enum class Table {
    about,    // of the index itself
    keys,     // what can be asked for, to a number
    objects,  // place of an object, the 8 bytes of a std::uint64_t, to its id, and nothing else beside it
    posted,   // place of an object to all that it is posted under
    pending,  // places of objects that have changed in a step that was not committed
    // Postings: key number and value, to objects. Those of attributes have the ids too, which is what a query wants: so it finds what it
    // is asked for where it looks for it, and nowhere else.
    attributes,
    known,  // of what is known of every object without being told
    names,  // of what objects are called: each has another key, and who walks through them wants many
};
inline constexpr std::size_t table_count = 8;
inline constexpr std::size_t longest_key = 511;
inline constexpr std::size_t longest_posted_id = 500;

/// An object under a key.
struct Posting {
    std::uint64_t place = 0;  // even
    std::string_view id{};    // if it is with it: in `attributes`, if it is not longer than longest_posted_id
    // Most questions want no groups, of which there may be as many as of anything else.
    bool is_group = false;

    /// By object, whether its id is with it or not.
    bool operator<(const Posting& other) const { return place < other.place; }
    bool operator==(const Posting& other) const { return place == other.place; }
};

/// An ordered set of entries, as it was at one moment. Whoever holds one keeps its space from being used again: so not for long.
/// What it gives is valid until it goes, or until its table is written to.
class Reading {
public:
    virtual ~Reading() = default;
    virtual std::optional<std::string_view> get(Table table, std::string_view key) const = 0;
    /// Calls f(key, value) from the first key on that is not before `from`, in order, until it returns false.
    using Visit = std::function<bool(std::string_view key, std::string_view value)>;
    virtual void walk(Table table, std::string_view from, const Visit& visit) const = 0;
    /// The same of postings. Whoever has a large f gives std::ref(f), which needs no memory.
    using VisitPosting = std::function<bool(std::string_view key, const Posting& posting)>;
    virtual void walk_postings(Table table, std::string_view from, const VisitPosting& visit) const = 0;
    /// Postings of `names` as they lie together, for a PackReader: from the pack on that the first key not before `from` is in or behind.
    /// All keys of a pack are before its `end`, which is empty for the last one.
    using VisitPack = std::function<bool(std::string_view pack, std::string_view end)>;
    virtual void walk_packs(std::string_view from, const VisitPack& visit) const = 0;
    /// Adds the objects under one key, in order.
    virtual void add_posted(Table table, std::string_view key, std::vector<Posting>& postings) const = 0;
    /// How many entries there are in a table; of `names` how many the postings are packed in.
    virtual std::uint64_t size(Table table) const = 0;
};

/// A Reading that can be had again as of a later moment, for less than another one costs.
class Snapshot : public Reading {
public:
    /// Until renew() it keeps nothing from being used again, and nothing may be asked of it.
    virtual void rest() = 0;
    /// After a rest(). Errors: corrupt, io_error.
    virtual void renew() = 0;
    /// Another number after each commit: where it is the same, so is everything that was read.
    virtual std::uint64_t commits() const = 0;
};

/// One at a time among all processes. Nothing of it is seen before commit(), and nothing stays if it goes without.
/// Errors: no_space, by any call, and then nothing of it stays.
class Writing : public Reading {
public:
    virtual void put(Table table, std::string_view key, std::string_view value) = 0;
    virtual void erase(Table table, std::string_view key) = 0;
    virtual void post(Table table, std::string_view key, const Posting& posting) = 0;
    /// Of what was posted so, with the same id, as a group or not.
    virtual void unpost(Table table, std::string_view key, const Posting& posting) = 0;
    virtual void commit() = 0;
};

/// Entries on disk that many processes share.
///
/// Crash: of a process: what was committed is there, by whichever process is next. Of the machine: it may be ruined without
///     a sync(), so it is only for what can be made anew.
/// Sharing: threads may share one; a forked child must not use its parent's.
/// Errors: corrupt by any call when its files are not what they were.
class Engine {
public:
    virtual ~Engine() = default;
    virtual std::unique_ptr<Snapshot> read() const = 0;
    /// Waits until no other is writing.
    virtual std::unique_ptr<Writing> write() = 0;
    /// False when its files have been removed, or moved: then nobody sees any more what is written here.
    virtual bool is_there() const = 0;
    /// It survives a power loss as it is now.
    virtual void sync() = 0;
    /// Writes what it holds now into a new file, which never changes. Errors: io_error, no_space.
    virtual void copy_to(const std::string& path) const = 0;
    virtual std::uint64_t bytes() const = 0;
    /// Little more fits into it, however much space there is on the file system.
    virtual bool is_full() const = 0;
};

/// The name of the file that an engine has in its directory.
inline constexpr const char* tree_file = "tree";

/// In an existing directory; made if missing. `at_most` bytes can be in it, and so much address space is taken, or less where a
/// process has less.
/// Errors: corrupt when what is there is no such thing; permission_denied, no_space, io_error.
std::shared_ptr<Engine> open_engine(const std::string& directory, std::uint64_t at_most, unsigned mode);
/// The same without making one. Errors: not_found too; permission_denied also for who may only read, because a reader says in
/// the files which state he reads.
std::shared_ptr<Engine> open_engine_if_there(const std::string& directory, std::uint64_t at_most);
/// A file of copy_to(). Errors: not_found.
std::shared_ptr<Engine> open_copy(const std::string& path);

}  // namespace pmemcpy::index
