#pragma once

#include "catalog/catalog.hpp"
#include "catalog/losses.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pmemcpy::catalog {

/// Everything that recovery knows, as offsets of whole records.
class Scan {
public:
    /// `salvage`: null but in a repair.
    Scan(pool::Pool& pool, heap::Heap& heap, Salvage* salvage)
        : pool_(pool), heap_(heap), salvage_(salvage) {}

    void collect();
    void elect();
    void rewrite(std::uint64_t bucket_mask);
    const std::vector<Link>& pinned() const { return pinned_; }
    std::uint64_t highest_version() const { return highest_version_; }
    std::uint64_t highest_step() const { return highest_step_; }
    /// Kept without a place: blocks whose directory is damaged, and definitions whose entry is.
    const std::vector<std::pair<Link, Link>>& blocks_without_slot() const { return blocks_without_slot_; }
    const std::vector<Link>& definitions_without_name() const { return definitions_without_name_; }
    std::vector<Damage> losses() const { return losses_.named(); }

private:
    Link link_of(std::uint64_t offset) const { return Link::to(offset, header(offset).version); }
    RecordHeader& header(std::uint64_t offset) const { return pool_.as<RecordHeader>(offset); }
    bool is_whole(Link link, heap::RecordKind kind, std::uint64_t incarnation) const;
    bool is_committed(std::uint64_t step) const { return step <= pool_.committed_step(); }
    bool was_synced(const RecordHeader& record) const {
        return record.version < pool_.state().synced_version.value;
    }
    bool data_holds(const RecordHeader& record) const;
    bool checksum_holds(const RecordHeader& record) const;
    void set(std::uint64_t* word, Link link);
    bool keep(std::uint64_t offset);
    void keep_pinned();
    Link elect_definition(const Entry& entry);
    std::uint64_t elect_name(std::uint64_t identity);
    void keep_array(std::uint64_t offset);
    void keep_blocks_without_slot(std::uint64_t array);
    void keep_definitions_without_name();
    Link elect_block(std::uint64_t slot_offset, Link found, const Array& array);
    bool is_uncommitted(Link link) const;
    void tell_attribute_behind(const Entry& entry);
    bool is_whole_entry(Link link) const;
    void lose(std::uint64_t incarnation, const std::string& what) {
        if (salvage_ != nullptr) losses_.add(incarnation, what);
    }
    /// In a pool that was closed in an orderly way nothing is half erased: a flag that says so is damage.
    bool is_dead(Link link) const { return link.is_dead() && (salvage_ == nullptr || !salvage_->was_clean); }
    void put_in_chain(std::uint64_t* head, std::uint64_t node);

    pool::Pool& pool_;
    heap::Heap& heap_;
    Salvage* salvage_;
    Losses losses_;
    std::uint64_t highest_version_ = 0;
    std::uint64_t highest_step_ = 0;
    std::unordered_map<std::uint64_t, heap::RecordKind> whole_;
    std::vector<std::uint64_t> identities_;
    std::unordered_multimap<std::uint64_t, std::uint64_t> aliases_;      // identity -> alias
    std::unordered_multimap<std::uint64_t, std::uint64_t> definitions_;  // incarnation -> value or array
    std::unordered_multimap<std::uint64_t, std::uint64_t> blocks_;       // home -> block
    struct Named {
        std::uint64_t identity;
        std::uint64_t node;  // whose key is the name: the identity itself or an alias
        Link definition;
        bool kept = false;
    };
    std::vector<Named> named_;
    std::vector<Extent> outside_;
    std::unordered_set<std::uint64_t> kept_;
    std::vector<Link> pinned_;
    std::vector<std::pair<Link, Link>> blocks_without_slot_;  // array, block
    std::vector<Link> definitions_without_name_;
};

}  // namespace pmemcpy::catalog
