#include "copy/copying_suite.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "os/calls.hpp"

using namespace pmemcpy;

TEST_F(copying, moves_and_leaves_nothing_in_the_source) {
    source.alloc<double>("g/u", {6});
    source.store("g/u", numbers(3).data(), Box{{0}, {3}});
    source.store("g/u", numbers(3, 3).data(), Box{{3}, {3}});
    source.set_attribute("g/u", "units", "m/s");
    source.store("v", 42);
    move("g/u");
    move("v");
    EXPECT_TRUE(source.ids().empty());
    EXPECT_EQ(loaded<double>(target, "g/u"), numbers(6));
    EXPECT_EQ(target.blocks("g/u").size(), 2U);
    EXPECT_EQ(target.get_attribute<std::string>("g/u", "units"), "m/s");
    EXPECT_EQ(target.load<int>("v"), 42);
    source.erase("g");  // nothing is left in it

    source.store("v", 43);
    EXPECT_THROW(move("v"), Error);
    EXPECT_EQ(source.load<int>("v"), 43);
    move("v", true);
    EXPECT_EQ(target.load<int>("v"), 43);
    EXPECT_TRUE(source.ids().empty());

    move_variable(target, "v", target, "w", false, [](std::uint64_t) {});
    EXPECT_EQ(target.ids(), (std::vector<std::string>{"g/u", "w"}));
}

namespace {

/// Does something at a certain one of the calls for a lock, of which each verb makes some between what it does.
class AtLock {
public:
    AtLock(int number, std::function<void()> act) {
        left = number;
        action = std::move(act);
        os::Calls table = os::system_calls();
        table.fcntl_lock = [](int fd, int command, struct flock* lock) {
            if (left-- == 0) action();
            return os::system_calls().fcntl_lock(fd, command, lock);
        };
        scope_.emplace(table);
    }
    /// Whether there were so many calls.
    static bool has_acted() { return left < 0; }

private:
    static inline int left = 0;
    static inline std::function<void()> action;
    std::optional<os::ScopedCalls> scope_;
};

/// Another process, which stores when it is told to.
class Storer {
public:
    explicit Storer(const std::function<void(int number)>& store) {
        if (::pipe(ask_.data()) != 0 || ::pipe(answer_.data()) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ != 0) return;
        for (int number = 0; ::read(ask_[0], &number, sizeof number) == sizeof number;) {
            char stored = 1;
            try {
                store(number);
            } catch (const Error&) {
                stored = 0;
            }
            static_cast<void>(!::write(answer_[1], &stored, 1));
        }
        ::_exit(0);
    }
    ~Storer() {
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        for (const int fd : {ask_[0], ask_[1], answer_[0], answer_[1]}) ::close(fd);
    }
    Storer(const Storer&) = delete;
    Storer& operator=(const Storer&) = delete;

    bool store(int number) const {
        char stored = 0;
        static_cast<void>(!::write(ask_[1], &number, sizeof number));
        static_cast<void>(!::read(answer_[0], &stored, 1));
        return stored != 0;
    }

private:
    std::array<int, 2> ask_{}, answer_{};
    pid_t child_ = 0;
};

}  // namespace

