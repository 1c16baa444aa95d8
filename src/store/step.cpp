// Steps: what is stored in one carries its number, and one word of the pool says up to which number readers see.
// Modelled in tests/model/step.hpp.

#include "catalog/retry.hpp"
#include "heap/hops.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
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
    check_may_begin(step);
    // Of one that has stored something in a step that is not committed: it never looks as if it were in none.
    const bool is_in_one = step_.load() != 0 && !is_committed(step_);
    if (is_in_one && step != step_) check_is_not_broken(step_);
    if (is_in_one) pool_.enter_step(step);
    if (is_in_one ? pool_.broken_step() == 0 : pool_.enter_step_unless_broken(step)) {
        go_on_in(step);
    } else {
        const pool::Pool::StepLock lock(pool_);
        drop_abandoned_step(step, lock);
        // Under the lock: else another could commit what was dropped, and this call be refused.
        go_on_in(step);
    }
    step_ = step;
    settled_with_ = 0;  // there may be new notes
    settle_names();
}

// A rank goes on to its next step while another one, who commits this one, is still at it.
void Store::check_may_leave_step_for(std::uint64_t next) const {
    check_writable();
    const std::uint64_t step = step_.load();
    if (step == 0 || step == next || is_committed(step) || pool_.count_attached() > 1) return;
    throw Error(Code::invalid_argument, "step " + std::to_string(next) + " cannot begin inside step " +
                                            std::to_string(step) + ", which is not committed; commit(" +
                                            std::to_string(step) + ") or abandon() comes first");
}

// What this process has stored in it would be dropped without a word.
void Store::check_is_not_broken(std::uint64_t step) const {
    const std::uint64_t broken = pool_.broken_step();
    if (broken == 0 || broken > step) return;
    throw Error(Code::busy, "step " + std::to_string(step) +
                                ", which this process is in, cannot be committed: a process gave up step " +
                                std::to_string(broken) + ", or ended in it without closing the pool; begin(" +
                                std::to_string(step) + ") again and store it anew, or abandon() it");
}

void Store::go_back_to(std::uint64_t step) {
    step_ = step;
    pool_.enter_step(step);
    settle_names();
}

// The pool knows by now that this process is in it.
void Store::go_on_in(std::uint64_t step) {
    try {
        check_may_begin(
            step);  // again: another may have committed it just then, and nothing more may be stored in it
    } catch (...) {
        pool_.enter_step(step_);
        throw;
    }
    std::uint64_t* begun = &pool_.state().begun_step.value;
    std::uint64_t before = Medium::load(begun);
    while (before < step && !pool_.medium().compare_exchange(begun, before, step)) {
    }
}

void Store::check_may_begin(std::uint64_t step) const {
    if (step > pool::Pool::last_step)
        throw Error(Code::invalid_argument, "step " + std::to_string(step) + " cannot begin: the last is " +
                                                std::to_string(pool::Pool::last_step));
    if (step != 0 && !is_committed(step)) return;
    throw Error(Code::invalid_argument, "step " + std::to_string(step) +
                                            " cannot begin: the newest committed step is " +
                                            std::to_string(pool_.committed_step()) +
                                            ", and a step has a higher number than those before it");
}

void Store::throw_is_committed(std::uint64_t step) const {
    throw Error(Code::invalid_argument, "step " + std::to_string(step) +
                                            " cannot be committed: the newest committed step is " +
                                            std::to_string(pool_.committed_step()));
}

// Under the step lock.
void Store::check_may_commit(std::uint64_t step) {
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
}

void Store::commit(std::uint64_t step) {
    check_writable();
    if (step == 0 || is_committed(step)) throw_is_committed(step);
    pool::Feed::UnderWay under_way(feed());
    {
        // Held by each process that abandons a step, that drops what is left of one, or that tells of a death in one: none of that happens
        // between the look at what is broken and the exchange, however long this process is stopped there.
        const pool::Pool::StepLock lock(pool_);
        check_may_commit(step);
        // Behind the page cache the word below could reach the medium before what it shows.
        pool_.sync();
        under_way.of_commit();
        // Another has done it just then: one commit of a step succeeds.
        if (!pool_.publish_step(step)) throw_is_committed(step);
    }
    leave_committed_step();
}

