#pragma once

#include "os/map.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pmemcpy::layout {

/// Mappings of payload files that this process may want again: the most recently used. One that falls out lives on
/// as long as somebody holds it.
class MappingCache {
public:
    using Shared = std::shared_ptr<const os::Mapping>;
    explicit MappingCache(std::size_t most) : most_(most) {}

    /// Null unless there is one of at least `length` bytes.
    Shared find(std::uint64_t number, std::uint64_t length);
    void add(std::uint64_t number, Shared mapping);
    void drop(std::uint64_t number);
    /// The next numbers of a walk around the cache that never ends.
    std::vector<std::uint64_t> next(std::size_t count);
    std::size_t size() const;

private:
    struct Entry {
        std::uint64_t number;
        Shared mapping;
    };
    mutable std::mutex mutex_;
    std::size_t most_;
    std::list<Entry> entries_;  // the most recently used first
    std::map<std::uint64_t, std::list<Entry>::iterator> by_number_;
    std::uint64_t last_ = 0;  // given by next()
};

}  // namespace pmemcpy::layout
