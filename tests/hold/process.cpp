#include "process.hpp"

#include <algorithm>
#include <csetjmp>
#include <stdexcept>
#include <thread>

#include <semaphore.h>

namespace pmemcpy::hold {
namespace {

constexpr std::uint64_t patience = 1000;  // pauses of a task before it is taken for one that waits
thread_local Process* of_this_thread = nullptr;

/// Whose turn it is. (GCC 12's std::binary_semaphore may sleep on though it was released.)
class Baton {
public:
    Baton() { ::sem_init(&given_, 0, 0); }
    ~Baton() { ::sem_destroy(&given_); }
    Baton(const Baton&) = delete;
    Baton& operator=(const Baton&) = delete;
    void give() { ::sem_post(&given_); }
    void take() {
        while (::sem_wait(&given_) != 0) {
        }
    }

private:
    ::sem_t given_;
};

}  // namespace

/// A thread that lends itself to one process after the other: to make one for each would take longer than what it does.
struct Process::Life final : Listener {
    Baton turn;  // of the process
    Baton back;  // of the director
    Process* process = nullptr;
    std::function<void()> task;
    bool is_watched = false;
    bool has_started = false;
    bool dies = false;
    Stop stop = Stop::done;
    std::exception_ptr error;
    std::uint64_t hold_before = forever;
    std::uint64_t pauses = 0;
    std::vector<Access> accesses;
    std::vector<int> descriptors;
    std::jmp_buf grave;

    void live() {
        // Who dies comes back to here. What the frames in between own is lost, as it is when a process is killed.
        if (setjmp(grave) != 0) {
            set_listener(nullptr);
            back.give();
        }
        for (;;) {
            turn.take();
            of_this_thread = process;
            error = nullptr;
            set_listener(is_watched ? this : nullptr);
            try {
                task();
            } catch (...) {
                error = std::current_exception();
            }
            set_listener(nullptr);
            stop = Stop::done;
            back.give();
        }
    }
    void stop_here(Stop why) {
        stop = why;
        back.give();
        turn.take();
        if (dies) std::longjmp(grave, 1);
    }
    void before(const Access& access) override {
        if (accesses.size() == hold_before) stop_here(Stop::held);
        accesses.push_back(access);
    }
    Stop give_turn() {
        turn.give();
        back.take();
        return stop;
    }

    /// Those that no process has just now.
    static std::vector<Life*>& idle() {
        static std::vector<Life*> lives;
        return lives;
    }
};

Process::Process() {
    if (Life::idle().empty()) {
        auto* life = new Life;  // for as long as the program runs
        std::thread([life] { life->live(); }).detach();
        Life::idle().push_back(life);
    }
    life_ = Life::idle().back();
    Life::idle().pop_back();
    life_->process = this;
    life_->accesses.clear();
    life_->descriptors.clear();
    life_->stop = Stop::done;
}

Process::~Process() {
    if (life_->stop != Stop::done && !is_dead_) die();
    Life::idle().push_back(life_);
}

void Process::run(const std::function<void()>& task) {
    life_->task = task;
    life_->is_watched = false;
    life_->pauses = 0;
    life_->has_started = true;
    if (life_->give_turn() != Stop::done) {
        die();
        throw std::logic_error("a process that nobody watches waits for another");
    }
    if (life_->error) std::rethrow_exception(life_->error);
}

void Process::begin(std::function<void()> task) {
    life_->task = std::move(task);
    life_->is_watched = true;
    life_->has_started = false;
    life_->accesses.clear();
    life_->pauses = 0;
    life_->stop = Stop::held;
}

Stop Process::go_on(std::uint64_t hold_before) {
    if (is_done() || is_dead_) return life_->stop;
    life_->hold_before = hold_before;
    const bool is_there =
        life_->has_started && life_->stop == Stop::held && life_->accesses.size() == hold_before;
    if (is_there) return Stop::held;
    life_->has_started = true;
    const Stop why = life_->give_turn();
    if (why == Stop::done && life_->error) std::rethrow_exception(life_->error);
    return why;
}

void Process::die() {
    is_dead_ = true;
    if (!life_->has_started || life_->stop == Stop::done) return;
    life_->dies = true;
    life_->give_turn();
    life_->dies = false;
}

bool Process::is_done() const { return life_->stop == Stop::done; }
bool Process::is_dead() const { return is_dead_; }
const std::vector<Access>& Process::accesses() const { return life_->accesses; }
const std::vector<int>& Process::descriptors() const { return life_->descriptors; }
Process* Process::current() { return of_this_thread; }
void Process::wait() { life_->stop_here(Stop::waits); }
void Process::pause() {
    if (life_->is_watched && ++life_->pauses % patience == 0) wait();
}
void Process::opened(int descriptor) { life_->descriptors.push_back(descriptor); }
void Process::closed(int descriptor) { std::erase(life_->descriptors, descriptor); }

}  // namespace pmemcpy::hold
