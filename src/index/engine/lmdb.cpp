// LMDB behind the seam: one environment in each process for a directory, however often it is opened, because the locks that
// LMDB takes on its lock file are the process's. Source: lmdb.h of 0.9.24, "Restrictions/caveats".
// Length: all that knows LMDB is here.

#include "index/engine/engine.hpp"

#include <fcntl.h>
#include <lmdb.h>

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "index/engine/packed.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "os/names.hpp"

#include <pmemcpy/error.hpp>

namespace pmemcpy::index {

namespace {

constexpr unsigned most_readers = 1024;
constexpr std::uint64_t least_bytes = 1ULL << 28;
constexpr std::array<const char*, table_count> names = {"about",   "keys",       "objects", "posted",
                                                        "pending", "attributes", "known",   "names"};
constexpr Table asked_most = Table::attributes;

// A pack of `names` covers all keys from its own on to the next one's, and the first one all before. Three of such a size lie on a page of 4 KiB.
constexpr std::size_t most_pack_bytes = 1280;
constexpr std::string_view first_pack("\0", 1);  // no key comes before it

using Tables = std::array<MDB_dbi, table_count>;

unsigned flags_of(Table table) {
    switch (table) {
        case Table::attributes:
            return MDB_DUPSORT;
        case Table::known:
            return MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP;
        case Table::objects:
        case Table::posted:
        case Table::pending:
            return MDB_INTEGERKEY;  // of places
        default:
            return 0;
    }
}

/// A transaction that only reads, and a cursor for it: both are cheap to renew, and not so cheap to make.
struct Reader {
    MDB_txn* transaction = nullptr;
    MDB_cursor* cursor = nullptr;  // of the postings that are asked for most
};

[[noreturn]] void fail(int error, const std::string& path, const char* what) {
    Code code = Code::io_error;
    switch (error) {
        case MDB_MAP_FULL:
        case MDB_TXN_FULL:
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case ENOMEM:  // address space
            code = Code::no_space;
            break;
        case MDB_CORRUPTED:
        case MDB_PAGE_NOTFOUND:
        case MDB_INVALID:
        case MDB_VERSION_MISMATCH:
        case MDB_PANIC:
        case MDB_BAD_DBI:
        case MDB_INCOMPATIBLE:
        case MDB_NOTFOUND:
        case MDB_BAD_TXN:
        case MDB_BAD_VALSIZE:
        case EINVAL:
            code = Code::corrupt;
            break;
        case EACCES:
        case EPERM:
        case EROFS:
            code = Code::permission_denied;
            break;
        case MDB_READERS_FULL:
        case EAGAIN:
            code = Code::busy;
            break;
        case ENOENT:
            code = Code::not_found;
            break;
        default:
            break;
    }
    throw Error(code, path + ": " + what + ": " + ::mdb_strerror(error));
}

MDB_val value_of(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }
std::string_view bytes_of(const MDB_val& value) {
    return {static_cast<const char*>(value.mv_data), value.mv_size};
}

/// A posting as a table has it: the place, so that it is sorted by that, and the id behind it.
class PostedValue {
public:
    PostedValue(Table table, const Posting& posting) {
        const std::uint64_t marked = marked_place(posting);
        const std::uint64_t place = table == Table::known ? marked : big_endian(marked);
        std::memcpy(bytes_.data(), &place, sizeof place);
        if (table == Table::known) return;
        size_ += posting.id.copy(bytes_.data() + sizeof place, longest_posted_id);
    }
    std::string_view bytes() const { return {bytes_.data(), size_}; }

    static Posting posting_in(Table table, const MDB_val& value) {
        std::uint64_t marked = 0;
        std::memcpy(&marked, value.mv_data, sizeof marked);
        if (table != Table::known) marked = big_endian(marked);
        Posting posting = posting_at(marked);
        if (table != Table::known) posting.id = bytes_of(value).substr(sizeof marked);
        return posting;
    }

private:
    static std::uint64_t big_endian(std::uint64_t number) { return __builtin_bswap64(number); }

