// Trees of pages behind the seam, each page with a checksum: docs/decisions/0021-an-index-in-trees-of-our-own.md.

#include <fcntl.h>

#include <deque>
#include <memory>
#include <utility>

#include "index/engine/copied.hpp"
#include "index/engine/engine.hpp"
#include "index/engine/packed.hpp"
#include "index/engine/pages.hpp"
#include "index/engine/tree.hpp"
#include "index/engine/writer.hpp"

namespace pmemcpy::index {

namespace {

// A pack of `names` covers all keys from its own on to the next one's, and the first one all before. Three of such a size lie on a page.
constexpr std::size_t most_pack_bytes = 1280;
constexpr std::string_view first_pack("\0", 1);  // no key comes before it

/// Whose keys are places: these are the order of an entry, so that they lie as numbers do.
bool has_places(Table table) {
    return table == Table::objects || table == Table::posted || table == Table::pending;
}
std::size_t tree_of(Table table) { return static_cast<std::size_t>(table); }

Position position_of(Table table, std::string_view key) {
    if (!has_places(table)) return {key, 0};
    std::uint64_t place = 0;
    key.copy(reinterpret_cast<char*>(&place), sizeof place);
    return {{}, place};
}
Position position_of(std::string_view key, const Posting& posting) { return {key, marked_place(posting)}; }

Posting posting_in(const Cell& cell) {
    Posting posting = posting_at(cell.order);
    posting.id = cell.value;
    return posting;
}

std::string_view id_of(Table table, const Posting& posting) {
    return table == Table::attributes ? posting.id.substr(0, longest_posted_id) : std::string_view();
}

// What a Reading and a Writing have in common.
template <class Promise>
class Entries : public Promise {
public:
    explicit Entries(std::shared_ptr<Pages> pages) : pages_(std::move(pages)) {}

    std::optional<std::string_view> get(Table table, std::string_view key) const override {
        Cursor cursor = this->cursor(table);
        const Position wanted = position_of(table, key);
        if (!cursor.seek(wanted)) return {};
        const Cell cell = cursor.cell();
        if (cell.order != wanted.order || !cursor.is_under(cell, wanted.key)) return {};
        return value_of(cell);
    }
    void walk(Table table, std::string_view from, const Reading::Visit& visit) const override {
        Cursor cursor = this->cursor(table);
        for (bool more = cursor.seek(position_of(table, from)); more; more = cursor.next()) {
            const Cell cell = cursor.cell();
            const std::string_view place(reinterpret_cast<const char*>(&cell.order), sizeof cell.order);
            if (!visit(has_places(table) ? place : cursor.key_of(cell), value_of(cell))) return;
        }
    }
    void walk_postings(Table table, std::string_view from,
                       const Reading::VisitPosting& visit) const override {
        if (table == Table::names) return walk_names(from, visit);
        Cursor cursor = this->cursor(table);
        for (bool more = cursor.seek({from, 0}); more; more = cursor.next()) {
            const Cell cell = cursor.cell();
            if (!visit(cursor.key_of(cell), posting_in(cell))) return;
        }
    }
    void walk_packs(std::string_view from, const Reading::VisitPack& visit) const override {
        Cursor cursor = this->cursor(Table::names);
        bool more = seek_pack(cursor, from) || cursor.first();
        while (more) {
            const std::string_view this_one = value_of(cursor.cell());
            more = cursor.next();
            const Cell next = more ? cursor.cell() : Cell{};
            if (more) ask_for(next.value);
            if (!visit(this_one, more ? cursor.key_of(next) : std::string_view())) return;
        }
    }
    void add_posted(Table table, std::string_view key, std::vector<Posting>& postings) const override {
        if (table == Table::names) {
            return walk_names(key, [&](std::string_view there, const Posting& posting) {
                if (there == key) postings.push_back(posting);
                return there == key;
            });
        }
        Cursor cursor = this->cursor(table);
        for (bool more = cursor.seek({key, 0}); more; more = cursor.next()) {
            const Cell cell = cursor.cell();
            if (!cursor.is_under(cell, key)) return;
            postings.push_back(posting_in(cell));
        }
    }
    std::uint64_t size(Table table) const override { return root(table).entries; }

protected:
    virtual const Root& root(Table table) const = 0;
    virtual const OwnPages* own_pages() const { return nullptr; }
    Cursor cursor(Table table) const { return {*pages_, root(table), own_pages()}; }
    /// What lies in pages of its own is put together here.
    std::string_view value_of(const Cell& cell) const {
        return cell.is_far ? far_.emplace_back(read_far(*pages_, cell.value)) : cell.value;
    }
    /// At the one that covers a key. False where there is none.
    static bool seek_pack(Cursor& cursor, std::string_view wanted) {
        const std::string_view key = wanted.empty() ? first_pack : wanted;
        if (cursor.seek({key, 0}) && cursor.is_under(cursor.cell(), key)) return true;
        return cursor.previous();
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

    std::shared_ptr<Pages> pages_;
    mutable std::deque<std::string> far_;
};

/// Of a file that others may write to, when it has a slot.
class TreeSnapshot final : public Entries<Snapshot> {
public:
    TreeSnapshot(std::shared_ptr<Pages> pages, bool has_slot) : Entries(std::move(pages)) {
        if (has_slot) slot_ = pages_->take_slot();
        try {
            begin();
        } catch (...) {
            end();
            throw;
        }
    }
    ~TreeSnapshot() override { end(); }
    TreeSnapshot(const TreeSnapshot&) = delete;
    TreeSnapshot& operator=(const TreeSnapshot&) = delete;

