#pragma once

#include "catalog/format.hpp"
#include "heap/record.hpp"
#include "pool/pool.hpp"

#include <cstddef>

namespace pmemcpy::catalog {

inline heap::RecordKind kind_of(const Entry*) { return heap::RecordKind::entry; }
inline heap::RecordKind kind_of(const Value*) { return heap::RecordKind::value; }
inline heap::RecordKind kind_of(const Array*) { return heap::RecordKind::array; }
inline heap::RecordKind kind_of(const Segment*) { return heap::RecordKind::segment; }
inline heap::RecordKind kind_of(const Block*) { return heap::RecordKind::block; }

/// follow() inside a guard, or where the record has been read just now: memory that is gone is a signal here.
template <class T>
T* follow_unguarded(const pool::Pool& pool, Link link) {
    const bool is_it = heap::is_current_unguarded(pool, link, kind_of(static_cast<T*>(nullptr)), sizeof(T));
    return is_it ? &pool.as<T>(link.offset()) : nullptr;
}

/// The record that `link` leads to, if it is still there and, as far as its first line tells, a T; else null. In a
/// scribbled pool a link leads anywhere, so none is followed without this look.
/// Errors: io_error when its memory is gone.
template <class T>
T* follow(const pool::Pool& pool, Link link) {
    T* record = nullptr;
    pool.guarded([&] { record = follow_unguarded<T>(pool, link); });
    return record;
}

/// How many slots a segment has, which are never more than it has room for.
inline std::uint32_t slots_of(const Segment& segment) {
    const std::size_t room = (segment.header.length - sizeof segment) / 8;
    return segment.slots < room ? segment.slots : static_cast<std::uint32_t>(room);
}

}  // namespace pmemcpy::catalog
