// Steps: what is stored in one carries its number, and one word of the pool says up to which number readers see.

#include "catalog/retry.hpp"
#include "store/store.hpp"

#include <vector>

namespace pmemcpy::store {

using catalog::Retry;
using persist::Medium;

namespace {

/// In which a variable's record was stored; 0: in none.
std::uint64_t step_of(heap::RecordKind kind, const heap::RecordCopy& record) {
    switch (kind) {
        case heap::RecordKind::value:
            return reinterpret_cast<const catalog::Value*>(record.data())->step;
        case heap::RecordKind::array:
            return reinterpret_cast<const catalog::Array*>(record.data())->step;
        case heap::RecordKind::block:
            return reinterpret_cast<const catalog::Block*>(record.data())->step;
        default:
            return 0;
    }
}

}  // namespace

bool Store::is_committed(std::uint64_t step) const { return step <= pool_.committed_step(); }

bool Store::is_visible(std::uint64_t step) const {
    return step == 0 || step == step_.load() || is_committed(step);
}

void Store::begin(std::uint64_t step) {
    check_writable();
    if (step == 0 || is_committed(step)) {
        throw Error(Code::invalid_argument, "step " + std::to_string(step) +
                                                " cannot begin: the newest committed step is " +
                                                std::to_string(pool_.committed_step()) +
                                                ", and a step has a higher number than those before it");
    }
    if (pool_.broken_step() != 0) drop_abandoned_step();
    pool_.enter_step(step);
    std::uint64_t* begun = &pool_.state().begun_step.value;
    std::uint64_t before = Medium::load(begun);
    while (before < step && !pool_.medium().compare_exchange(begun, before, step)) {
    }
    step_ = step;
    settle_names();
}

void Store::commit(std::uint64_t step) {
    check_writable();
    if (step == 0 || is_committed(step)) {
        throw Error(Code::invalid_argument, "step " + std::to_string(step) +
                                                " cannot be committed: the newest committed step is " +
                                                std::to_string(pool_.committed_step()));
    }
    if (step > Medium::load(&pool_.state().begun_step.value)) {
        throw Error(Code::invalid_argument,
                    "step " + std::to_string(step) + " cannot be committed: nobody has begun it");
    }
    pool_.notice_deaths_in_step();
    if (const std::uint64_t broken = pool_.broken_step(); broken != 0 && broken <= step) {
        throw Error(Code::busy, "step " + std::to_string(step) +
                                    " cannot be committed: a process gave up step " + std::to_string(broken) +
                                    ", or ended in it without closing the pool, so part of that step may be "
                                    "missing; let all others in "
                                    "the step close the pool, then begin it again and store it anew");
    }
    // Behind the page cache the word below could reach the medium before what it shows.
    pool_.sync();
    std::uint64_t* committed = &pool_.state().committed_step.value;
    std::uint64_t before = Medium::load(committed);
    while (before < step && !pool_.medium().compare_exchange(committed, before, step)) {
    }
    pool_.medium().persist(committed, sizeof *committed);
    pool_.feed().append_commit();
    pool_.tell();
    count_change();
    step_ = 0;
    pool_.enter_step(0);
    settle_names();
    if (Medium::load(&pool_.state().hierarchy.value) != 0) flush_step();
}

// Others in the step would commit half of it. So it is as broken as by a death: what was stored in it goes when the last of
// them has left, or now.
void Store::abandon() {
    check_writable();
    if (step_.load() == 0) {
        throw Error(Code::invalid_argument, "no step can be abandoned: this PMEM has begun none");
    }
    step_ = 0;
    pool_.abandon_step();
    drop_abandoned_step();
    settle_names();
}

// What those who died in a step have stored in it must not appear when a step is committed that others begin anew. As
// long as one of them is still there, the step stays broken.
void Store::drop_abandoned_step() {
    const pool::Pool::StepLock one_at_a_time(pool_);
    pool_.scavenge_dead(catalog_);
    if (pool_.broken_step() == 0 || pool_.others_in_step()) return;
    catalog_.for_each([&](const std::string& id, Link entry) {
        catalog_.for_each_attribute(
            entry, [&](const std::string& name, Link attribute) { drop_uncommitted(attribute, name); });
        drop_uncommitted(entry, id);
    });
    if (pool_.probe().needs_sync) hide_uncommitted();
    pool_.forget_broken_step();
}

// Behind the page cache recovery believes records, not links: it would find these again once the step that others begin anew is
// committed. Those that are retired already are not wiped before a sync, and not while there is a view of them. What is done
// here the commit's own sync makes durable.
void Store::hide_uncommitted() {
    heap_.for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
        heap::RecordHeader header;
        if (room < sizeof header) return;
        pool_.guarded([&] { heap::racy_copy(&header, pool_.at(offset), sizeof header); });
        if (header.magic != heap::record_magic) return;
        const Link record = Link::to(offset, header.version);
        const auto kind = static_cast<heap::RecordKind>(header.kind);
        heap::RecordCopy copy;
        if (!heap::read_record(pool_, record, kind, copy)) return;
        if (!is_committed(step_of(kind, copy))) heap_.hide(offset, header);
    });
}

void Store::drop_uncommitted(Link entry, std::string_view name) {
    for (Retry retry(name);; retry.again()) {
        const auto definition = catalog_.definition(entry);
        if (!definition) return;
        if (is_array(*definition)) {
            const auto directory = directory_of(*definition);
            if (!directory) continue;
            if (is_committed(directory->definition().step)) return drop_uncommitted_blocks(*directory);
        } else {
            const auto seen = read_value_record(*definition);
            if (!seen) continue;
            if (is_committed(seen->record.step)) return;
            if (const Link previous = seen->record.previous; previous.is_record()) {
                // The version before it takes its place again. Nothing is written into it: it may be erased just now.
                if (!heap::is_current(pool_, previous)) continue;
                static_cast<void>(heap_.replace(catalog_.value_word(entry), *definition, previous));
                continue;
            }
        }
        try {
            return catalog_.erase(entry, name);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;  // somebody else was faster
        }
    }
}

void Store::drop_uncommitted_blocks(Directory& directory) {
    const std::lock_guard one_thread(directory.mutex());
    if (!directory.refresh()) return;
    std::vector<std::uint64_t> abandoned;
    for (const auto& [handle, block] : directory.blocks()) {
        if (!is_committed(block.block.step)) abandoned.push_back(handle);
    }
    for (const std::uint64_t handle : abandoned) {
        heap_.unlink(directory.slot_word(handle), directory.block(handle).link, directory.empty_word(handle));
    }
}

}  // namespace pmemcpy::store
