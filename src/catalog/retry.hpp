#pragma once

#include "heap/format.hpp"
#include "pool/pool.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pmemcpy::catalog {

using heap::Link;

/// Begins a verb again when something has moved under it. Each time another process or thread has got on with its work, so
/// neither a number of tries nor a time bounds it: contention is no damage, however long it lasts. A record that makes no
/// sense while it is published is damage. A record is whole before a word leads to it, and the word leads elsewhere before
/// the record is given up; so the evidence is that two looks in a row, each from the root of the names, come by the same
/// word to the same bytes, and these make no sense both times.
class Retry {
public:
    explicit Retry(std::string_view id) : id_(id) {}

    /// Tells which record made no sense in this try. It was reached by a word that said `record` after the try began.
    /// Errors: busy, to a mere reader while the pool is being recovered, which writes all words anew.
    void doubt(const pool::Pool& pool, Link record);
    /// False when the record in doubt is that of the try before, and the same bytes stand there: it is damaged.
    /// Else gives way to others, the longer the more tries there were.
    bool once_more();
    /// Errors: corrupt, when once_more() says no.
    void again();

private:
    struct Sight {
        std::uint64_t word = 0;
        std::uint64_t recoveries = 0;
        std::array<std::uint64_t, 3> bytes{};  // that never change while the record is published
        bool operator==(const Sight&) const = default;
    };
    std::string_view id_;
    unsigned tries_ = 0;
    std::optional<Sight> now_;
    std::optional<Sight> before_;
};

[[noreturn]] void throw_being_recovered(const pool::Pool& pool);

/// A look of a mere reader at all of something. A process that recovers the pool meanwhile writes all words anew, and part of what is there
/// looks as if it were all.
class WholeLook {
public:
    /// Errors: busy, while the pool is being recovered.
    explicit WholeLook(const pool::Pool& pool);
    /// Errors: busy, if a recovery has begun since.
    void check() const;

private:
    const pool::Pool& pool_;
    std::uint64_t recoveries_;
};

}  // namespace pmemcpy::catalog
