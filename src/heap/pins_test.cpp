// Pins of who may only read are locks, and the kernel may have no memory for one more. A pin that could not be had is none, and one that
// cannot be let go of takes nobody else's.

#include "heap/pins.hpp"

#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <pmemcpy/pmemcpy.hpp>

#include "os/calls.hpp"
#include "pool/locks.hpp"
#include "tests/folder.hpp"

namespace {

using namespace pmemcpy;

/// What kind of call fails next, once, for want of memory.
std::function<bool(int, const struct flock&)> fails;

int fcntl_that_fails(int fd, int command, struct flock* lock) {
    if (fails && fails(command, *lock)) {
        fails = nullptr;
        errno = ENOLCK;
        return -1;
    }
    return os::system_calls().fcntl_lock(fd, command, lock);
}

class FailingPins : public ::testing::Test {
protected:
    FailingPins() {
        Options options;
        options.max_bytes = 8 << 20;
        options.chunk_bytes = 64 << 10;
        PMEM pmem;
        pmem.mmap(path_, options);
        for (int i = 0; i < count; ++i) {
            pmem.alloc<int>(name(i), {4'000});
            const std::vector<int> data(4'000, i);
            pmem.store(name(i), data.data(), Box{{0}, {4'000}});
        }
        pmem.munmap();
        options.mode = Mode::read;
        reader_.mmap(path_, options);
        os::Calls calls = os::system_calls();
        calls.fcntl_lock = fcntl_that_fails;
        scoped_.emplace(calls);
    }
    static constexpr int count = 40;
    static std::string name(int i) { return "a" + std::to_string(i); }
    auto view(int i) { return reader_.view<int>(name(i), Box{{0}, {4'000}}); }

    /// Whether a writer who looks sees a pin of anything.
    bool sees_pins() const {
        const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        lock.l_len = static_cast<off_t>(pool::attach_byte);
        const int result = ::fcntl(fd, F_OFD_GETLK, &lock);
        ::close(fd);
        return result == 0 && lock.l_type != F_UNLCK;
    }
    static bool is_lock(int command, const struct flock& lock) {
        return command == F_OFD_SETLKW && lock.l_type == F_RDLCK;
    }

    Folder folder_;
    std::string path_ = folder_ / "pool";
    PMEM reader_;
    std::optional<os::ScopedCalls> scoped_;
};

// The pin was counted before it was locked, so the next one of the same record found it counted, and locked nothing.
TEST_F(FailingPins, that_could_not_be_had_are_had_the_next_time) {
    fails = is_lock;
    EXPECT_THROW(view(0), Error);
    EXPECT_EQ(fails, nullptr) << "nothing was locked";
    EXPECT_FALSE(sees_pins());
    auto again = view(0);
    EXPECT_TRUE(sees_pins());
    again = {};
    EXPECT_FALSE(sees_pins());
}

TEST_F(FailingPins, that_could_not_be_had_all_at_once_are_had_the_next_time) {
    std::vector<View<const int>> all;
    fails = [](int command, const struct flock& lock) {
        return is_lock(command, lock) && lock.l_len == static_cast<off_t>(pool::attach_byte);
    };
    int refused = 0;
    for (int i = 0; i < count; ++i) {
        try {
            all.push_back(view(i));
        } catch (const Error&) {
            ++refused;
            all.push_back(view(i));
        }
    }
    EXPECT_EQ(refused, 1);
    all.clear();
    EXPECT_FALSE(sees_pins());
    all.push_back(view(7));
    EXPECT_TRUE(sees_pins());
}

// The wide lock was cut down to what is left, and where that failed the views ended the process; had they not, it would have been taken for
// whole from then on, and no pin would have locked anything.
TEST_F(FailingPins, that_cannot_be_let_go_of_leave_the_others_as_they_are) {
    for (int nth = 1; nth < 12; ++nth) {
        std::vector<View<const int>> all;
        for (int i = 0; i < count; ++i) all.push_back(view(i));
        int unlocks = 0;
        fails = [&](int command, const struct flock& lock) {
            return command == F_OFD_SETLK && lock.l_type == F_UNLCK && ++unlocks == nth;
        };
        while (all.size() > 4) all.pop_back();
        EXPECT_EQ(fails, nullptr) << "of its " << nth << " unlocks none failed";
        fails = nullptr;
        EXPECT_TRUE(sees_pins());
        for (const auto& one : all) EXPECT_EQ(one[0], static_cast<int>(&one - all.data()));
        all.clear();
        auto next = view(30);
        EXPECT_TRUE(sees_pins()) << nth;
    }
}

}  // namespace
