#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace compare::objects {

enum class Access {
    create,  // nothing is at the path
    update,  // another process has made it, and may be at work in it
    read,
};

/// One library that keeps many small objects under names, as one process of a program uses it that does what the
/// library's own documentation recommends. Nothing is asked to survive a power loss: every library is used without its
/// syncs, and every operation is seen by other processes when it returns, where the library can do that.
class Library {
public:
    virtual ~Library() = default;

    virtual void open(const std::string& path, Access access) = 0;
    /// Puts the object under the name, in the place of an older one.
    virtual void store(std::string_view name, std::span<const std::byte> bytes) = 0;
    /// Fills `bytes`, which is as large as the object. Throws std::runtime_error when there is none, or of another size.
    virtual void load(std::string_view name, std::span<std::byte> bytes) = 0;
    /// Errors: std::runtime_error when there is none.
    virtual void erase(std::string_view name) = 0;
    /// After it, all that was stored and erased is seen by whoever opens the path. For libraries, and variants, in which
    /// the operations alone do not do that. It is part of what is timed.
    virtual void settle();
    /// How many names there are, each of them looked at.
    virtual std::uint64_t list() = 0;
    virtual void close() = 0;

    /// Leaves nothing at the path, which is not open. Never timed.
    virtual void remove(const std::string& path);
};

/// This library cannot do what is asked; the table shows a dash.
struct Unsupported : std::runtime_error {
    using runtime_error::runtime_error;
};

inline constexpr int any_number = 1 << 20;

/// A way to use the library that is measured on its own.
struct Variant {
    std::string name;
    std::string what;                 // in a sentence
    int most_processes = 1;           // that may have it open and write at the same time
    int most_readers = 1;             // that may have it open at the same time when none writes
    int most_objects = any_number;    // beyond it a run would take hours
    int enough_objects = any_number;  // to time one; with more it takes minutes, and shows nothing else
};

// Each library's own file has these two.

extern const std::vector<Variant> variants;
/// `variant` is one of those.
std::unique_ptr<Library> make_library(const std::string& variant);

}  // namespace compare::objects
