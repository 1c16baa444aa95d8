#include "os/access.hpp"

#include <algorithm>
#include <utility>

#include "os/process.hpp"

namespace pmemcpy::os {

namespace {

using Who = AclEntry::Who;

auto find(auto& entries, Who who, unsigned id) {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const AclEntry& entry) { return entry.who == who && entry.id == id; });
}

bool is_masked(Who who) { return who == Who::user || who == Who::owning_group || who == Who::group; }

}  // namespace

Acl::Acl(std::vector<AclEntry> entries) : entries_(std::move(entries)) {
    std::sort(entries_.begin(), entries_.end());
}

bool Acl::is_extended() const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [](const AclEntry& entry) {
        return entry.who == Who::user || entry.who == Who::group || entry.who == Who::mask;
    });
}

std::optional<unsigned> Acl::bits_of(Who who, unsigned id) const noexcept {
    const auto found = find(entries_, who, id);
    if (found == entries_.end()) return std::nullopt;
    return found->bits;
}

unsigned Acl::effective_bits(const AclEntry& entry) const noexcept {
    return is_masked(entry.who) ? entry.bits & bits_of(Who::mask).value_or(~0U) : entry.bits;
}

void Acl::set(Who who, unsigned id, unsigned bits) {
    const auto found = find(entries_, who, id);
    if (found != entries_.end()) {
        found->bits = bits;
        return;
    }
    const AclEntry entry{who, id, bits};
    entries_.insert(std::lower_bound(entries_.begin(), entries_.end(), entry), entry);
}

void Acl::remove(Who who, unsigned id) {
    const auto found = find(entries_, who, id);
    if (found != entries_.end()) entries_.erase(found);
}

void Acl::widen_mask() {
    unsigned all = 0;
    for (const AclEntry& entry : entries_) {
        if (is_masked(entry.who)) all |= entry.bits;
    }
    set(Who::mask, 0, all);
}

Acl writers_only(const Acl& acl, unsigned owner, unsigned group) {
    constexpr unsigned all = may_read | may_write;
    const auto all_or_nothing = [&](const AclEntry& entry) {
        return (acl.effective_bits(entry) & may_write) != 0 ? all : 0;
    };
    Acl made({{Who::owner, 0, all}, {Who::owning_group, 0, 0}, {Who::mask, 0, all}, {Who::other, 0, 0}});
    // One who is named and may not write stays so: a group that he is in too would let him.
    for (const AclEntry& entry : acl.entries()) {
        if (entry.who == Who::user || entry.who == Who::group || entry.who == Who::other)
            made.set(entry.who, entry.id, all_or_nothing(entry));
    }
    // Those who have no entry by name there need one here, where somebody else may be the owner.
    for (const AclEntry& entry : acl.entries()) {
        if (entry.who == Who::owner) made.set(Who::user, owner, all_or_nothing(entry));
        if (entry.who == Who::owning_group && all_or_nothing(entry) != 0) made.set(Who::group, group, all);
    }
    return made;
}

bool give_group_of(File& file, const File& model) {
    const unsigned group = model.owning_group();
    if (file.owning_group() == group) return true;
    return group != unknown_id && file.try_give_to(unchanged_id, group);
}

namespace {

bool is_roots_for_another(const File& file, const File& model) {
    return user_id() == 0 && file.owner() != model.owner() && model.owner() != unknown_id;
}

}  // namespace

void share_like(File& file, const File& model, unsigned bits) {
    if (is_roots_for_another(file, model)) file.try_give_to(model.owner(), unchanged_id);
    bool has_group = file.owning_group() == model.owning_group();
    if (!has_group) {
        const auto acl = acl_of(file);
        has_group = (acl && acl->is_extended()) || give_group_of(file, model);
    }
    file.set_mode_bits(has_group ? bits : bits_without_group(bits));
}

void keep_like(File& file, const File& model, unsigned bits) {
    if (!is_mine_to_change(file)) return;
    const bool has_group = file.owning_group() == model.owning_group();
    const unsigned wanted = has_group ? bits : bits_without_group(bits);
    if (is_roots_for_another(file, model) || !has_group || (file.mode_bits() & 0777) != wanted)
        share_like(file, model, bits);
}

bool is_mine_to_change(const File& file) { return file.owner() == user_id() || user_id() == 0; }

}  // namespace pmemcpy::os