    alignas(std::uint64_t) std::array<char, sizeof(std::uint64_t) + longest_posted_id> bytes_;
    std::size_t size_ = sizeof(std::uint64_t);
};

class Environment {
public:
    Environment(const std::string& path, unsigned flags, std::uint64_t at_most, unsigned mode) : path_(path) {
        check(::mdb_env_create(&env_), "cannot be opened");
        try {
            check(::mdb_env_set_maxdbs(env_, table_count), "cannot be opened");
            check(::mdb_env_set_maxreaders(env_, most_readers), "cannot be opened");
            if (at_most != 0) check(::mdb_env_set_mapsize(env_, at_most), "cannot be made so large");
            check(::mdb_env_open(env_, path.c_str(), flags | MDB_NOTLS | MDB_NORDAHEAD, mode),
                  "cannot be opened");
            open_tables((flags & MDB_RDONLY) == 0);
        } catch (...) {
            ::mdb_env_close(env_);
            throw;
        }
    }
    ~Environment() {
        if (!is_of_this_process()) return;  // the parent's
        for (const Reader& reader : idle_) discard(reader);
        ::mdb_env_close(env_);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

    void check(int error, const char* what) const {
        if (error != 0) fail(error, path_, what);
    }
    const std::string& path() const { return path_; }
    MDB_env* get() const { return env_; }

    /// As of now. One whose place among the readers is lost, because others took this process for dead, is left.
    Reader renewed_reader() {
        for (;;) {
            Reader reader;
            {
                const std::lock_guard lock(mutex_);
                if (idle_.empty()) break;
                reader = idle_.back();
                idle_.pop_back();
            }
            if (::mdb_txn_renew(reader.transaction) == 0) return reader;
            discard(reader);
        }
        Reader reader;
        check(::mdb_txn_begin(env_, nullptr, MDB_RDONLY, &reader.transaction), "cannot be read");
        const int error = ::mdb_cursor_open(reader.transaction, dbi(asked_most), &reader.cursor);
        if (error != 0) ::mdb_txn_abort(reader.transaction);
        check(error, "cannot be read");
        return reader;
    }
    /// Of one at rest.
    void take_back(const Reader& reader) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(reader);
    }
    static void discard(const Reader& reader) {
        ::mdb_cursor_close(reader.cursor);
        ::mdb_txn_abort(reader.transaction);
    }
    bool is_of_this_process() const { return fork_generation_ == os::fork_generation(); }
    MDB_dbi dbi(Table table) const { return tables_[static_cast<std::size_t>(table)]; }

private:
    void open_tables(bool create) {
        MDB_txn* transaction = nullptr;
        const unsigned writing = create ? 0U : unsigned{MDB_RDONLY};
        check(::mdb_txn_begin(env_, nullptr, writing, &transaction), "cannot be read");
        for (std::size_t i = 0; i < table_count; ++i) {
            unsigned flags = create ? unsigned{MDB_CREATE} : 0U;
            flags |= flags_of(static_cast<Table>(i));
            const int error = ::mdb_dbi_open(transaction, names[i], flags, &tables_[i]);
            if (error != 0) {
                ::mdb_txn_abort(transaction);
                fail(error, path_, "is no index");
            }
        }
        check(::mdb_txn_commit(transaction), "cannot be opened");
    }

