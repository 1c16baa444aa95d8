// RocksDB. Sources: rocksdb/options.h, advanced_options.h, slice.h and db.h of 7.8, and the FAQ of its wiki.

#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "library.hpp"

namespace compare::objects {
namespace {

/// Errors: std::runtime_error with what RocksDB says
void check(const rocksdb::Status& status, std::string_view what) {
    if (!status.ok()) throw std::runtime_error(std::string(what) + ": " + status.ToString());
}

rocksdb::Slice slice_of(std::string_view name) { return {name.data(), name.size()}; }

class Rocksdb : public Library {
public:
    Rocksdb(bool log, bool blobs) {
        // IncreaseParallelism: "By default, RocksDB uses only one background thread for flush and compaction. Calling
        // this function will set it up such that total of `total_threads` is used. Good value for `total_threads` is the
        // number of cores."
        options_.IncreaseParallelism(static_cast<int>(std::max(2U, std::thread::hardware_concurrency())));
        // What OptimizeForPointLookup sets for tables, without what it needs no iterators for: Bloom filters of 10 bits a
        // key, and a hash index in each block.
        rocksdb::BlockBasedTableOptions table;
        table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
        table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
        options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
        // allow_mmap_reads: with compression disabled, "the blocks will not be copied and will be read directly from the
        // mmap-ed memory area"; "the common use of the options is to run RocksDB on ramfs, where checksum verification is
        // usually not needed". The values are random, so compression would only take time.
        reading_.verify_checksums = false;
        options_.allow_mmap_reads = true;
        options_.compression = rocksdb::kNoCompression;
        // allow_fallocate: "If false, fallocate() calls are bypassed". On tmpfs what is allocated ahead, here more than the
        // write buffer's size, is memory that is cleared there and then: 0.3 s at the first write to a log.
        options_.allow_fallocate = false;
        // write_buffer_size: "Larger values increase performance, especially during bulk loads."
        options_.write_buffer_size = std::size_t{256} << 20;
        // enable_blob_files: large values are stored apart, so that compaction does not copy them again.
        options_.enable_blob_files = blobs;
        options_.min_blob_size = 4096;
        // With no limit, OpenForReadOnly of a database of one level takes a shorter way, which in 7.8 finds no blobs.
        if (blobs) options_.max_open_files = 1000;
        // disableWAL: "writes will not first go to the write ahead log". With it, sync=false: "similar crash semantics
        // as the write() system call".
        writing_.disableWAL = !log;
        writing_.sync = false;
    }

    void open(const std::string& path, Access access) override {
        options_.create_if_missing = access == Access::create;
        options_.error_if_exists = access == Access::create;
        rocksdb::DB* database = nullptr;
        check(access == Access::read ? rocksdb::DB::OpenForReadOnly(options_, path, &database)
                                     : rocksdb::DB::Open(options_, path, &database),
              path);
        database_.reset(database);
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        check(database_->Put(writing_, slice_of(name),
                             {reinterpret_cast<const char*>(bytes.data()), bytes.size()}),
              name);
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        // A PinnableSlice is there "to avoid memcpy by having the PinnableSlice object referring to the data".
        check(database_->Get(reading_, database_->DefaultColumnFamily(), slice_of(name), &value_), name);
        const bool fits = value_.size() == bytes.size();
        if (fits) std::memcpy(bytes.data(), value_.data(), value_.size());
        value_.Reset();
        if (!fits) throw std::runtime_error(std::string(name) + " has another size");
    }

    void erase(std::string_view name) override { check(database_->Delete(writing_, slice_of(name)), name); }

    std::uint64_t list() override {
        const std::unique_ptr<rocksdb::Iterator> names(database_->NewIterator(reading_));
        std::uint64_t count = 0;
        for (names->SeekToFirst(); names->Valid(); names->Next()) count += !names->key().empty();
        check(names->status(), "the iterator");
        return count;
    }

    // DB::Close flushes what has no log: "By default RocksDB will flush all memtables on DB close if there are
    // unpersisted data (i.e. with WAL disabled)".
    void close() override {
        check(database_->Close(), "Close");
        database_.reset();
    }

private:
    rocksdb::Options options_;
    rocksdb::WriteOptions writing_;
    rocksdb::ReadOptions reading_;
    rocksdb::PinnableSlice value_;
    std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace

// The wiki's FAQ: "Can I write to RocksDB using multiple processes? No." OpenForReadOnly: "by any number of readers".
const std::vector<Variant> variants = {
    {"rocksdb", "without a log: what is in memory at a crash of the process is lost", 1, any_number},
    {"rocksdb-log", "with its log, not synced: survives a crash of the process", 1, any_number},
    {"rocksdb-blob", "without a log, values of 4 KiB and more in blob files", 1, any_number},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Rocksdb>(variant == "rocksdb-log", variant == "rocksdb-blob");
}

}  // namespace compare::objects
