// Private objects belong to one pool, and not to its name: where another pool has taken the name they are not in it.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <pmemcpy/query.hpp>
#include <pmemcpy/repair.hpp>
#include <string>
#include <vector>

#include "pmem/scope_suite.hpp"
#include "pool/geometry.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

class replaced : public scope {
protected:
    PMEM open(Mode mode = Mode::create_or_update) const {
        Options options = small();
        options.mode = mode;
        return scope::open(options);
    }
    /// A pool with something private in it, which is closed.
    void make() const {
        PMEM pool = open(Mode::exclusive);
        pool.store("x", 1);
        pool.store("y", 2);
        set_scope(pool, "x", Scope::own);
    }
    static void expect_made(const PMEM& pool) {
        EXPECT_EQ(pool.load<int>("x"), 1);
        EXPECT_EQ(scope_of(pool, "x"), Scope::own);
        EXPECT_EQ(pool.load<int>("y"), 2);
    }
    /// Where private objects lie that have given way.
    std::vector<std::string> aside() const {
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator(folder_.path())) {
            const std::string path = entry.path();
            if (path.starts_with(own_path() + ".") && path.size() == own_path().size() + 33)
                found.push_back(path);
        }
        return found;
    }
    /// As an earlier version made them, which did not say whose they are.
    void forget_whose_they_are() const {
        std::fstream file(own_path(), std::ios::in | std::ios::out | std::ios::binary);
        pool::Superblock super{};
        file.read(reinterpret_cast<char*>(&super), sizeof super);
        super.side_of = {};
        super.checksum = pool::checksum_of(super);
        for (const std::uint64_t offset : {pool::superblock_offset, pool::spare_offset}) {
            file.seekp(static_cast<std::streamoff>(offset));
            file.write(reinterpret_cast<const char*>(&super), sizeof super);
        }
        ASSERT_TRUE(file.good());
    }
};

// They showed up in the new pool, and what was stored under their names went to the private side, so that nobody else saw it.
TEST_F(replaced, has_its_private_objects_in_no_new_pool_of_its_name) {
    for (const bool is_removed : {false, true}) {
        make();
        if (is_removed) fs::remove(path());
        PMEM pool = open(is_removed ? Mode::create_or_update : Mode::replace);
        EXPECT_TRUE(pool.ids().empty());
        pool.store("x", 50);
        EXPECT_EQ(scope_of(pool, "x"), Scope::shared);
        EXPECT_EQ(ids(pool, "value > 0"), std::vector<std::string>{"x"});
        pool.munmap();
        pool = open(Mode::read);
        EXPECT_EQ(pool.ids(), std::vector<std::string>{"x"});
        EXPECT_EQ(pool.load<int>("x"), 50);
        pool.munmap();
        EXPECT_TRUE(aside().empty()) << "nothing is moved before the new pool has something private";
        fs::remove(path());
        fs::remove(own_path());
    }
}

TEST_F(replaced, loses_no_private_object_when_the_new_pool_has_some) {
    make();
    PMEM pool = open(Mode::replace);
    private_side(pool).store("own", 3);
    EXPECT_EQ(pool.ids(), std::vector<std::string>{"own"});
    EXPECT_EQ(scope_of(pool, "own"), Scope::own);
    pool.munmap();
    pool = open();
    EXPECT_EQ(pool.load<int>("own"), 3);
    ASSERT_EQ(aside().size(), 1U);
    PMEM left;
    left.mmap(aside().front());
    EXPECT_EQ(left.load<int>("x"), 1);
    struct stat status {};
    ASSERT_EQ(::stat(aside().front().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(replaced, has_its_private_objects_again_when_it_comes_back) {
    make();
    const std::string kept = folder_ / "kept.pmem";
    fs::rename(path(), kept);
    PMEM pool = open();
    EXPECT_TRUE(pool.ids().empty());
    private_side(pool).store("own", 3);
    pool.munmap();
    fs::rename(path(), folder_ / "other.pmem");
    fs::rename(kept, path());
    expect_made(open());
    expect_made(open(Mode::read));
    PMEM back = open();
    set_scope(back, "y", Scope::own);
    set_scope(back, "x", Scope::shared);
    back.munmap();
    fs::rename(path(), kept);
    fs::rename(folder_ / "other.pmem", path());
    EXPECT_EQ(open().load<int>("own"), 3);
}

TEST_F(replaced, keeps_its_private_objects_from_a_new_pool_while_they_are_open) {
    make();
    PMEM pool = open();
    for (const char* ending : {"", ".rt"}) fs::rename(path() + ending, folder_ / "kept.pmem" + ending);
    PMEM other = open();
    EXPECT_TRUE(other.ids().empty());
    expect_error(Code::busy, [&] { private_side(other); });
    other.store("x", 50);
    EXPECT_EQ(scope_of(other, "x"), Scope::shared);
    expect_made(pool);
    pool.munmap();
    private_side(other).store("own", 3);
    EXPECT_EQ(other.ids(), (std::vector<std::string>{"own", "x"}));
}

TEST_F(replaced, by_its_repaired_copy_keeps_its_private_objects) {
    make();
    const std::string repaired = folder_ / "repaired.pmem";
    EXPECT_TRUE(repair(path(), repaired).damages.empty());
    fs::rename(repaired, path());
    expect_made(open());
    fs::rename(path(), folder_ / "old.pmem");
    EXPECT_TRUE(repair(folder_ / "old.pmem", path()).damages.empty());
    expect_made(open());
}

TEST_F(replaced, has_what_an_earlier_version_made_by_its_age) {
    make();
    forget_whose_they_are();
    expect_made(open());
    PMEM pool = open(Mode::replace);
    EXPECT_TRUE(pool.ids().empty());
    private_side(pool).store("own", 3);
    EXPECT_EQ(pool.ids(), std::vector<std::string>{"own"});
    EXPECT_EQ(aside().size(), 1U);
}

// What is set on the pool itself is for all. It went to the private side, silently, where nothing of "/" was on the shared one yet.
TEST_F(replaced, by_nothing_has_its_own_attributes_on_the_shared_side) {
    make();
    PMEM pool = open();
    pool.set_attribute("/", "author", std::string("li"));
    pool.munmap();
    fs::remove(own_path());
    EXPECT_EQ(open().get_attribute<std::string>("/", "author"), "li");
}

}  // namespace
}  // namespace pmemcpy
