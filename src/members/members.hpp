#pragma once

#include <pmemcpy/error.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "members/format.hpp"
#include "members/word.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "os/map.hpp"

namespace pmemcpy::members {

/// The numbers from which everything in a file follows; a room computes the body of its file from them.
using Shape = std::array<std::uint64_t, 4>;

/// How large a file is, and where the words lie that may name an owner.
struct Body {
    std::uint64_t file_bytes = 0;
    std::uint64_t words = 0;   // offset of the first one
    std::uint64_t stride = 0;  // from one to the next
    std::uint64_t count = 0;
};

/// A shared file that is open, and a seat in it. The seat's lock is dropped by the kernel when this process dies, or closes.
class Members {
public:
    struct Request {
        std::string path;
        Kind kind;
        Shape shape;
        Body body;
        unsigned mode;
    };
    /// Makes a file without a name, has its body set up by `fill`, and then gives it the name: it is there whole or not at all.
    /// Errors: already_exists, no_space, io_error, permission_denied.
    static Members create(const Request& request, const std::function<void(std::byte*)>& fill);
    /// Opens one that is there. `body_of` tells the body of a file of this shape, or throws what is wrong with the shape.
    /// Errors: not_found; corrupt for a file of another kind or version, cut off or changed; no_space where its bytes were never
    ///     allocated and cannot be; busy when all seats are taken.
    static Members open(const std::string& path, Kind kind, const std::function<Body(const Shape&)>& body_of);

    Members(Members&&) = default;
    Members& operator=(Members&&) = delete;
    ~Members() = default;

    const std::string& path() const { return file_.path(); }
    const Shape& shape() const { return shape_; }
    std::byte* base() const { return map_.base(); }
    /// All memory of the file from there on is there afterwards, in huge pages where that can be.
    void touch_all(std::uint64_t from);
    Owner me() const { return me_; }

    /// Throws `busy` in a forked child, which has neither the mapping nor the seat.
    void check() const {
        if (is_forked()) throw_forked();
    }
    bool is_forked() const { return os::fork_generation() != generation_; }

    /// Whether an owner is gone, for ever. Asks the kernel.
    bool is_dead(Owner owner) const;
    /// The count of a seat's lives. It grows with each process that takes the seat, so while it is the same, the dead in that seat are the same too.
    std::uint64_t lives(std::uint32_t seat) const { return life(seat).load(); }

    [[noreturn]] void throw_forked() const;
    [[noreturn]] void throw_corrupt(const std::string& what) const;

private:
    Members(os::File file, os::Mapping map, const Shape& shape, const Body& body);
    std::atomic_ref<std::uint64_t> life(std::uint64_t seat) const;
    void sit_down(const Body& body);
    void forget_lives(std::uint32_t seat, const Body& body) const;

    os::File file_;
    os::ClosedInChild closed_in_child_;
    os::Mapping map_;
    Shape shape_;
    Owner me_{};
    std::uint64_t generation_;
};

/// The answers of the kernel for as long as one look at many things takes. A process may be held in the middle of that look while a seat has so many
/// lives that a tag comes again. So an answer counts only while the seat was not taken again.
class Roll {
public:
    explicit Roll(const Members& members) : members_(members) {}
    /// Of an owner whose word was read before.
    bool is_dead(Owner owner);

private:
    const Members& members_;
    // Of each seat 2 * lives(), and 1 more if the last of them is over; 0 where the kernel was not asked.
    std::array<std::uint64_t, seat_count> known_{};
};

/// 0 in a thread that has not asked.
extern constinit thread_local std::uint64_t known_thread_number __attribute__((tls_model("initial-exec")));
std::uint64_t new_thread_number() noexcept;

/// A number that is one of a thread and small, to let threads begin at different places.
inline std::uint64_t thread_number() noexcept {
    return known_thread_number != 0 ? known_thread_number : new_thread_number();
}

}  // namespace pmemcpy::members
