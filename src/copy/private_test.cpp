// A copy of something private was shared, and nobody was told.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <iterator>
#include <pmemcpy/copy.hpp>
#include <pmemcpy/error.hpp>
#include <pmemcpy/repair.hpp>
#include <pmemcpy/scope.hpp>

#include "os/calls.hpp"
#include "tests/folder.hpp"

using namespace pmemcpy;

namespace {

class private_copies : public testing::Test {
protected:
    private_copies() {
        open(source, "source");
        open(target, "target");
        source.store("g/secret", std::string("secretvalue"));
        source.store("g/h/secret", std::string("secretmore"));
        source.store("open", std::string("openvalue"));
        source.set_attribute("g", "title", "secrettitle");
        set_scope(source, "g", Scope::own);
    }
    void open(PMEM& pool, const std::string& name) const {
        Options options;
        options.max_bytes = 16 << 20;
        options.chunk_bytes = 64 << 10;
        pool.mmap(folder_ / name, options);
    }
    static void copy(const PMEM& from, const std::string& id, PMEM& to, const std::string& name,
                     bool force = false) {
        copy_variable(from, id, to, name, force, [](std::uint64_t) {});
    }
    std::string own_file(const std::string& name) const {
        return folder_ / (name + ".private-" + std::to_string(::geteuid()));
    }
    /// Whether a file that others may open holds the text.
    bool is_open_to_others(const std::string& text) const {
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
            struct stat there {};
            if (::stat(entry.path().c_str(), &there) != 0 || (there.st_mode & 0077U) == 0) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string all{std::istreambuf_iterator<char>(file), {}};
            if (all.find(text) != std::string::npos) return true;
        }
        return false;
    }
    static void expect_error(Code code, const std::function<void()>& call) {
        try {
            call();
            ADD_FAILURE() << "no error";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), code) << error.what();
        }
    }

    const Folder folder_;
    PMEM source;
    PMEM target;
};

}  // namespace

// Each way from pool to pool.
TEST_F(private_copies, are_private_whichever_way_they_come) {
    copy(source, "g/secret", target, "copied");
    copy_group(source, "g", target, "g", false);
    copy(source, "g/h/secret", target, "g/h/secret");
    copy(source, "open", target, "open");
    move_variable(source, "g/h/secret", target, "moved", false, [](std::uint64_t) {});
    copy(source, "g/secret", source, "again");
    copy(private_side(source), "g/secret", target, "of_the_side");
    for (const char* id : {"copied", "g", "g/h/secret", "moved", "of_the_side"})
        EXPECT_EQ(scope_of(target, id), Scope::own) << id;
    EXPECT_EQ(scope_of(source, "again"), Scope::own);
    EXPECT_EQ(scope_of(target, "open"), Scope::shared);
    EXPECT_EQ(target.get_attribute<std::string>("g", "title"), "secrettitle");
    EXPECT_EQ(target.load<std::string>("moved"), "secretmore");
    EXPECT_FALSE(source.exists("g/h/secret"));
    EXPECT_FALSE(is_open_to_others("secret"));
    PMEM side;
    source.munmap();
    open(side, "source.private-" + std::to_string(::geteuid()));
    EXPECT_EQ(scope_of(side, "g/secret"), Scope::own);
    copy(side, "g/secret", target, "of_the_file");
    EXPECT_EQ(scope_of(target, "of_the_file"), Scope::own);
    EXPECT_FALSE(is_open_to_others("secret"));
}

TEST_F(private_copies, come_into_a_private_group_and_into_the_place_of_something_private) {
    private_side(target).make_group("mine");
    private_side(target).store("kept", 1);
    copy(source, "open", target, "mine/open");
    copy(source, "open", target, "kept", true);
    copy(source, "g/secret", target, "shared");
    EXPECT_EQ(scope_of(target, "mine/open"), Scope::own);
    EXPECT_EQ(scope_of(target, "kept"), Scope::own);
    target.store("replaced", 1);
    copy(source, "g/secret", target, "replaced", true);
    EXPECT_EQ(scope_of(target, "replaced"), Scope::own);
    EXPECT_FALSE(is_open_to_others("secret"));
}

TEST_F(private_copies, of_attributes_alone_do_not_come_to_something_shared) {
    target.make_group("g");
    expect_error(Code::unsupported, [&] { copy_attributes(source, "g", target, "g", true); });
    expect_error(Code::unsupported, [&] { copy_group(source, "g", target, "g", false); });
    EXPECT_FALSE(is_open_to_others("secret"));
    set_scope(target, "g", Scope::own);
    copy_group(source, "g", target, "g", false);
    EXPECT_EQ(target.get_attribute<std::string>("g", "title"), "secrettitle");
}

// They were left out of the repaired pool, and nothing said so.
TEST_F(private_copies, are_none_that_repair_makes_and_it_says_where_they_are) {
    source.munmap();
    const Repair repaired = repair(folder_ / "source", folder_ / "new");
    EXPECT_EQ(repaired.private_files, std::vector<std::string>{own_file("source")});
    std::filesystem::rename(folder_ / "new", folder_ / "source");
    open(source, "source");
    EXPECT_EQ(source.load<std::string>("g/secret"), "secretvalue");
    source.munmap();
    const Repair side = repair(own_file("source"), folder_ / "new-side");
    EXPECT_EQ(side.variables, 2U);
}

// In a directory that this user may enter and not list, repair() was permission_denied after the new pool was whole.
TEST_F(private_copies, are_told_of_by_repair_in_a_directory_that_cannot_be_listed) {
    source.munmap();
    static std::string folder;
    folder = folder_.path();
    os::Calls calls = os::system_calls();
    calls.open = [](const char* name, int flags, mode_t mode) -> int {
        if (name != folder || (flags & O_DIRECTORY) == 0) return ::open(name, flags, mode);
        errno = EACCES;
        return -1;
    };
    const Folder elsewhere;
    const os::ScopedCalls scoped(calls);
    const Repair repaired = repair(folder_ / "source", elsewhere / "new");
    EXPECT_EQ(repaired.private_files, std::vector<std::string>{own_file("source")});
}