    void rest() override {
        far_.clear();
        if (slot_) pages_->end_reading(*slot_);
    }
    void renew() override { begin(); }
    std::uint64_t commits() const override { return meta_.commit; }
    const Meta& meta() const { return meta_; }

private:
    const Root& root(Table table) const override { return meta_.roots[tree_of(table)]; }
    void begin() {
        for (;;) {
            const std::uint64_t commit = slot_ ? pages_->begin_reading(*slot_) : pages_->published();
            if (meta_.magic == meta_magic && meta_.commit == commit) return;
            if (pages_->read_meta(commit, meta_)) return;
            meta_ = {};
        }
    }
    void end() noexcept {
        if (!slot_ || !pages_->is_of_this_process()) return;  // it is the parent's
        pages_->end_reading(*slot_);
        pages_->leave_slot(*slot_);
    }

    Meta meta_;
    std::optional<std::uint32_t> slot_;
};

class TreeWriting final : public Entries<Writing> {
public:
    explicit TreeWriting(std::shared_ptr<Pages> pages) : Entries(std::move(pages)) {
        pages_->lock_writing();
        try {
            writer_.emplace(*pages_);
        } catch (...) {
            pages_->unlock_writing();
            throw;
        }
    }
    ~TreeWriting() override {
        if (pages_->is_of_this_process()) pages_->unlock_writing();
    }
    TreeWriting(const TreeWriting&) = delete;
    TreeWriting& operator=(const TreeWriting&) = delete;

    void put(Table table, std::string_view key, std::string_view value) override {
        if (key.size() > longest_key) throw Error(Code::invalid_argument, "a key of the index is too long");
        change([&] { writer_->put(tree_of(table), position_of(table, key), value); });
    }
    void erase(Table table, std::string_view key) override {
        change([&] { writer_->erase(tree_of(table), position_of(table, key)); });
    }
    void post(Table table, std::string_view key, const Posting& posting) override {
        if (table == Table::names) return pack(key, posting);
        change([&] { writer_->put(tree_of(table), position_of(key, posting), id_of(table, posting)); });
    }
    void unpost(Table table, std::string_view key, const Posting& posting) override {
        if (table == Table::names) return unpack(key, posting);
        const Position wanted = position_of(key, posting);
        Cursor cursor = this->cursor(table);
        if (!cursor.seek(wanted)) return;
        const Cell cell = cursor.cell();
        if (cell.order == wanted.order && cursor.is_under(cell, key) && cell.value == id_of(table, posting))
            change([&] { writer_->erase(tree_of(table), wanted); });
    }
    void commit() override {
        change([&] { writer_->publish(); });
    }

private:
    const Root& root(Table table) const override { return writer_->root(tree_of(table)); }
    const OwnPages* own_pages() const override { return &writer_->own_pages(); }
    template <class F>
    void change(F&& f) {
        if (has_failed_) throw Error(Code::no_space, pages_->path() + ": the change before has failed");
        has_failed_ = true;
        f();
        has_failed_ = false;
    }

    /// The pack that covers a key, and its own key; of one that is to be made what they will be.
    struct Covering {
        std::string key{first_pack};
        std::string pack;
        bool is_last = true;
    };
    Covering covering(std::string_view key) const {
        Cursor cursor = this->cursor(Table::names);
        Covering covering;
        if (seek_pack(cursor, key)) {
            const Cell cell = cursor.cell();
            covering.key = cursor.key_of(cell);
            covering.pack = value_of(cell);
            covering.is_last = !cursor.next();
            far_.clear();
        } else {
            covering.is_last = !cursor.first();
        }
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

    std::optional<Writer> writer_;
    bool has_failed_ = false;  // what was changed before is no whole
};

class TreeEngine final : public Engine {
public:
    explicit TreeEngine(std::shared_ptr<Pages> pages, bool has_slots = true)
        : pages_(std::move(pages)), has_slots_(has_slots) {}

    std::unique_ptr<Snapshot> read() const override {
        return std::make_unique<TreeSnapshot>(pages_, has_slots_);
    }
    std::unique_ptr<Writing> write() override { return std::make_unique<TreeWriting>(pages_); }
    // Its name tells more than how many names it has: one that was moved away is found by nobody else.
    bool is_there() const override {
        return os::identity_at(pages_->file().path()) == pages_->file().identity();
    }
    void sync() override { pages_->file().sync_data(); }
    void copy_to(const std::string& path) const override {
        os::File file = os::File::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        const TreeSnapshot snapshot(pages_, has_slots_);
        copy_pages(*pages_, snapshot.meta(), file);
    }
    std::uint64_t bytes() const override { return pages_->file().allocated_bytes(); }
    bool is_full() const override {
        constexpr std::uint64_t next_to_nothing = 256;  // pages: a commit takes several
        return pages_->newest_meta().pages + next_to_nothing >= pages_->most_pages();
    }

private:
    std::shared_ptr<Pages> pages_;
    bool has_slots_;
};

std::shared_ptr<Engine> opened(const std::string& path, Pages::How how, std::uint64_t at_most,
                               unsigned mode) {
    return std::make_shared<TreeEngine>(std::make_shared<Pages>(path, how, at_most, mode),
                                        how != Pages::How::read);
}

}  // namespace

// Without a sync of its own: what a killed process has committed is in the page cache, and after a power loss all is made anew.
std::shared_ptr<Engine> open_engine(const std::string& directory, std::uint64_t at_most, unsigned mode) {
    return opened(directory + "/" + tree_file, Pages::How::make, at_most, mode);
}
std::shared_ptr<Engine> open_engine_if_there(const std::string& directory, std::uint64_t at_most) {
    return opened(directory + "/" + tree_file, Pages::How::write, at_most, 0);
}
std::shared_ptr<Engine> open_copy(const std::string& path) { return opened(path, Pages::How::read, 0, 0); }

}  // namespace pmemcpy::index
