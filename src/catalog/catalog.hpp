#pragma once

#include "catalog/audit.hpp"
#include "catalog/creation.hpp"
#include "catalog/format.hpp"
#include "heap/heap.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/info.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::catalog {

/// A record that is being made: given back unless kept. Fill it in, seal it, publish its link, keep it.
class Draft {
public:
    Draft(heap::Heap& heap, std::uint64_t length);
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    template <class T>
    T& as() {
        return heap_.pool().as<T>(offset_);
    }
    std::uint64_t offset() const { return offset_; }
    /// Puts plain bytes at a place in the record.
    void write(std::uint64_t at, const void* bytes, std::uint64_t length);
    void write_header(heap::RecordKind kind, std::uint8_t mutable_words, std::uint64_t length,
                      std::uint64_t incarnation, std::uint64_t home, std::uint64_t fields = 0);
    /// Gives it `version` and makes it whole on the medium.
    Link seal(std::uint64_t version);
    void keep() { kept_ = true; }
    /// Whatever extent the record names is given back with it.
    void owns(const Extent& extent) { extent_ = extent; }

private:
    heap::Heap& heap_;
    std::uint64_t offset_;
    Extent extent_{};
    bool kept_ = false;
};

class Scan;

/// What a rebuild for repair knows of the pool, and what it finds missing.
struct Salvage {
    bool was_clean = false;  ///< closed in an orderly way, so that nothing was under way
    std::vector<Damage> losses{};
};

/// Ids and attribute names to records, and what becomes of them when processes die.
class Catalog final : public heap::Reachability, public pool::Lifecycle {
public:
    Catalog(pool::Pool& pool, heap::Heap& heap);

    // ---- finding (entry.cpp) ----

    /// The live entry that `id` names: of a renamed variable, the identity behind the alias. It may be without value.
    std::optional<Link> find(std::string_view id) const;
    /// What find() and then definition() say, in one look.
    struct Named {
        Link entry;
        Link definition;
        Link name;  ///< the entry that has the id: this one, or the alias by which it was renamed
        bool operator==(const Named&) const = default;
    };
    std::optional<Named> find_named(std::string_view id) const;
    std::optional<Link> find_attribute(Link owner, std::string_view name) const;
    /// The record that defines an entry, or nothing while it has none or is erased.
    std::optional<Link> definition(Link entry) const;
    /// The word that names it, whatever that says; nothing when the entry is gone, and the word another's.
    std::optional<Link> current_word(Link entry) const;
    /// Calls f(id, identity) for every id that has a definition. A snapshot of no particular instant.
    /// With `trouble`, what is damaged is told (the id empty where it is unknown) and passed over; some of it may be work that
    /// another process is at. Without, a chain that is broken is the error corrupt.
    using Trouble = std::function<void(const std::string& id, const std::string& what)>;
    void for_each(const std::function<void(const std::string&, Link)>& f, const Trouble& trouble = {}) const;
    void for_each_attribute(Link owner, const std::function<void(const std::string&, Link)>& f,
                            const std::function<void()>& broken = {}) const;
    /// How many for_each_attribute() would tell of, whatever is in them.
    std::uint64_t count_attributes(Link owner) const;
    /// Calls f(id) for every id that some whole entry says is there, found by looking at all records: what a broken chain
    /// hides too. Work that another process is at may be among them.
    void for_each_entry(const std::function<void(const std::string&)>& f) const;
    /// The present id of an identity, if it still exists.
    std::optional<std::string> name_of(Link identity) const;
    /// The entry that a record defines.
    std::uint64_t entry_of(Link definition) const;
    /// The same by a copy of the definition's record; nothing where another thing has come into the entry's place.
    std::optional<Link> entry_at_home(const heap::RecordHeader& definition) const;

    // ---- creating (create.cpp) ----

    /// Who creates from here on, and when, if that is not now; nothing: nobody knows. Nobody may be creating meanwhile.
    void set_origin(const std::optional<Origin>& origin);
    /// Of an identity; nothing where it is not known. Errors: io_error.
    std::optional<Origin> origin_of(Link identity) const;

    /// The entry for `id`, made if missing, with its groups. Errors: already_exists when a part of the path is a
    /// variable, no_space.
    Link create(std::string_view id);
    Link create_attribute(Link owner, std::string_view name);
    /// Makes durable, with this thread's next fence, what an entry says: its definition and its name. Whoever has said it may have
    /// died before he came to flush it, or may not have come to that yet; and what is built on it now is acknowledged (law 2).
    void vouch_for(Link entry) const;
    /// Takes an entry away again that got no value, because the verb that made it has failed; never an error.
    void give_up(Link entry);
    /// A group with those above it, or "/", which only has attributes: the pool's own. Nothing if it is there.
    /// Errors: already_exists when it is a variable.
    void make_group(std::string_view id);
    /// The word that names an entry's definition.
    std::uint64_t* value_word(Link entry) const;
    /// What the beginning of a definition's record says of it.
    struct Nature {
        bool is_array;
        bool is_group;
        std::uint64_t step;
    };
    /// Nothing when the record is gone.
    static std::optional<Nature> nature_of(const pool::Pool& pool, Link definition);
    static bool is_group(const pool::Pool& pool, Link definition);

    // ---- removing and renaming (erase.cpp, rename.cpp) ----

