#include "layout/inventory.hpp"

#include "layout/payload_name.hpp"
#include "os/directory.hpp"
#include "tests/folder.hpp"

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

#include <fstream>

namespace pmemcpy::layout {
namespace {

namespace fs = std::filesystem;

class inventory : public testing::Test {
protected:
    static Inventory of(std::uint64_t version, const std::string& id) {
        Inventory made;
        made.head.version = version;
        made.add({ItemKind::group, 0, 0, 0, 7, 0}, id);
        made.add({ItemKind::block, 0, 0, 0, 9, 11}, {}, std::as_bytes(std::span("record")));
        return made;
    }
    void put(std::uint64_t version, const std::string& id) {
        of(version, id).put_into(directory_, version, 0640, true);
    }
    static std::string first_id(const Inventory& found) {
        std::string id;
        found.for_each([&](const Item& item) { id += item.name; });
        return id;
    }
    void scribble(const std::string& name, std::streamoff at) const {
        std::fstream file(here_ / name, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(at);
        const int other = file.get() ^ 0x20;  // which is never what was there
        file.seekp(at);
        file.put(static_cast<char>(other));
    }
    static std::string name(std::uint64_t number) { return "inventory-" + name_of_payload(number); }

    Folder here_;
    os::File directory_ = os::File::open(here_.path(), O_RDONLY | O_DIRECTORY);
};

TEST_F(inventory, comes_back_as_it_was_put) {
    EXPECT_FALSE(Inventory::newest_in(directory_));
    put(5, "a/b");
    const auto found = Inventory::newest_in(directory_);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->head.version, 5u);
    std::vector<Item> items;
    found->for_each([&](const Item& item) { items.push_back(item); });
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].name, "a/b");
    EXPECT_EQ(items[0].head.version, 7u);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(items[1].record.data())), "record");
    EXPECT_EQ(found->numbers(), std::unordered_set<std::uint64_t>{11});
    EXPECT_EQ(os::look_in(directory_, name(5))->mode_bits, 0640u);
}

TEST_F(inventory, takes_the_place_of_the_one_before_also_when_versions_are_drawn_again) {
    put(9, "old");
    put(3, "new");
    EXPECT_EQ(os::names_in(directory_), std::vector<std::string>{name(10)});
    EXPECT_EQ(first_id(*Inventory::newest_in(directory_)), "new");
}

TEST_F(inventory, that_is_damaged_anywhere_does_not_count) {
    put(5, "one");
    const auto size = static_cast<std::streamoff>(fs::file_size(here_ / name(5)));
    const std::string whole = name(5);
    for (std::streamoff at = 0; at < size; at += 5) {
        fs::copy_file(here_ / whole, here_ / name(6), fs::copy_options::overwrite_existing);
        scribble(name(6), at);
        std::vector<std::string> damaged;
        const auto found = Inventory::newest_in(directory_, &damaged);
        ASSERT_TRUE(found) << at;
        EXPECT_EQ(found->name, whole) << at;
        EXPECT_EQ(damaged, std::vector<std::string>{name(6)}) << at;
    }
    fs::resize_file(here_ / whole, fs::file_size(here_ / whole) - 1);
    EXPECT_FALSE(Inventory::newest_in(directory_));
}

TEST_F(inventory, half_written_by_a_killed_process_is_in_nobodys_way) {
    put(5, "one");
    std::ofstream(here_ / "writing-inventory") << "half";
    EXPECT_EQ(Inventory::newest_in(directory_)->name, name(5));
    put(6, "two");
    EXPECT_EQ(os::names_in(directory_), std::vector<std::string>{name(6)});
}

}  // namespace
}  // namespace pmemcpy::layout