    std::string path_;
    MDB_env* env_ = nullptr;
    Tables tables_{};
    std::uint64_t fork_generation_ = os::fork_generation();
    std::mutex mutex_;
    std::vector<Reader> idle_;
};

/// One that lives as long as this, or is lent.
class Cursor {
public:
    Cursor(const Environment& environment, MDB_txn* transaction, Table table)
        : environment_(environment), is_lent_(false) {
        environment.check(::mdb_cursor_open(transaction, environment.dbi(table), &cursor_), "cannot be read");
    }
    Cursor(const Environment& environment, MDB_cursor* lent)
        : environment_(environment), cursor_(lent), is_lent_(true) {}
    ~Cursor() {
        if (!is_lent_) ::mdb_cursor_close(cursor_);
    }
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    bool get(MDB_val& key, MDB_val& value, MDB_cursor_op operation) const {
        const int error = ::mdb_cursor_get(cursor_, &key, &value, operation);
        if (error == MDB_NOTFOUND) return false;
        environment_.check(error, "cannot be read");
        return true;
    }

private:
    const Environment& environment_;
    MDB_cursor* cursor_ = nullptr;
    bool is_lent_;
};

// What a Reading and a Writing have in common.
template <class Promise>
class Entries : public Promise {
public:
    Entries(std::shared_ptr<Environment> environment, MDB_txn* transaction)
        : environment_(std::move(environment)), transaction_(transaction) {}