    /// Errors: not_found when somebody else was faster; busy for a group that is not empty.
    void erase(Link entry, std::string_view id);
    /// Of a variable, while this is what defines it. False when another has stored over it, or erased it.
    bool erase_only(Link entry, Link definition);
    /// The same of a variable that was found by this id: if it was renamed since, it is left alone.
    void erase(const Named& named, std::string_view id);
    void erase_attribute(Link attribute, std::string_view name);
    /// `under_way` is of the variable from before anybody can see its new name.
    void rename(std::string_view from, std::string_view to, pool::Feed::UnderWay& under_way);
    /// Retires all older versions that steps have kept behind this one.
    void retire_versions_before(Link value);

    // ---- lifecycle (reach.cpp, rebuild.cpp) ----

    bool is_reachable(Link record) override;
    void rebuild() override;
    /// Repair: rebuild() is to make the most of damaged records, and to tell what it could not bring back.
    void salvage_into(Salvage& salvage) { salvage_ = &salvage; }
    bool scavenge(std::uint64_t slot) override;
    bool leave() override;
    static Extent extent_of(const heap::RecordHeader& header);
    /// Of the extent.
    static std::uint64_t used_bytes_of(const heap::RecordHeader& header);
    static std::optional<Link> older_of(const heap::RecordHeader& header);
    /// Where all space is. Nobody may be storing meanwhile (audit.cpp).
    Audit audit() const;

private:
    struct Key {
        std::uint64_t hash;
        std::uint64_t parent;
        std::string_view bytes;
    };
    enum class Looking { to_use, to_create };
    struct Seen {
        Link node{};  // the entry in the chain
        Link identity{};
        Link definition{};
        bool pending = false;  // an alias whose rename has not happened (yet)
    };

    Key key_of(std::string_view id) const;
    Key attribute_key(Link owner, std::string_view name) const;
    std::uint64_t* bucket(std::uint64_t hash) const;
    std::uint64_t* attributes_word(Link owner) const;
    bool find_in_chain(const std::uint64_t* head, const Key& key, Looking looking, Seen& seen,
                       Link owner = {}) const;
    bool try_find_in_chain(const std::uint64_t* head, const Key& key, Looking looking, Seen& seen,
                           bool& found) const;
    void walk(const std::uint64_t* head, const std::function<void(Link, const Entry&, const std::string&)>& f,
              Link owner = {}, const std::function<void()>& broken = {}) const;
    bool owner_is_gone(Link owner) const { return owner.is_record() && !heap::is_current(pool_, owner); }
    bool try_count_attributes(const std::uint64_t* head, std::uint64_t incarnation, std::uint64_t& count,
                              Link& link) const;
    /// What makes a name wrong: the word that says so, or nothing.
    using Wrong = std::optional<std::uint64_t>;
    bool is_damage(const std::uint64_t* head, Link name, Link identity,
                   const std::function<Wrong()>& wrong) const;
    bool is_under_way(Link identity, Link name) const;
    bool is_in_chain(const std::uint64_t* head, Link node) const;
    bool is_entry_reachable(Link record);
    bool is_entry_in_use(Link record) const;

    Link insert(std::uint64_t* head, const Key& key, Draft& draft, Link owner = {});
    void write_entry(Draft& draft, const Key& key, std::uint64_t head_offset, std::uint64_t version,
                     Link alias_of = {}, Link old_name = {}, std::span<const std::byte> creator = {});
    Link identity_to_use(const Seen& seen) const;
    Link find_or_insert(std::uint64_t* head, const Key& key, Link owner = {});
    bool is_taken(std::uint64_t* head, const Key& key);
    void ensure_groups(std::string_view id);
    std::optional<Link> find_group(std::string_view id) const;
    bool groups_exist(std::string_view id) const;

    std::optional<std::string> name_under(Link alias) const;
    void bring_back_slabs();
    void bring_back(const Scan& scan);
    void bring_back_groups();
    void name_anew(Link definition);
    void publish_anew(Link array, Link block);

    /// The word that publishes a record, and of an attribute's entry whose it is; null where that cannot be.
    std::uint64_t* home_word(const heap::RecordHeader& header) const;
    const Entry* owner_at_home(const Entry& attribute) const;

    void erase(Link entry, std::string_view id, Link name);
    bool erase_group(Link entry, Link defined, std::string_view id);
    bool flag_dead(Link entry, std::uint64_t expected, Link name);
    void clean_up_erased(Link entry, pool::Slot& slot);
    void clean_up_attributes(Link entry, const Entry& owner, pool::Slot& slot);
    Link kill_attribute(Link attribute);
    bool forget_undefined(Link entry);
    bool define_group(Link entry, Link empty);
    bool take_away(Link entry, const std::function<bool()>& flag);
    bool flag_undefined(Link entry);
    std::vector<Link> undefined_children(std::string_view group) const;
    void retire_definition(Link definition);
    void retire_array(Link array);
    void take_out(std::uint64_t* head, Link node);
    std::optional<Link> try_rename(std::string_view from, std::string_view to,
                                   pool::Feed::UnderWay& under_way);
    void finish_rename(Link identity, Link alias);
    void finish_verb(std::uint64_t slot);
    bool is_previous(Link newer, Link record) const;

    pool::Pool& pool_;
    heap::Heap& heap_;
    Salvage* salvage_ = nullptr;
    std::uint64_t created_ns_ = 0;                  // 0: whenever it is
    std::vector<std::byte> creator_;                // the field of new entries; empty: nobody is known
    std::mutex verb_mutex_;                         // a slot has room for one erase or rename
    std::atomic<bool> has_left_undefined_ = false;  // an entry that could not be given up
};

}  // namespace pmemcpy::catalog
