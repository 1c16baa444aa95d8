// SQLite as an index: a row per attribute, in the order of key and value, and a row per object. Sources: sqlite.org, "WITHOUT ROWID",
// "Query Planning", "PRAGMA Statements".

#include <sqlite3.h>

#include "library.hpp"

namespace mosiqs {
namespace {

class Sqlite : public Library {
public:
    explicit Sqlite(bool alone) : alone_(alone) {}
    ~Sqlite() override { Sqlite::close(); }

    void open(const std::string& path, Access access) override {
        const int rights =
            access == Access::read ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        // One thread uses a connection, which needs no mutex then.
        const int result = sqlite3_open_v2(path.c_str(), &database_, rights | SQLITE_OPEN_NOMUTEX, nullptr);
        if (result != SQLITE_OK) throw std::runtime_error(path + ": " + sqlite3_errstr(result));
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = OFF");
        run("PRAGMA mmap_size = 68719476736");
        run("PRAGMA cache_size = -262144");
        // No other process then sees or changes anything, and no lock has to be taken for a question.
        if (alone_ && access == Access::read) run("PRAGMA locking_mode = EXCLUSIVE");
        if (access == Access::create) {
            run("CREATE TABLE key (number INTEGER PRIMARY KEY, name TEXT UNIQUE)");
            run("CREATE TABLE object (number INTEGER PRIMARY KEY, name TEXT)");
            run("CREATE TABLE posting (key INTEGER, value, object INTEGER, PRIMARY KEY (key, value, object)) "
                "WITHOUT ROWID");
        }
        add_object_ = prepared("INSERT INTO object (number, name) VALUES (?1, ?2)");
        add_posting_ = prepared("INSERT INTO posting (key, value, object) VALUES (?1, ?2, ?3)");
        add_key_ = prepared("INSERT OR IGNORE INTO key (name) VALUES (?1)");
        find_key_ = prepared("SELECT number FROM key WHERE name = ?1");
        const std::string found =
            "SELECT object.name FROM posting JOIN object ON object.number = posting.object WHERE posting.key "
            "= ?1 AND ";
        equal_ = prepared(found + "posting.value = ?2");
        between_ = prepared(found + "posting.value BETWEEN ?2 AND ?3");
        containing_ = prepared("SELECT name FROM object WHERE instr(name, ?1) > 0");
    }

    void close() override {
        for (sqlite3_stmt** statement :
             {&add_object_, &add_posting_, &add_key_, &find_key_, &equal_, &between_, &containing_}) {
            sqlite3_finalize(*statement);
            *statement = nullptr;
        }
        sqlite3_close(database_);
        database_ = nullptr;
    }

    /// The name and the attributes; this is an index and keeps no data.
    void store(const Object& object) override {
        if (!writing_) run("BEGIN");
        writing_ = true;
        const std::int64_t number = ++last_;
        bind(add_object_, 1, number);
        name_.assign(object.group).append("/").append(object.name);
        bind(add_object_, 2, std::string_view(name_));
        step(add_object_);
        for (const auto& [key, value] : object.attributes) {
            bind(add_posting_, 1, number_of(key, true));
            bind_value(add_posting_, 2, value);
            bind(add_posting_, 3, number);
            step(add_posting_);
        }
        if (number % 10'000 == 0) publish();
    }
    void annotate_group(std::string_view /*group*/, std::span<const Attribute> /*attributes*/) override {}
    void publish() override {
        if (writing_) run("COMMIT");
        writing_ = false;
    }

    void equal(const std::string& key, const Value& value, std::vector<std::string>& ids) override {
        bind(equal_, 1, number_of(key, false));
        bind_value(equal_, 2, value);
        fetch(equal_, ids);
    }
    void between(const std::string& key, double first, double last, std::vector<std::string>& ids) override {
        bind(between_, 1, number_of(key, false));
        bind(between_, 2, first);
        bind(between_, 3, last);
        fetch(between_, ids);
    }
    void containing(std::string_view text, std::vector<std::string>& ids) override {
        bind(containing_, 1, text);
        fetch(containing_, ids);
    }

private:
    void check(int result) const {
        if (result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE)
            throw std::runtime_error(sqlite3_errmsg(database_));
    }
    void run(const char* statement) const {
        check(sqlite3_exec(database_, statement, nullptr, nullptr, nullptr));
    }
    sqlite3_stmt* prepared(const std::string& text) const {
        sqlite3_stmt* statement = nullptr;
        check(
            sqlite3_prepare_v3(database_, text.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
        return statement;
    }
    // Texts stay where they are until the statement has run.
    void bind(sqlite3_stmt* statement, int place, std::string_view text) const {
        check(sqlite3_bind_text(statement, place, text.data(), static_cast<int>(text.size()), SQLITE_STATIC));
    }
    void bind(sqlite3_stmt* statement, int place, std::int64_t number) const {
        check(sqlite3_bind_int64(statement, place, number));
    }
    void bind(sqlite3_stmt* statement, int place, double number) const {
        check(sqlite3_bind_double(statement, place, number));
    }
    void bind_value(sqlite3_stmt* statement, int place, const Value& value) const {
        std::visit([&](const auto& plain) { bind(statement, place, plain); }, value);
    }
    void step(sqlite3_stmt* statement) const {
        check(sqlite3_step(statement));
        check(sqlite3_reset(statement));
    }
    void fetch(sqlite3_stmt* statement, std::vector<std::string>& ids) const {
        int result = 0;
        while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
            ids.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)),
                             static_cast<std::size_t>(sqlite3_column_bytes(statement, 0)));
        }
        check(result);
        check(sqlite3_reset(statement));
    }
    /// Of a key that has been seen before without a look into the database.
    std::int64_t number_of(const std::string& key, bool add) {
        for (const auto& [name, number] : keys_)
            if (name == key) return number;
        if (add) {
            bind(add_key_, 1, std::string_view(key));
            step(add_key_);
        }
        bind(find_key_, 1, std::string_view(key));
        const std::int64_t number =
            sqlite3_step(find_key_) == SQLITE_ROW ? sqlite3_column_int64(find_key_, 0) : -1;
        check(sqlite3_reset(find_key_));
        if (number >= 0) keys_.emplace_back(key, number);
        return number;
    }

    bool alone_;
    bool writing_ = false;
    std::int64_t last_ = 0;
    std::string name_;
    sqlite3* database_ = nullptr;
    sqlite3_stmt* add_object_ = nullptr;
    sqlite3_stmt* add_posting_ = nullptr;
    sqlite3_stmt* add_key_ = nullptr;
    sqlite3_stmt* find_key_ = nullptr;
    sqlite3_stmt* equal_ = nullptr;
    sqlite3_stmt* between_ = nullptr;
    sqlite3_stmt* containing_ = nullptr;
    std::vector<std::pair<std::string, std::int64_t>> keys_;
};

}  // namespace

const std::vector<Variant> variants = {
    {"sqlite", "a row per attribute, clustered by key and value; sees what other processes store"},
    {"sqlite-alone", "the same with the database locked for this process"},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Sqlite>(variant == "sqlite-alone");
}

}  // namespace mosiqs
