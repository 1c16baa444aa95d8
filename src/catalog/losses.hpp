#pragma once

#include "catalog/format.hpp"
#include "heap/heap.hpp"

#include <pmemcpy/info.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace pmemcpy::catalog {

/// What recovery has found damaged, by incarnation; in the end, by the id that the user knows.
class Losses {
public:
    /// Whose an incarnation is: the variable's of this id, or (parent not 0) the attribute's of this name.
    void knows(std::uint64_t incarnation, std::uint64_t parent, std::string key);
    void add(std::uint64_t incarnation, std::string what, const Selection& box = {});
    /// A place where a record should be and is none that is whole. Its own words may still tell whose it was.
    void add_record(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room);
    std::size_t size() const { return losses_.size(); }
    std::vector<Damage> named() const;

private:
    struct Loss {
        std::uint64_t incarnation;
        Selection box;
        std::string what;
    };
    struct Name {
        std::uint64_t parent;
        std::string key;
    };
    std::vector<Loss> losses_;
    std::unordered_map<std::uint64_t, Name> names_;
};

/// The key of an entry whose record is not whole, if it fits its hash: then it is right all the same. Else empty.
std::string key_beyond_doubt(const pool::Pool& pool, std::uint64_t offset, std::uint64_t room);

}  // namespace pmemcpy::catalog