void Store::commit_with(std::uint64_t step, Store& second) {
    check_writable();
    second.check_writable();
    if (step == 0 || is_committed(step)) throw_is_committed(step);
    pool::Feed::UnderWay under_way(feed());
    pool::Feed::UnderWay under_way_there(second.feed());
    {
        const pool::Pool::StepLock lock(pool_);
        const pool::Pool::StepLock second_lock(second.pool_);
        check_may_commit(step);
        // What is in it may be of an earlier step, which is committed with this one.
        const std::uint64_t of_second = std::min(step, Medium::load(&second.pool_.state().begun_step.value));
        second.check_may_commit(of_second);
        second.pool_.sync();
        pool_.sync();
        const std::uint64_t durable = pool_.committed_step();
        under_way.of_commit();
        under_way_there.of_commit();
        if (!pool_.publish_step(step)) throw_is_committed(step);
        // Behind the page cache the second one's word could reach the medium without the first one's: it comes one commit later, and
        // until then the note stands for it.
        second.pool_.know_committed(of_second);
        const std::uint64_t to_say = pool_.probe().needs_sync ? std::min(of_second, durable) : of_second;
        static_cast<void>(second.pool_.publish_step(to_say));  // another may have settled it by now
    }
    leave_committed_step();
    second.leave_committed_step();
}

void Store::leave_committed_step() {
    pool_.feed().append_commit();
    pool_.tell();
    count_change();
    // It may have gone on to a later one, which stays as it is.
    std::uint64_t step = step_.load();
    if (is_committed(step) && step_.compare_exchange_strong(step, 0)) pool_.enter_step(0);
    settle_names();
}

void Store::note_step(std::string_view name, std::uint64_t step) {
    std::map<std::uint64_t, std::string> committed;
    for_each_noted_step(name, [&](const std::string& note, std::uint64_t of) {
        if (is_committed(of)) committed.emplace(of, note);
    });
    // Two stay: behind the page cache the newest may be lost with the word that commits it, and the word of the other pool that makes the
    // one before it needless may not have come to the medium.
    constexpr std::size_t needed = 2;
    for (auto oldest = committed.begin(); committed.size() > needed; oldest = committed.erase(oldest))
        remove_note("/", oldest->second);
    set_note("/", std::string(name) + std::to_string(step), "begun");
}

// A note is a value of its step: it goes when the step is dropped, and what is begun anew has its own.
void Store::for_each_noted_step(std::string_view name,
                                const std::function<void(const std::string&, std::uint64_t)>& f) const {
    const auto root = catalog_.find("/");
    if (!root) return;
    catalog_.for_each_attribute(*root, [&](const std::string& note, Link attribute) {
        if (!note.starts_with(name) || !read_value(attribute)) return;
        f(note, std::strtoull(note.c_str() + name.size(), nullptr, 10));
    });
}

std::uint64_t Store::committed_with(std::string_view name) const {
    std::uint64_t newest = 0;
    for_each_noted_step(name, [&](const std::string&, std::uint64_t step) {
        if (is_committed(step)) newest = std::max(newest, step);
    });
    return newest;
}

void Store::settle_with(const Store& first, std::string_view name) {
    const std::uint64_t committed = first.pool_.committed_step();
    if (!step_is_open() || committed <= pool_.committed_step() ||
        settled_with_.exchange(committed) == committed)
        return;
    const std::uint64_t step = first.committed_with(name);
    if (step <= pool_.committed_step()) return;
    pool::Feed::UnderWay under_way(feed());
    if (!read_only() && !pool_.is_forked()) under_way.of_commit();
    pool_.know_committed(step);
    if (read_only() || pool_.is_forked()) return;
    if (!first.pool_.probe().needs_sync && !pool_.publish_step(step)) return;
    pool_.feed().append_commit();
    pool_.tell();
    count_change();
}

void Store::tell_of_deaths() {
    const pool::Pool::StepLock lock(pool_);
    pool_.notice_deaths_in_step();
}

// What a thread stores in a step is in it before another thread of the process abandons the step, or is in none. It says that it stores and
// then looks which step that is; abandon() takes the step away and then looks for stores.
Store::InStep::InStep(Store& store) : store_(store) {
    if (store_.step_.load() == 0) return;
    store_.stores_in_step_.fetch_add(1);
    step_ = store_.step_.load();
    if (step_ == 0) end();
    is_counted_ = step_ != 0;
}

Store::InStep::~InStep() {
    if (is_counted_) end();
}

void Store::InStep::end() {
    if (store_.stores_in_step_.fetch_sub(1) == 1) store_.stores_in_step_.notify_all();
}

std::uint64_t Store::take_step_away() {
    const std::uint64_t step = step_.exchange(0);
    for (std::uint32_t stores = stores_in_step_.load(); stores != 0; stores = stores_in_step_.load())
        stores_in_step_.wait(stores);
    return step;
}

