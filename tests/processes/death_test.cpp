// Deaths at instants so short that random kills do not find them: each worker goes one step of the library by hand and
// kills itself. A survivor must find everything as it was, or finish what was begun.

#include "worker.hpp"

namespace {

using namespace processes;
using pmemcpy::Options;
using pmemcpy::PMEM;
using pmemcpy::catalog::Draft;
using pmemcpy::catalog::Entry;
using pmemcpy::heap::Link;
using pmemcpy::heap::RecordHeader;
using pmemcpy::persist::Medium;

Options small_pool() {
    Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    return options;
}

[[noreturn]] void die() {
    ::kill(::getpid(), SIGKILL);
    for (;;) ::pause();
}

// The successor of "small" is whole, names what it replaces, and has not been published.
int die_before_publishing(const Arguments& arguments) {
    Inside inside(arguments[0]);
    const Link entry = inside.catalog().find("small").value();
    const Link old = inside.catalog().definition(entry).value();
    const auto& record = inside.pool().as<RecordHeader>(old.offset());
    Draft draft(inside.heap(), record.length);
    draft.write_header(pmemcpy::heap::RecordKind::value, 0, record.length, record.incarnation, record.home);
    draft.write(sizeof(RecordHeader), &record + 1, record.length - sizeof(RecordHeader));
    const Link replaced = old.dead();
    draft.write(offsetof(RecordHeader, word), &replaced, sizeof replaced);
    draft.seal(inside.pool().draw_version());
    die();
}
const Job die_before_publishing_job("die_before_publishing", die_before_publishing);

// The same, published, with the one it replaced not yet retired.
int die_after_publishing(const Arguments& arguments) {
    Inside inside(arguments[0]);
    const Link entry = inside.catalog().find("small").value();
    const Link old = inside.catalog().definition(entry).value();
    const auto& record = inside.pool().as<RecordHeader>(old.offset());
    Draft draft(inside.heap(), record.length);
    draft.write_header(pmemcpy::heap::RecordKind::value, 0, record.length, record.incarnation, record.home);
    draft.write(sizeof(RecordHeader), &record + 1, record.length - sizeof(RecordHeader));
    const Link replaced = old.dead();
    draft.write(offsetof(RecordHeader, word), &replaced, sizeof replaced);
    const Link fresh = draft.seal(inside.pool().draw_version());
    const Medium& m = inside.pool().medium();
    pmemcpy::pool::Slot& slot = inside.pool().slot();
    m.store(&slot.step_a, fresh.word);
    m.store(&slot.step_intent, static_cast<std::uint64_t>(pmemcpy::pool::Intent::replace));
    m.store(inside.catalog().value_word(entry), fresh.word);
    die();
}
const Job die_after_publishing_job("die_after_publishing", die_after_publishing);

// "a" is erased, and nothing of it is cleaned up.
int die_after_erasing(const Arguments& arguments) {
    Inside inside(arguments[0]);
    const Link entry = inside.catalog().find("a").value();
    const Link defined = inside.catalog().definition(entry).value();
    const Medium& m = inside.pool().medium();
    pmemcpy::pool::Slot& slot = inside.pool().slot();
    m.store(&slot.intent_a, entry.word);
    m.store(&slot.intent_b, 0);
    m.store(&slot.intent, static_cast<std::uint64_t>(pmemcpy::pool::Intent::erase));
    m.store(inside.catalog().value_word(entry), defined.dead().word);
    if (arguments.size() > 1) {  // one attribute is out of its chain, and not yet retired
        std::uint64_t* head = &inside.pool().as<Entry>(entry.offset()).attributes.word;
        const Link first{Medium::load(head)};
        m.store(&slot.intent_b, first.word);
        m.store(head, inside.pool().as<Entry>(first.offset()).header.next.word);
    }
    die();
}
const Job die_after_erasing_job("die_after_erasing", die_after_erasing);

// Gone while freeing what it had retired: one record is free already, and still in the list.
int die_while_freeing(const Arguments& arguments) {
    Inside inside(arguments[0]);
    pmemcpy::pool::Slot& slot = inside.pool().slot();
    for (const char* id : {"x", "y", "z"}) {
        const Link entry = inside.catalog().find(id).value();
        const Link old = inside.catalog().definition(entry).value();
        std::uint64_t* word = inside.catalog().value_word(entry);
        if (!inside.heap().unlink(word,
                                  {old, inside.pool().as<pmemcpy::heap::RecordHeader>(old.offset()).version},
                                  Link::mark(pmemcpy::heap::mark_empty, entry.tag()).word))
            return 1;
    }
    const Link first{slot.retire_head};
    auto& record = inside.pool().as<RecordHeader>(first.offset());
    record.magic = 0;
    inside.heap().free_extent(pmemcpy::catalog::Catalog::extent_of(record), first.offset());
    inside.pool().medium().store(&slot.freeing, first.word);
    die();
}
const Job die_while_freeing_job("die_while_freeing", die_while_freeing);

// An id without a value.
int die_before_the_value(const Arguments& arguments) {
    Inside inside(arguments[0]);
    inside.catalog().create("new");
    inside.catalog().create("group/new");
    die();
}
const Job die_before_the_value_job("die_before_the_value", die_before_the_value);

class Death : public ::testing::Test {
protected:
    Death() {
        pmem_.mmap(folder_ / "pool", small_pool());
        for (const char* id : {"x", "y", "z"}) pmem_.store(id, std::vector<std::uint64_t>(500, 1));
        pmem_.store("small", 77);
        pmem_.alloc<int>("a", {20, 5});
        const std::vector<int> row(5, 3);
        for (std::uint64_t r = 0; r < 20; ++r) pmem_.store("a", row.data(), pmemcpy::Box{{r, 0}, {1, 5}});
        for (const char* name : {"one", "two", "three"})
            pmem_.set_attribute("a", name, std::vector<std::uint64_t>(500, 2));
    }
    void die(const std::string& job, const Arguments& more = {}) {
        Arguments arguments{folder_ / "pool"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        EXPECT_EQ(Worker(job, arguments).wait(), 1000 + SIGKILL);
    }
    void expect_all_space_found() {
        pmem_.compact();
        Inside inside(folder_ / "pool");
        EXPECT_TRUE(inside.scavenge());
        const auto audit = inside.audit();
        EXPECT_EQ(audit.retired_records, 0u);
        EXPECT_EQ(audit.undefined_entries, 0u);
        expect_clean(audit);
    }

    Folder folder_;
    PMEM pmem_;
};

TEST_F(Death, between_sealing_and_publishing_keeps_the_old_value) {
    die("die_before_publishing");
    expect_all_space_found();
    pmem_.store("other", 9);
    EXPECT_EQ(pmem_.load<int>("small"), 77);
}

TEST_F(Death, between_publishing_and_retiring_frees_the_old_value) {
    die("die_after_publishing");
    expect_all_space_found();
    EXPECT_EQ(pmem_.load<int>("small"), 77);
}

TEST_F(Death, between_an_erase_and_its_cleaning_up_leaves_no_trace) {
    die("die_after_erasing");
    expect_all_space_found();
    EXPECT_FALSE(pmem_.exists("a"));
    pmem_.alloc<int>("a", {3});
    EXPECT_TRUE(pmem_.attributes("a").empty());
}

TEST_F(Death, in_the_middle_of_an_erase_leaves_no_trace) {
    die("die_after_erasing", {"attribute"});
    expect_all_space_found();
    EXPECT_FALSE(pmem_.exists("a"));
}

TEST_F(Death, while_freeing_loses_nothing_of_the_list) {
    die("die_while_freeing");
    for (const char* id : {"x", "y", "z"}) pmem_.store(id, std::vector<std::uint64_t>(500, 1));
    expect_all_space_found();
    EXPECT_EQ(pmem_.load<std::vector<std::uint64_t>>("x"), std::vector<std::uint64_t>(500, 1));
}

TEST_F(Death, before_an_id_has_a_value_leaves_no_id) {
    die("die_before_the_value");
    expect_all_space_found();
    EXPECT_FALSE(pmem_.exists("new"));
    pmem_.erase("group");
}

}  // namespace
