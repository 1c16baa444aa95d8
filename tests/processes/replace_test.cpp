// Mode::replace beside others who open the pool, or replace it too.

#include "worker.hpp"

#include "os/calls.hpp"
#include "pool/locks.hpp"

namespace {

using namespace processes;
using pmemcpy::Code;
using pmemcpy::Error;
using pmemcpy::Mode;
using pmemcpy::Options;
using pmemcpy::PMEM;
namespace os = pmemcpy::os;

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

/// Runs at a moment inside a call to the kernel that is told by what the call is asked for. Once.
struct Moment {
    static inline std::function<void()> then{};
    static void happen() {
        if (const auto now = std::exchange(then, nullptr)) now();
    }
};

int replace_again_and_again(const Arguments& arguments) {
    const bool replaces = arguments[1] == "replace";
    const auto begin = std::chrono::steady_clock::now();
    const auto end = begin + std::chrono::seconds(is_long() ? 30 : 2);
    const auto last = end + std::chrono::seconds(60);  // where other work leaves little of the processors
    int opened = 0;
    const auto goes_on = [&](std::chrono::steady_clock::time_point now) {
        return now < end || (opened == 0 && now < last);
    };
    while (goes_on(std::chrono::steady_clock::now())) {
        const auto error = error_of([&] {
            PMEM pmem;
            pmem.mmap(arguments[0], small_pool(replaces ? Mode::replace : Mode::create_or_update));
            ++opened;
            pmem.store("x", 1);
            if (pmem.load<int>("x") != 1) throw std::runtime_error("x is lost");
        });
        if (!error || error->kind() == Code::busy) continue;
        std::cerr << error->what() << "\n";
        return 1;
    }
    return opened > 0 ? 0 : 2;
}
const Job replace_again_and_again_job("replace_again_and_again", replace_again_and_again);

TEST(Replacing, a_pool_beside_others_who_do_succeeds_or_is_busy) {
    const Folder folder;
    for (const std::string slash : {"", "/"}) {
        std::vector<Worker> workers;
        for (const char* mode : {"replace", "replace", "update", "update"})
            workers.emplace_back("replace_again_and_again",
                                 Arguments{folder / (slash.empty() ? "file" : "directory/"), mode});
        for (Worker& worker : workers) EXPECT_EQ(worker.wait(), 0);
    }
}

// Once the name of the old pool was free another process made one there, and then lost its run-time file to the first one.
TEST(Replacing, a_pool_takes_nothing_from_one_that_is_made_meanwhile) {
    const Folder folder;
    static std::string path;
    path = folder / "pool";
    PMEM().mmap(path, small_pool());
    static PMEM other;
    os::Calls calls = os::system_calls();
    calls.unlinkat = [](int at, const char* name, int flags) {
        const int result = os::system_calls().unlinkat(at, name, flags);
        if (name == path) Moment::happen();
        return result;
    };
    std::optional<Error> error;
    {
        const os::ScopedCalls scoped(calls);
        Moment::then = [&] {
            other.mmap(path, small_pool(Mode::exclusive));
            other.store("x", 1);
        };
        error = error_of([&] { PMEM().mmap(path, small_pool(Mode::replace)); });
        Moment::then = nullptr;
    }
    ASSERT_TRUE(other.is_mapped());
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), Code::busy) << error->what();
    PMEM third;  // and the run-time file is where it was
    third.mmap(path);
    EXPECT_EQ(third.load<int>("x"), 1);
    EXPECT_EQ(third.info().attached, 2u);
    third.munmap();
    other.munmap();
}

// Whoever waited for the lock of the old pool had it once that was gone, and emptied the run-time file of the new one.
TEST(Replacing, a_pool_that_was_replaced_meanwhile_leaves_the_new_one_alone) {
    const Folder folder;
    const std::string path = folder / "pool";
    PMEM().mmap(path, small_pool());
    static PMEM other;
    os::Calls calls = os::system_calls();
    calls.fcntl_lock = [](int fd, int command, struct flock* lock) {
        const bool is_attach = command == F_OFD_SETLK && lock->l_type == F_WRLCK &&
                               lock->l_start == static_cast<off_t>(pmemcpy::pool::attach_byte);
        if (is_attach) Moment::happen();
        return os::system_calls().fcntl_lock(fd, command, lock);
    };
    std::optional<Error> error;
    {
        const os::ScopedCalls scoped(calls);
        Moment::then = [&] {
            other.mmap(path, small_pool(Mode::replace));
            other.store("x", 1);
        };
        error = error_of([&] { PMEM().mmap(path, small_pool(Mode::update)); });
        Moment::then = nullptr;
    }
    ASSERT_TRUE(other.is_mapped());
    ASSERT_TRUE(error);
    EXPECT_EQ(error->kind(), Code::busy) << error->what();
    EXPECT_EQ(other.info().attached, 1u);
    other.store("x", 2);
    PMEM third;
    third.mmap(path);
    EXPECT_EQ(third.load<int>("x"), 2);
    third.munmap();
    other.munmap();
}

}  // namespace
