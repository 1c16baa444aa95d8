#pragma once

// A heap in a pool of its own, in which a test plays the catalog's part.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "heap/heap.hpp"
#include "tests/folder.hpp"

namespace pmemcpy::heap {

/// The catalog's part, played by a test: a record is reachable if it is in a set; its extent is kept in a field.
struct TestRecord {
    RecordHeader header;
    Extent extent;
};

struct Attached final : pool::Lifecycle, Reachability {
    explicit Attached(const std::string& path) : pool(path, false, MapSync::automatic), heap(pool) {
        heap.set_extent_of([](const RecordHeader& header) {
            return header.length == sizeof(TestRecord) ? reinterpret_cast<const TestRecord&>(header).extent
                                                       : Extent{};
        });
        pool.attach(*this);
    }
    ~Attached() override { pool.detach(*this); }
    void rebuild() override {}
    bool scavenge(std::uint64_t slot) override {
        heap.finish_step(slot, *this);
        return heap.scavenge(slot, *this);
    }
    bool leave() override {
        heap.release_slabs();
        return heap.reclaim(Heap::Effort::thorough);
    }
    bool is_reachable(Link record) override { return reachable.contains(record.word); }

    /// A sealed record with an extent of that size.
    Link make(std::uint64_t extent_bytes) {
        const std::uint64_t offset = heap.allocate_record(sizeof(TestRecord));
        RecordHeader header{};
        header.kind = static_cast<std::uint8_t>(RecordKind::value);
        header.length = sizeof(TestRecord);
        const Extent extent = heap.allocate_extent(extent_bytes, offset);
        auto& record = pool.as<TestRecord>(offset);
        pool.medium().write(&record.header, &header, offsetof(RecordHeader, state));
        pool.medium().write(&record.header.word, &header.word, sizeof header.word);
        pool.medium().write(&record.extent, &extent, sizeof extent);
        const std::uint64_t version = pool.draw_version();
        seal(pool, offset, version);
        return Link::to(offset, version);
    }

    pool::Pool pool;
    Heap heap;
    std::set<std::uint64_t> reachable;
};

class heap_room : public ::testing::Test {
protected:
    explicit heap_room(std::uint64_t features = 0) {
        pool::Shape shape;
        shape.max_bytes = 8 << 20;
        shape.chunk_bytes = 64 << 10;
        shape.features = features;
        pool::Pool::create(path_, shape);
    }
    static std::uint64_t taken(const Heap& heap) {
        return heap.usage().record_bytes + heap.usage().extent_bytes;
    }

    Folder folder_{"/dev/shm"};  // where what is freed waits for no sync
    std::string path_ = folder_ / "p";
};

}  // namespace pmemcpy::heap