// Others in the step would commit half of it. So it is as broken as by a death: what was stored in it goes when the last of
// them has left, or now.
void Store::abandon() {
    check_writable();
    if (step_.load() == 0) {
        throw Error(Code::invalid_argument, "no step can be abandoned: none was begun here");
    }
    const std::uint64_t step = take_step_away();
    const pool::Pool::StepLock lock(pool_);
    if (is_committed(step)) {
        pool_.enter_step(0);
        throw Error(Code::invalid_argument,
                    "step " + std::to_string(step) + " cannot be abandoned: it has been committed");
    }
    pool_.abandon_step();
    drop_abandoned_step(0, lock);
    settle_names();
}

// What those who died in a step have stored in it must not appear when a step is committed that others begin anew. As
// long as one of them is still there, the step stays broken. This process is in step `next` when it returns; 0: in none.
void Store::drop_abandoned_step(std::uint64_t next, const pool::Pool::StepLock&) {
    pool_.scavenge_dead(catalog_);
    pool_.turn_away_entering();
    for (;;) {
        const std::uint64_t broken = pool_.broken_step();
        if (broken == 0 || pool_.others_in_step()) break;
        drop_from(broken);  // a death in an earlier step may have been told of meanwhile
    }
    pool_.enter_step(next);
}

// Nobody is in a step, and a process that enters one waits for the lock that the caller holds. What was stored in steps before
// the broken one is whole, and waits for its commit. By the records and not by the names: a variable that another process
// renames meanwhile may be in none of the chains when they are walked.
void Store::drop_from(std::uint64_t step) {
    const pool::Pool::NamesChange change(pool_);
    for_each_from(step, [&](Link record, const heap::RecordHeader& header) {
        if (static_cast<heap::RecordKind>(header.kind) == heap::RecordKind::block) {
            heap_.unlink_block({record, header.version});
        } else if (const auto entry = catalog_.entry_at_home(header)) {
            drop_from(step, *entry, catalog_.name_of(*entry).value_or("a variable"));
        }
    });
    // Behind the page cache recovery believes records, not links: it would find these again once the step that others begin
    // anew is committed. Those that are retired already are not wiped before a sync, and not while there is a view of them.
    // What is done here the commit's own sync makes durable.
    if (pool_.probe().needs_sync) {
        for_each_from(step, [&](Link record, const heap::RecordHeader& header) {
            heap_.hide(record.offset(), header);
        });
    }
    pool_.forget_broken_step(step);
}

void Store::for_each_from(std::uint64_t step,
                          const std::function<void(Link, const heap::RecordHeader&)>& f) const {
    heap_.for_each_unit([&](std::uint64_t offset, std::uint64_t room) {
        heap::RecordHeader header;
        if (room < sizeof header) return;
        pool_.guarded([&] { heap::racy_copy(&header, pool_.at(offset), sizeof header); });
        if (header.magic != heap::record_magic) return;
        const Link record = Link::to(offset, header.version);
        const auto kind = static_cast<heap::RecordKind>(header.kind);
        heap::RecordCopy copy;
        if (!heap::read_record(pool_, record, kind, copy)) return;
        if (step_of(kind, copy) >= step) f(record, header);
    });
}

void Store::drop_from(std::uint64_t step, Link entry, std::string_view name) {
    heap::Hops hops;
    for (Retry retry(name);; retry.again()) {
        const auto definition = catalog_.definition(entry);
        if (!definition) return;
        const auto nature = catalog::Catalog::nature_of(pool_, *definition);
        if (!nature) {
            retry.doubt(pool_, *definition);
            continue;
        }
        if (nature->step < step) return;
        if (!nature->is_array) {
            const auto seen = read_value_record(*definition);
            if (!seen) {
                retry.doubt(pool_, *definition);
                continue;
            }
            if (const Link previous = seen->record.previous; previous.is_record()) {
                // The version before it takes its place again. Nothing is written into it: it may be erased just now.
                if (!heap::is_current(pool_, previous)) {
                    retry.doubt(pool_, previous);
                    continue;
                }
                if (!hops.take(*definition))
                    throw Error(Code::corrupt,
                                "the older versions of '" + std::string(name) + "' lead to each other");
                static_cast<void>(heap_.replace(catalog_.value_word(entry), seen->seen(), previous));
                continue;
            }
        }
        if (!nature->is_group) {
            // Only that: what another has stored over it meanwhile, in no step, is not of this one.
            if (catalog_.erase_only(entry, *definition)) return;
            continue;
        }
        try {
            return catalog_.erase(entry, name);
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;  // somebody else was faster
        }
    }
}

}  // namespace pmemcpy::store
