// LMDB. Sources: lmdb.h of 0.9.24, which is its documentation.

#include <lmdb.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "library.hpp"

namespace compare::objects {
namespace {

/// Errors: std::runtime_error with what LMDB says
void check(int result, const char* what) {
    if (result != MDB_SUCCESS) throw std::runtime_error(std::string(what) + ": " + mdb_strerror(result));
}

MDB_val key_of(std::string_view name) { return {name.size(), const_cast<char*>(name.data())}; }

class Lmdb : public Library {
public:
    /// Every `batch` operations are one transaction.
    Lmdb(unsigned flags, int batch) : flags_(flags), batch_(batch) {}
    ~Lmdb() override {
        if (writing_ != nullptr) mdb_txn_abort(writing_);
        if (reading_ != nullptr) mdb_txn_abort(reading_);
        if (environment_ != nullptr) mdb_env_close(environment_);
    }

    void open(const std::string& path, Access access) override {
        if (access == Access::create && ::mkdir(path.c_str(), 0777) != 0) {
            throw std::system_error(errno, std::generic_category(), path);
        }
        check(mdb_env_create(&environment_), "mdb_env_create");
        // mdb_env_set_mapsize: "The value should be chosen as large as possible, to accommodate future growth of the
        // database." The file is sparse.
        check(mdb_env_set_mapsize(environment_, std::size_t{64} << 30), "mdb_env_set_mapsize");
        check(mdb_env_open(environment_, path.c_str(), flags_ | (access == Access::read ? MDB_RDONLY : 0),
                           0666),
              "mdb_env_open");
        // mdb_dbi_open: once, in a transaction of its own; the handle then serves all later ones.
        MDB_txn* opening = nullptr;
        check(mdb_txn_begin(environment_, nullptr, access == Access::read ? MDB_RDONLY : 0, &opening),
              "mdb_txn_begin");
        const int opened = mdb_dbi_open(opening, nullptr, 0, &database_);
        if (opened != MDB_SUCCESS) mdb_txn_abort(opening);
        check(opened, "mdb_dbi_open");
        check(mdb_txn_commit(opening), "mdb_txn_commit");
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        MDB_val key = key_of(name);
        MDB_val value{bytes.size(), const_cast<std::byte*>(bytes.data())};
        begin();
        check(mdb_put(writing_, database_, &key, &value, 0), "mdb_put");
        end();
    }

    void erase(std::string_view name) override {
        MDB_val key = key_of(name);
        begin();
        check(mdb_del(writing_, database_, &key, nullptr), "mdb_del");
        end();
    }

    void settle() override {
        if (writing_ != nullptr) check(mdb_txn_commit(std::exchange(writing_, nullptr)), "mdb_txn_commit");
        operations_ = 0;
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        // mdb_txn_reset: "This saves allocation overhead if the process will start a new read-only transaction soon, and
        // also locking overhead if MDB_NOTLS is in use."
        if (reading_ == nullptr) {
            check(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_), "mdb_txn_begin");
        } else {
            check(mdb_txn_renew(reading_), "mdb_txn_renew");
        }
        MDB_val key = key_of(name);
        MDB_val value{};
        const int found = mdb_get(reading_, database_, &key, &value);
        const bool fits = found == MDB_SUCCESS && value.mv_size == bytes.size();
        if (fits) std::memcpy(bytes.data(), value.mv_data, value.mv_size);
        mdb_txn_reset(reading_);
        check(found, "mdb_get");
        if (!fits)
            throw std::runtime_error(std::string(name) + " has " + std::to_string(value.mv_size) + " bytes");
    }

    std::uint64_t list() override {
        MDB_txn* transaction = nullptr;
        check(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction), "mdb_txn_begin");
        MDB_cursor* cursor = nullptr;
        int result = mdb_cursor_open(transaction, database_, &cursor);
        std::uint64_t names = 0;
        MDB_val key{};
        while (result == MDB_SUCCESS) {
            result = mdb_cursor_get(cursor, &key, nullptr, MDB_NEXT);
            if (result == MDB_SUCCESS) names += key.mv_size != 0;
        }
        if (cursor != nullptr) mdb_cursor_close(cursor);
        mdb_txn_abort(transaction);
        if (result != MDB_NOTFOUND) check(result, "mdb_cursor_get");
        return names;
    }

    void close() override {
        settle();
        if (reading_ != nullptr) mdb_txn_abort(std::exchange(reading_, nullptr));
        mdb_env_close(std::exchange(environment_, nullptr));
    }

private:
    void begin() {
        if (writing_ == nullptr) check(mdb_txn_begin(environment_, nullptr, 0, &writing_), "mdb_txn_begin");
    }
    void end() {
        if (++operations_ >= batch_) settle();
    }

    unsigned flags_;
    int batch_;
    int operations_ = 0;  // in the transaction at hand
    MDB_env* environment_ = nullptr;
    MDB_dbi database_ = 0;
    MDB_txn* writing_ = nullptr;
    MDB_txn* reading_ = nullptr;  // reset between loads
};

// MDB_NOSYNC: "Don't flush system buffers to disk when committing a transaction." MDB_NOTLS lets the one thread keep its
// reset reader beside a writing transaction. MDB_NOMEMINIT, for who does not use MDB_WRITEMAP: the initialization "has a
// modest performance cost so some applications may want to disable it".
constexpr unsigned with_pwrite = MDB_NOSYNC | MDB_NOTLS | MDB_NOMEMINIT;
// MDB_WRITEMAP: "Using read-write mode offers much higher write performance"; "slightly faster for DBs that fit entirely
// in RAM".
constexpr unsigned with_map = MDB_NOSYNC | MDB_NOTLS | MDB_WRITEMAP;

constexpr int readers = 126;  // mdb_env_set_maxreaders: "The default is 126."

}  // namespace

const std::vector<Variant> variants = {
    {"lmdb", "a transaction per operation, in a writable map (MDB_WRITEMAP), without syncs", readers,
     readers},
    {"lmdb-pwrite", "the same with a read-only map, which stray writes cannot damage", readers, readers},
    {"lmdb-batch", "as lmdb, but 1,000 operations in a transaction: others see them only then", readers,
     readers},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Lmdb>(variant == "lmdb-pwrite" ? with_pwrite : with_map,
                                  variant == "lmdb-batch" ? 1000 : 1);
}

}  // namespace compare::objects