// A store by another process between the copy and the erase was acknowledged, and gone.
TEST_F(copying, does_not_move_what_is_stored_into_meanwhile) {
    const auto expect_busy = [&](const std::string& id, const std::function<void()>& change) {
        try {
            move_variable(source, id, target, id, false, [&](std::uint64_t) { change(); });
            ADD_FAILURE() << id;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::busy) << error.what();
        }
        EXPECT_TRUE(source.exists(id));
        EXPECT_TRUE(target.ids().empty());
    };
    source.store("v", 1);
    source.alloc<double>("t", {unlimited});
    source.store("t", numbers(5).data(), Box{{0}, {5}});
    expect_busy("v", [&] { source.store("v", 2); });
    expect_busy("v", [&] { source.set_attribute("v", "units", "m"); });
    expect_busy("t", [&] {
        source.store("t", numbers(5).data(), Box{{5}, {5}});
    });  // a copy may leave it out
    EXPECT_EQ(source.load<int>("v"), 2);

    // Another process, at each lock that the move takes.
    PMEM theirs;
    const auto store = [&](int number) {
        if (!theirs.is_mapped()) open(theirs, "source");
        theirs.store("g/v", number);
        const double element = number;
        theirs.store("g/u", &element, Box{{1}, {1}});
    };
    const Storer storer(store);
    int late = 0;
    for (const std::string id : {"g/v", "g/u"}) {
        for (int i = 0;; ++i) {
            const int number = 100 + i;
            source.alloc<double>("g/u", {2});
            source.store("g/u", numbers(2).data(), Box::whole({2}));
            source.store("g/v", 0);
            bool is_stored = false;
            const AtLock at_lock(i, [&] { is_stored = storer.store(number); });
            try {
                move(id);
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), Code::busy) << error.what();
                EXPECT_TRUE(source.exists(id)) << error.what();
                late += target.exists(id) ? 1 : 0;
            }
            bool is_there = false;
            for (PMEM* pool : {&source, &target}) {
                for (const std::string& its : pool->ids()) {
                    if (pool->info(its).kind == VariableKind::value)
                        is_there = is_there || (id == "g/v" && pool->load<int>(its) == number);
                    else
                        is_there = is_there || (id == "g/u" && loaded<double>(*pool, its)[1] == number);
                }
            }
            EXPECT_TRUE(is_there || !is_stored) << id << " at lock " << i;
            const bool is_over = !AtLock::has_acted();
            for (PMEM* pool : {&source, &target}) {
                for (const std::string& its : pool->ids()) pool->erase(its);
            }
            if (is_over) break;
        }
    }
    EXPECT_GT(late, 0) << "nothing was stored behind the copy";
}

// Killed at each lock that the move takes: the next move of it finishes what this one began.
TEST_F(copying, moves_what_a_move_that_was_killed_has_left) {
    int left_aside = 0;
    for (int i = 0;; ++i) {
        source.store("g/v", i);
        source.set_attribute("g/v", "units", "m");
        const pid_t child = ::fork();
        if (child == 0) {
            PMEM its_source, its_target;
            open(its_source, "source");
            open(its_target, "target");
            const AtLock at_lock(i, [] { ::raise(SIGKILL); });
            move_variable(its_source, "g/v", its_target, "g/v", false, [](std::uint64_t) {});
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        const bool is_over = WIFEXITED(status);
        const bool is_moved = !source.exists("g/v") && set_aside(source).empty();
        EXPECT_TRUE(is_moved || !is_over);
        left_aside += set_aside(source).empty() ? 0 : 1;
        if (!is_moved) move("g/v", true);
        EXPECT_EQ(target.load<int>("g/v"), i);
        EXPECT_EQ(target.get_attribute<std::string>("g/v", "units"), "m");
        EXPECT_FALSE(source.exists("g/v"));
        EXPECT_TRUE(set_aside(source).empty());
        source.erase("g");
        for (const std::string& id : target.ids()) target.erase(id);  // a draft too
        if (is_over) break;
    }
    EXPECT_GT(left_aside, 0) << "none was killed when it had set it aside";
}

TEST_F(copying, gives_back_what_is_set_aside_where_the_name_is_free) {
    source.store("g/.moved-7-u", 1);
    source.store("g/.moved-8-v", 2);
    source.store("g/v", 3);
    source.store("g/.moved-u", 4);  // somebody's own
    EXPECT_TRUE(give_back_moved(source, "h").empty());
    EXPECT_EQ(give_back_moved(source, "g"), std::vector<std::string>{"g/u"});
    EXPECT_EQ(source.ids(), (std::vector<std::string>{"g/.moved-8-v", "g/.moved-u", "g/u", "g/v"}));
    EXPECT_EQ(source.load<int>("g/v"), 3);  // what was stored since
    source.erase("g/v");
    EXPECT_EQ(give_back_moved(source, ""), std::vector<std::string>{"g/v"});
    EXPECT_EQ(source.load<int>("g/v"), 2);
}
