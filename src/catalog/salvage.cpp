// What repair brings back beyond recovery: slabs whose header is damaged, variables whose id is, blocks whose directory is,
// and groups that are named by what is in them.

#include "catalog/catalog.hpp"
#include "catalog/directory.hpp"
#include "catalog/losses.hpp"
#include "catalog/scan.hpp"

#include <array>
#include <cstdio>
#include <cstring>

namespace pmemcpy::catalog {

void Catalog::for_each_entry(const std::function<void(const std::string&)>& f) const {
    heap_.for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
        RecordHeader header;
        heap::racy_copy(&header, pool_.at(offset), sizeof header);
        if (header.magic == 0 || room < sizeof(Entry)) return;
        const Link link = Link::to(offset, header.version);
        heap::RecordCopy copy;
        if (!heap::read_record(pool_, link, heap::RecordKind::entry, copy)) {
            Entry damaged;
            heap::racy_copy(&damaged, pool_.at(offset), sizeof damaged);
            const std::string key = key_beyond_doubt(pool_, offset, room);
            if (damaged.parent == 0 && !key.empty()) f(name_under(damaged.moved).value_or(key));
            return;
        }
        Entry entry;
        std::memcpy(&entry, copy.data(), sizeof entry);
        if (entry.parent != 0 || entry.alias != 0) return;
        if (const auto id = name_of(link)) f(*id);
    });
}

std::optional<std::string> Catalog::name_under(Link alias) const {
    heap::RecordCopy copy;
    Entry entry;
    if (!alias.is_record() || !heap::read_record(pool_, alias, heap::RecordKind::entry, copy) ||
        copy.size() < sizeof entry)
        return {};
    std::memcpy(&entry, copy.data(), sizeof entry);
    if (entry.alias == 0 || entry.key_bytes > copy.size() - sizeof entry) return {};
    return std::string(reinterpret_cast<const char*>(copy.data()) + sizeof entry, entry.key_bytes);
}

void Catalog::bring_back_slabs() {
    for (const std::uint64_t offset : heap_.bring_back_slabs()) {
        salvage_->losses.push_back(
            {{}, {}, "the head of a slab of records is damaged, at offset " + std::to_string(offset)});
    }
}

// The incarnation of a variable is the version of its entry; so the new entry takes the place of the lost one in every
// record that belongs to it.
void Catalog::name_anew(Link definition) {
    const std::uint64_t incarnation = pool_.as<RecordHeader>(definition.offset()).incarnation;
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%llx", static_cast<unsigned long long>(incarnation));
    const std::string id = std::string("lost+found/") + digits.data();
    ensure_groups(id);
    const Key key = key_of(id);
    std::uint64_t* head = bucket(key.hash);
    Draft draft(heap_, sizeof(Entry) + id.size());
    write_entry(draft, key, pool_.offset_of(head), incarnation);
    const Link entry = insert(head, key, draft);
    pool_.medium().store(value_word(entry), definition.word);
    pool_.medium().store(&pool_.as<RecordHeader>(definition.offset()).home,
                         pool_.offset_of(value_word(entry)));
    salvage_->losses.push_back(
        {id, {}, "its own id is lost with a damaged record; it is kept under this one"});
}

void Catalog::publish_anew(Link array, Link block) {
    auto definition = read_array(pool_, array);
    if (!definition) return;
    Directory directory(pool_, heap_, std::move(*definition));
    const Directory::EmptySlot slot = directory.find_empty();
    pool_.medium().store(&pool_.as<RecordHeader>(block.offset()).home, pool_.offset_of(slot.word));
    pool_.medium().store(slot.word, block.word);
}

void Catalog::bring_back(const Scan& scan) {
    for (Damage& damage : scan.losses()) salvage_->losses.push_back(std::move(damage));
    for (const Link definition : scan.definitions_without_name()) name_anew(definition);
    for (const auto& [array, block] : scan.blocks_without_slot()) publish_anew(array, block);
    bring_back_groups();
    // All of the copy at once. Nobody is told of it before it is closed, and what calls it clean then has a fence first.
    pool_.medium().flush(pool_.at(0), pool_.chunk_offset(pool_.usable_chunks()));
}

void Catalog::bring_back_groups() {
    std::vector<std::string> ids;
    for_each([&](const std::string& id, Link) { ids.push_back(id); });
    for (const std::string& id : ids) {
        if (id != "/") ensure_groups(id);  // the root is in no group
    }
}

}  // namespace pmemcpy::catalog
