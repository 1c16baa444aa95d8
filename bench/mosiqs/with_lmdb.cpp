// Raw LMDB as an index: posting -> object -> name, a read transaction per question, as a program would that has nothing else.
// Sources: lmdb.h of 0.9.24, which is its documentation.

#include <lmdb.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "library.hpp"

namespace mosiqs {
namespace {

/// Errors: std::runtime_error with what LMDB says
void check(int result, const char* what) {
    if (result != MDB_SUCCESS) throw std::runtime_error(std::string(what) + ": " + mdb_strerror(result));
}

/// Bytes that sort as the numbers do.
void append_sorted(double number, std::string& bytes) {
    if (number == 0) number = 0;  // of the two zeros the same
    auto bits = std::bit_cast<std::uint64_t>(number);
    bits = (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
}

MDB_val value_of(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view view_of(const MDB_val& value) {
    return {static_cast<const char*>(value.mv_data), value.mv_size};
}

class Lmdb : public Library {
public:
    ~Lmdb() override { Lmdb::close(); }

    void open(const std::string& path, Access access) override {
        if (access == Access::create && ::mkdir(path.c_str(), 0777) != 0)
            throw std::system_error(errno, std::generic_category(), path);
        check(mdb_env_create(&environment_), "mdb_env_create");
        check(mdb_env_set_mapsize(environment_, std::size_t{64} << 30), "mdb_env_set_mapsize");
        check(mdb_env_set_maxdbs(environment_, 2), "mdb_env_set_maxdbs");
        const unsigned rights = access == Access::read ? MDB_RDONLY : MDB_WRITEMAP;
        check(mdb_env_open(environment_, path.c_str(), MDB_NOSYNC | MDB_NOTLS | rights, 0666),
              "mdb_env_open");
        MDB_txn* opening = nullptr;
        check(mdb_txn_begin(environment_, nullptr, access == Access::read ? MDB_RDONLY : 0, &opening),
              "mdb_txn_begin");
        const unsigned create = access == Access::create ? MDB_CREATE : 0;
        // MDB_DUPFIXED: all objects of a posting lie side by side.
        int result = mdb_dbi_open(opening, "posting", create | MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP,
                                  &postings_);
        if (result == MDB_SUCCESS)
            result = mdb_dbi_open(opening, "object", create | MDB_INTEGERKEY, &objects_);
        if (result != MDB_SUCCESS) mdb_txn_abort(opening);
        check(result, "mdb_dbi_open");
        check(mdb_txn_commit(opening), "mdb_txn_commit");
        if (access == Access::read) {
            check(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_), "mdb_txn_begin");
            check(mdb_cursor_open(reading_, postings_, &cursor_), "mdb_cursor_open");
            mdb_txn_reset(reading_);
        }
    }

    void close() override {
        if (cursor_ != nullptr) mdb_cursor_close(std::exchange(cursor_, nullptr));
        if (reading_ != nullptr) mdb_txn_abort(std::exchange(reading_, nullptr));
        if (writing_ != nullptr) mdb_txn_abort(std::exchange(writing_, nullptr));
        if (environment_ != nullptr) mdb_env_close(std::exchange(environment_, nullptr));
    }

    /// The name and the attributes; this is an index and keeps no data.
    void store(const Object& object) override {
        if (writing_ == nullptr) check(mdb_txn_begin(environment_, nullptr, 0, &writing_), "mdb_txn_begin");
        std::uint64_t number = next_++;
        MDB_val key{sizeof number, &number};
        name_.assign(object.group).append("/").append(object.name);
        MDB_val name = value_of(name_);
        check(mdb_put(writing_, objects_, &key, &name, MDB_APPEND), "mdb_put");
        for (const auto& [attribute, value] : object.attributes) {
            make_key(attribute, value);
            MDB_val posting = value_of(key_);
            MDB_val to{sizeof number, &number};
            check(mdb_put(writing_, postings_, &posting, &to, 0), "mdb_put");
        }
        if (next_ % 10'000 == 0) publish();
    }
    void annotate_group(std::string_view /*group*/, std::span<const Attribute> /*attributes*/) override {}
    void publish() override {
        if (writing_ != nullptr) check(mdb_txn_commit(std::exchange(writing_, nullptr)), "mdb_txn_commit");
    }

    void equal(const std::string& key, const Value& value, std::vector<std::string>& ids) override {
        const Reading reading(*this);
        make_key(key, value);
        MDB_val posting = value_of(key_);
        MDB_val object{};
        int result = mdb_cursor_get(cursor_, &posting, &object, MDB_SET_KEY);
        while (result == MDB_SUCCESS) {
            add_name(object, ids);
            result = mdb_cursor_get(cursor_, &posting, &object, MDB_NEXT_DUP);
        }
        if (result != MDB_NOTFOUND) check(result, "mdb_cursor_get");
    }
    void between(const std::string& key, double first, double last, std::vector<std::string>& ids) override {
        const Reading reading(*this);
        make_key(key, last);
        last_ = key_;
        make_key(key, first);
        MDB_val posting = value_of(key_);
        MDB_val object{};
        int result = mdb_cursor_get(cursor_, &posting, &object, MDB_SET_RANGE);
        while (result == MDB_SUCCESS && view_of(posting) <= last_) {
            add_name(object, ids);
            result = mdb_cursor_get(cursor_, &posting, &object, MDB_NEXT);
        }
        if (result != MDB_NOTFOUND) check(result, "mdb_cursor_get");
    }
    void containing(std::string_view text, std::vector<std::string>& ids) override {
        const Reading reading(*this);
        MDB_cursor* cursor = nullptr;
        check(mdb_cursor_open(reading_, objects_, &cursor), "mdb_cursor_open");
        MDB_val key{};
        MDB_val name{};
        while (mdb_cursor_get(cursor, &key, &name, MDB_NEXT) == MDB_SUCCESS) {
            if (::memmem(name.mv_data, name.mv_size, text.data(), text.size()) != nullptr)
                ids.emplace_back(view_of(name));
        }
        mdb_cursor_close(cursor);
    }

private:
    /// A view of the database as it is at this question: what others have stored before is in it.
    class Reading {
    public:
        explicit Reading(Lmdb& lmdb) : lmdb_(lmdb) {
            check(mdb_txn_renew(lmdb_.reading_), "mdb_txn_renew");
            check(mdb_cursor_renew(lmdb_.reading_, lmdb_.cursor_), "mdb_cursor_renew");
        }
        Reading(const Reading&) = delete;
        Reading& operator=(const Reading&) = delete;
        ~Reading() { mdb_txn_reset(lmdb_.reading_); }

    private:
        Lmdb& lmdb_;
    };

    /// A program that has its keys at hand would number them; here all processes come to the same numbers.
    void make_key(const std::string& key, const Value& value) {
        std::uint32_t hash = 2'166'136'261u;
        for (const char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619u;
        key_.assign(reinterpret_cast<const char*>(&hash), sizeof hash);
        if (const auto* text = std::get_if<std::string>(&value)) {
            (key_ += 't') += *text;
        } else {
            key_ += 'n';
            const auto* whole = std::get_if<std::int64_t>(&value);
            append_sorted(whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value), key_);
        }
    }
    void add_name(MDB_val object, std::vector<std::string>& ids) {
        MDB_val name{};
        check(mdb_get(reading_, objects_, &object, &name), "mdb_get");
        ids.emplace_back(view_of(name));
    }

    MDB_env* environment_ = nullptr;
    MDB_dbi postings_ = 0;
    MDB_dbi objects_ = 0;
    MDB_txn* writing_ = nullptr;
    MDB_txn* reading_ = nullptr;  // reset between questions
    MDB_cursor* cursor_ = nullptr;
    std::uint64_t next_ = 0;
    std::string key_;
    std::string last_;
    std::string name_;
};

}  // namespace

const std::vector<Variant> variants = {
    {"lmdb", "postings and names in two databases, a read transaction per question"},
};

std::unique_ptr<Library> make_library(const std::string& /*variant*/) { return std::make_unique<Lmdb>(); }

}  // namespace mosiqs