    std::optional<std::string_view> get(Table table, std::string_view key) const override {
        MDB_val wanted = value_of(key);
        MDB_val value{};
        const int error = ::mdb_get(transaction_, dbi(table), &wanted, &value);
        if (error == MDB_NOTFOUND) return std::nullopt;
        environment_->check(error, "cannot be read");
        return bytes_of(value);
    }
    void walk(Table table, std::string_view from, const Reading::Visit& visit) const override {
        const Cursor cursor(*environment_, transaction_, table);
        MDB_val key = value_of(from);
        MDB_val value{};
        bool more = cursor.get(key, value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
        while (more && visit(bytes_of(key), bytes_of(value))) more = cursor.get(key, value, MDB_NEXT);
    }
    void walk_postings(Table table, std::string_view from,
                       const Reading::VisitPosting& visit) const override {
        if (table == Table::names) return walk_names(from, visit);
        walk_postings_by(Cursor(*environment_, transaction_, table), table, from, visit);
    }
    void walk_packs(std::string_view from, const Reading::VisitPack& visit) const override {
        const Cursor cursor(*environment_, transaction_, Table::names);
        MDB_val key{};
        MDB_val pack{};
        bool more = seek_pack(cursor, from, key, pack) || cursor.get(key, pack, MDB_FIRST);
        while (more) {
            const std::string_view this_one = bytes_of(pack);
            more = cursor.get(key, pack, MDB_NEXT);
            if (more) ask_for(bytes_of(pack));
            if (!visit(this_one, more ? bytes_of(key) : std::string_view())) return;
        }
    }
    void add_posted(Table table, std::string_view key, std::vector<Posting>& postings) const override {
        if (table == Table::names) {
            return walk_names(key, [&](std::string_view there, const Posting& posting) {
                if (there == key) postings.push_back(posting);
                return there == key;
            });
        }
        add_posted_by(Cursor(*environment_, transaction_, table), table, key, postings);
    }
    std::uint64_t size(Table table) const override {
        MDB_stat stat{};
        environment_->check(::mdb_stat(transaction_, dbi(table), &stat), "cannot be read");
        return stat.ms_entries;
    }

protected:
    /// At the one that covers a key. False where there is none.
    static bool seek_pack(const Cursor& cursor, std::string_view wanted, MDB_val& key, MDB_val& pack) {
        key = value_of(wanted.empty() ? first_pack : wanted);
        const bool has_at_or_behind = cursor.get(key, pack, MDB_SET_RANGE);
        if (has_at_or_behind && bytes_of(key) == wanted) return true;
        return cursor.get(key, pack, has_at_or_behind ? MDB_PREV : MDB_LAST);
    }
    void walk_names(std::string_view from, const Reading::VisitPosting& visit) const {
        walk_packs(from, [&](std::string_view pack, std::string_view /*end*/) {
            for (PackReader reader(pack); reader.next();) {
                if (reader.key() >= from && !visit(reader.key(), reader.posting())) return false;
            }
            return true;
        });
    }
    // Where a posting lies is known only when the one before has come from memory.
    static void ask_for(std::string_view pack) {
        constexpr std::size_t line_bytes = 64;
        for (std::size_t at = 0; at < pack.size(); at += line_bytes) __builtin_prefetch(pack.data() + at);
    }
    static void walk_postings_by(const Cursor& cursor, Table table, std::string_view from,
                                 const Reading::VisitPosting& visit) {
        MDB_val key = value_of(from);
        MDB_val value{};
        bool more = cursor.get(key, value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
        while (more && visit(bytes_of(key), PostedValue::posting_in(table, value)))
            more = cursor.get(key, value, MDB_NEXT);
    }
    static void add_posted_by(const Cursor& cursor, Table table, std::string_view key,
                              std::vector<Posting>& postings) {
        MDB_val wanted = value_of(key);
        MDB_val value{};
        for (bool more = cursor.get(wanted, value, MDB_SET_KEY); more;
             more = cursor.get(wanted, value, MDB_NEXT_DUP))
            postings.push_back(PostedValue::posting_in(table, value));
    }
    MDB_dbi dbi(Table table) const { return environment_->dbi(table); }
    std::shared_ptr<Environment> environment_;
    MDB_txn* transaction_;
};

class LmdbSnapshot final : public Entries<Snapshot> {
public:
    explicit LmdbSnapshot(const std::shared_ptr<Environment>& environment) : Entries(environment, nullptr) {
        read_by(environment->renewed_reader());
    }
    ~LmdbSnapshot() override {
        if (!environment_->is_of_this_process() || transaction_ == nullptr) return;  // it is the parent's
        LmdbSnapshot::rest();
        environment_->take_back({transaction_, cursor_});
    }
    LmdbSnapshot(const LmdbSnapshot&) = delete;
    LmdbSnapshot& operator=(const LmdbSnapshot&) = delete;

    void rest() override {
        if (std::exchange(is_at_rest_, true)) return;
        ::mdb_txn_reset(transaction_);
    }
    void renew() override {
        const Reader reader{transaction_, cursor_};
        if (transaction_ != nullptr && ::mdb_txn_renew(transaction_) == 0) return read_by(reader);
        if (std::exchange(transaction_, nullptr) != nullptr) Environment::discard(reader);
        read_by(environment_->renewed_reader());
    }
    std::uint64_t commits() const override { return ::mdb_txn_id(transaction_); }
    void walk_postings(Table table, std::string_view from, const VisitPosting& visit) const override {
        if (is_walking_ || table != asked_most) return Entries::walk_postings(table, from, visit);
        const Walk walk(is_walking_);
        walk_postings_by(Cursor(*environment_, renewed_cursor()), table, from, visit);
    }
    void add_posted(Table table, std::string_view key, std::vector<Posting>& postings) const override {
        if (is_walking_ || table != asked_most) return Entries::add_posted(table, key, postings);
        add_posted_by(Cursor(*environment_, renewed_cursor()), table, key, postings);
    }

private:
    /// While one lasts, another one needs a cursor of its own.
    class Walk {
    public:
        explicit Walk(bool& is_walking) : is_walking_(is_walking) { is_walking_ = true; }
        ~Walk() { is_walking_ = false; }
        Walk(const Walk&) = delete;
        Walk& operator=(const Walk&) = delete;

    private:
        bool& is_walking_;
    };

    void read_by(const Reader& reader) {
        transaction_ = reader.transaction;
        cursor_ = reader.cursor;
        is_at_rest_ = false;
        is_cursor_renewed_ = false;
    }
    MDB_cursor* renewed_cursor() const {
        if (!std::exchange(is_cursor_renewed_, true))
            environment_->check(::mdb_cursor_renew(transaction_, cursor_), "cannot be read");
        return cursor_;
    }

    MDB_cursor* cursor_ = nullptr;  // of the postings that are asked for most
    bool is_at_rest_ = true;
    mutable bool is_cursor_renewed_ = false;
    mutable bool is_walking_ = false;
};

class LmdbWriting final : public Entries<Writing> {
public:
    explicit LmdbWriting(const std::shared_ptr<Environment>& environment) : Entries(environment, nullptr) {
        environment_->check(::mdb_txn_begin(environment_->get(), nullptr, 0, &transaction_),
                            "cannot be written to");
    }
    ~LmdbWriting() override {
        if (transaction_ != nullptr) ::mdb_txn_abort(transaction_);
    }
    LmdbWriting(const LmdbWriting&) = delete;
    LmdbWriting& operator=(const LmdbWriting&) = delete;

    void put(Table table, std::string_view key, std::string_view value) override {
        MDB_val k = value_of(key);
        MDB_val v = value_of(value);
        environment_->check(::mdb_put(transaction_, dbi(table), &k, &v, 0), "cannot be written to");
    }
    void erase(Table table, std::string_view key) override { erase(table, key, nullptr); }
    void post(Table table, std::string_view key, const Posting& posting) override {
        if (table == Table::names) return pack(key, posting);
        put(table, key, PostedValue(table, posting).bytes());
    }
    void unpost(Table table, std::string_view key, const Posting& posting) override {
        if (table == Table::names) return unpack(key, posting);
        const PostedValue posted(table, posting);
        MDB_val value = value_of(posted.bytes());
        erase(table, key, &value);
    }
    void commit() override {
        // It is gone whatever comes of it.
        environment_->check(::mdb_txn_commit(std::exchange(transaction_, nullptr)), "cannot be written to");
    }

private:
    /// The pack that covers a key, and its own key; of one that is to be made what they will be.
    struct Covering {
        std::string key{first_pack};
        std::string pack;
        bool is_last = true;
    };
    Covering covering(std::string_view key) const {
        const Cursor cursor(*environment_, transaction_, Table::names);
        MDB_val found{};
        MDB_val pack{};
        Covering covering;
        const bool is_there = seek_pack(cursor, key, found, pack);
        if (is_there) {
            covering.key = bytes_of(found);
            covering.pack = bytes_of(pack);
        }
        covering.is_last = !cursor.get(found, pack, is_there ? MDB_NEXT : MDB_FIRST);
        return covering;
    }
    void pack(std::string_view key, const Posting& posting) {
        Covering covering = this->covering(key);
        std::string& pack = covering.pack;
        if (!add_to_pack(pack, key, posting)) return;
        const std::size_t cut =
            pack.size() > most_pack_bytes ? place_to_cut(pack, key, !covering.is_last) : 0;
        if (cut == 0) return put(Table::names, covering.key, pack);
        PackReader behind(std::string_view(pack).substr(cut));
        behind.next();
        put(Table::names, behind.key(), std::string_view(pack).substr(cut));
        put(Table::names, covering.key, std::string_view(pack).substr(0, cut));
    }
    void unpack(std::string_view key, const Posting& posting) {
        Covering covering = this->covering(key);
        if (!remove_from_pack(covering.pack, key, posting)) return;
        covering.pack.empty() ? erase(Table::names, covering.key)
                              : put(Table::names, covering.key, covering.pack);
    }
    void erase(Table table, std::string_view key, MDB_val* value) {
        MDB_val k = value_of(key);
        const int error = ::mdb_del(transaction_, dbi(table), &k, value);
        if (error != MDB_NOTFOUND) environment_->check(error, "cannot be written to");
    }
};

class Lmdb final : public Engine {
public:
    Lmdb(std::shared_ptr<Environment> environment, os::File data)
        : environment_(std::move(environment)), data_(std::move(data)) {}

    std::unique_ptr<Snapshot> read() const override { return std::make_unique<LmdbSnapshot>(environment_); }
    std::unique_ptr<Writing> write() override { return std::make_unique<LmdbWriting>(environment_); }
    bool is_there() const override { return data_.link_count() != 0; }
    void sync() override {
        environment_->check(::mdb_env_sync(environment_->get(), 1), "cannot be made durable");
    }
    void copy_to(const std::string& path) const override {
        os::File file = os::File::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        environment_->check(::mdb_env_copyfd2(environment_->get(), file.fd(), MDB_CP_COMPACT),
                            "cannot be copied");
    }
    std::uint64_t bytes() const override { return data_.allocated_bytes(); }
    bool is_full() const override {
        constexpr std::uint64_t next_to_nothing = 256;  // pages: a commit takes several
        MDB_envinfo info{};
        MDB_stat stat{};
        environment_->check(::mdb_env_info(environment_->get(), &info), "cannot be read");
        environment_->check(::mdb_env_stat(environment_->get(), &stat), "cannot be read");
        return (info.me_last_pgno + next_to_nothing) * stat.ms_psize >= info.me_mapsize;
    }

private:
    std::shared_ptr<Environment> environment_;
    os::File data_;
};

/// The environments of this process, by the directory's identity.
class Opened {
public:
    static Opened& here() {
        static auto* const opened = new Opened;  // outlives every thread that may still close one
        return *opened;
    }
    std::shared_ptr<Environment> get(const std::string& directory, std::uint64_t at_most, unsigned mode) {
        const os::Identity identity = os::File::open(directory, O_RDONLY | O_DIRECTORY).identity();
        const std::lock_guard lock(mutex_);
        if (generation_ != os::fork_generation()) {
            new std::map(std::move(environments_));  // the parent's: never touched again
            environments_.clear();
            generation_ = os::fork_generation();
        }
        const Name name{identity.device, identity.inode};
        if (auto there = environments_[name].lock()) return there;
        auto fresh = as_large_as_can_be(directory, at_most, mode);
        int dead = 0;
        ::mdb_reader_check(fresh->get(), &dead);
        environments_[name] = fresh;
        return fresh;
    }

private:
    // Where a process may have less address space than that, such as under ulimit -v, it has to do with less.
    static std::shared_ptr<Environment> as_large_as_can_be(const std::string& directory,
                                                           std::uint64_t at_most, unsigned mode) {
        for (;; at_most /= 16) {
            try {
                return std::make_shared<Environment>(directory, MDB_NOSYNC, at_most, mode);
            } catch (const Error& error) {
                if (error.kind() != Code::no_space || at_most / 16 < least_bytes) throw;
            }
        }
    }
    struct Name {
        std::uint64_t device;
        std::uint64_t inode;
        auto operator<=>(const Name&) const = default;
    };
    std::mutex mutex_;
    std::uint64_t generation_ = os::fork_generation();
    std::map<Name, std::weak_ptr<Environment>> environments_;
};

os::File data_in(const std::string& directory) {
    return os::File::open(directory + "/data.mdb", O_RDONLY | O_NOFOLLOW);
}

}  // namespace

bool has_engine() { return true; }

// Without a sync of its own: what a killed process has committed is in the page cache, and after a power loss all is made anew.
std::shared_ptr<Engine> open_engine(const std::string& directory, std::uint64_t at_most, unsigned mode) {
    auto environment = Opened::here().get(directory, at_most, mode);
    return std::make_shared<Lmdb>(std::move(environment), data_in(directory));
}

std::shared_ptr<Engine> open_engine_if_there(const std::string& directory, std::uint64_t at_most) {
    os::File data = data_in(directory);
    return std::make_shared<Lmdb>(Opened::here().get(directory, at_most, 0), std::move(data));
}

std::shared_ptr<Engine> open_copy(const std::string& path) {
    os::File data = os::File::open(path, O_RDONLY | O_NOFOLLOW);
    auto environment = std::make_shared<Environment>(path, MDB_RDONLY | MDB_NOLOCK | MDB_NOSUBDIR, 0, 0);
    return std::make_shared<Lmdb>(std::move(environment), std::move(data));
}

}  // namespace pmemcpy::index
