// A pool is one, by whatever name it is opened: what lies beside it is found from where it is.

#include "worker.hpp"

#include <sched.h>
#include <sys/mount.h>

#include <pmemcpy/index.hpp>

namespace {

using namespace processes;
using pmemcpy::Error;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;
namespace fs = std::filesystem;

constexpr int not_permitted = 77;

Options small_pool(Mode mode = Mode::create_or_update) {
    Options options;
    options.max_bytes = 8 << 20;
    options.chunk_bytes = 64 << 10;
    options.mode = mode;
    return options;
}

// What it was, if it was an error.
std::optional<Error> error_of(const std::function<void()>& call) {
    try {
        call();
        return std::nullopt;
    } catch (const Error& error) {
        return error;
    }
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

// <pool>.rt was looked for beside the name that the pool was called by. By two names it was two, and the second was told to "close it everywhere".
TEST(OnePool, by_a_symbolic_link_and_by_name_is_opening_one_pool) {
    const Folder folder;
    const Folder elsewhere;
    for (const std::string slash : {"", "/"}) {
        const std::string name = slash.empty() ? "file" : "directory";
        const std::string path = folder / (name + slash);
        const std::string link = elsewhere / name;
        PMEM pmem;
        pmem.mmap(path, small_pool());
        pmem.store("x", 1);
        fs::create_symlink(folder / name, link);
        fs::create_directory_symlink(folder.path(), elsewhere / ("way_to_" + name));
        for (const std::string& other : {link + slash, elsewhere / ("way_to_" + name + "/" + name + slash),
                                         folder / ("./" + name + slash)}) {
            PMEM second;
            second.mmap(other, small_pool());
            EXPECT_EQ(second.info().attached, 2u) << other;
            EXPECT_EQ(second.load<int>("x"), 1) << other;
        }
        pmem.munmap();
        PMEM second;  // nor does the first one to come make another
        second.mmap(link + slash, small_pool());
        pmem.mmap(path, small_pool());
        EXPECT_EQ(pmem.info().attached, 2u);
    }
    EXPECT_EQ(names_in(elsewhere.path()),
              (std::vector<std::string>{"directory", "file", "way_to_directory", "way_to_file"}));
}

TEST(OnePool, by_an_open_descriptor_and_by_name_is_opening_one_pool) {
    const Folder folder;
    PMEM pmem;
    pmem.mmap(folder / "pool", small_pool());
    const int fd = ::open((folder / "pool").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    PMEM second;
    second.mmap("/proc/self/fd/" + std::to_string(fd));
    EXPECT_EQ(second.info().attached, 2u);
    ::close(fd);
}

int open_where_it_is_mounted(const Arguments& arguments) {
    const std::string& where = arguments[0];
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return not_permitted;
    fs::create_directories(where + "/its");
    fs::create_directories(where + "/other");
    std::ofstream(where + "/file").close();
    PMEM pmem;
    pmem.mmap(where + "/its/pool", small_pool());
    if (::mount((where + "/its").c_str(), (where + "/other").c_str(), nullptr, MS_BIND, nullptr) != 0 ||
        ::mount((where + "/its/pool").c_str(), (where + "/file").c_str(), nullptr, MS_BIND, nullptr) != 0)
        return not_permitted;
    for (const char* name : {"/other/pool", "/file"}) {
        PMEM second;
        second.mmap(where + name);
        if (second.info().attached != 2) return 1;
    }
    pmem.munmap();
    pmem.mmap(where + "/file");
    PMEM second;
    second.mmap(where + "/its/pool");
    return second.info().attached == 2 && !fs::exists(where + "/file.rt") ? 0 : 2;
}
const Job open_where_it_is_mounted_job("open_where_it_is_mounted", open_where_it_is_mounted);

TEST(OnePool, where_it_is_mounted_a_second_time_and_by_name_is_opening_one_pool) {
    const Folder folder("/dev/shm");
    const int status = Worker("open_where_it_is_mounted", {folder.path()}).wait();
    if (status == not_permitted) GTEST_SKIP() << "mounting is not permitted here";
    EXPECT_EQ(status, 0);
}

// A name that leads nowhere is still no place to make a pool.
TEST(OnePool, by_a_link_that_leads_nowhere_makes_nothing) {
    const Folder folder;
    fs::create_symlink(folder / "nowhere", folder / "pool");
    EXPECT_TRUE(error_of([&] { PMEM().mmap(folder / "pool", small_pool()); }));
    EXPECT_FALSE(fs::exists(folder / "nowhere"));
}

int change_directory_with_a_pool(const Arguments& arguments) {
    fs::create_directory(arguments[0] + "/elsewhere");
    fs::current_path(arguments[0]);
    const std::string name = arguments[1];
    PMEM pmem;
    pmem.mmap(name, small_pool());
    fs::current_path("elsewhere");
    pmem.store("x", 1);
    PMEM second;
    second.mmap("../" + name);
    if (second.info().attached != 2 || second.load<int>("x") != 1) return 1;
    second.munmap();
    pmemcpy::set_index_mode(pmem, pmemcpy::IndexMode::async);
    pmem.store("y", 2);
    pmemcpy::flush_index(pmem);
    if (!pmemcpy::index_info(pmem).is_complete) return 2;
    pmem.munmap();
    second.mmap(arguments[0] + "/" + name);
    return second.load<int>("x") == 1 && fs::is_empty(arguments[0] + "/elsewhere") ? 0 : 3;
}
const Job change_directory_job("change_directory_with_a_pool", change_directory_with_a_pool);

TEST(OnePool, by_a_relative_path_holds_wherever_the_process_goes_then) {
    const Folder folder;
    for (const char* name : {"file", "directory/"}) {
        fs::remove_all(folder / "elsewhere");
        EXPECT_EQ(Worker("change_directory_with_a_pool", {folder.path(), name}).wait(), 0);
    }
}

}  // namespace
