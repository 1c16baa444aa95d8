#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mosiqs {

/// A number is stored as what it is, and compared as a number.
using Value = std::variant<std::int64_t, double, std::string>;

struct Attribute {
    std::string key;
    Value value;
};

/// What a PMO of the paper is: `group`/`name` is its id. A group of the outermost level may be a file of its own.
struct Object {
    std::string_view group;
    std::string_view name;
    std::span<const std::byte> data;
    std::span<const Attribute> attributes;
};

enum class Access {
    create,  // nothing is at the path
    update,  // another process has made it, and may be at work in it
    read,
};

/// This library cannot do what is asked; the table shows a dash.
struct Unsupported : std::runtime_error {
    using runtime_error::runtime_error;
};

/// One library that keeps objects with attributes and answers questions about them, as one process uses it that does what the
/// library's own documentation recommends. Nothing is asked to survive a power loss.
class Library {
public:
    virtual ~Library() = default;

    virtual void open(const std::string& path, Access access) = 0;
    /// What has to be read before the first question can be answered: an index that lives in memory only.
    virtual void make_ready();
    virtual void close() = 0;

    /// Memory of the medium, ahead of the stores: for so many bytes of `group`, and of all groups together. Never timed.
    virtual void prepare(std::string_view group, std::uint64_t bytes, std::uint64_t bytes_in_all);
    virtual void store(const Object& object);
    virtual void annotate_group(std::string_view group, std::span<const Attribute> attributes);
    /// After it, whoever opens the path sees what was stored.
    virtual void publish();
    /// After it, questions find what was stored, too.
    virtual void catch_up();

    /// Fills `bytes`, which is as large as the object.
    virtual void load(std::string_view group, std::string_view name, std::span<std::byte> bytes);
    /// Calls `use` with the bytes of an object, where they lie or in `buffer`.
    virtual void with(std::string_view group, std::string_view name, std::span<std::byte> buffer,
                      const std::function<void(std::span<const std::byte>)>& use);
    virtual Value attribute(std::string_view group, std::string_view name, const std::string& key);

    // Questions. They append the ids of what they find, in any order.
    virtual void equal(const std::string& key, const Value& value, std::vector<std::string>& ids);
    /// Both ends included.
    virtual void between(const std::string& key, double first, double last, std::vector<std::string>& ids);
    virtual void containing(std::string_view text, std::vector<std::string>& ids);
    /// Objects under the group, however deep.
    virtual void members(std::string_view group, std::vector<std::string>& ids);
    /// Of the group itself.
    virtual std::uint64_t count_attributes(std::string_view group);
};

/// A way to use the library that is measured on its own.
struct Variant {
    std::string name;
    std::string what;  // in a sentence
};

// Each library's own file has these two.

extern const std::vector<Variant> variants;
/// `variant` is one of those. Errors: Unsupported.
std::unique_ptr<Library> make_library(const std::string& variant);

}  // namespace mosiqs
