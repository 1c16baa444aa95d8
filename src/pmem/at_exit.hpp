#pragma once

#include <functional>

namespace pmemcpy::pmem {

/// Calls something when the process ends in the normal way, by exit() or by returning from main, if this still lives then: for programs
/// that do not close their pools. Not of a forked child that has it from its parent.
class AtExit {
public:
    explicit AtExit(std::function<void()> f);
    ~AtExit();
    AtExit(const AtExit&) = delete;
    AtExit& operator=(const AtExit&) = delete;

private:
    std::function<void()> f_;
};

}  // namespace pmemcpy::pmem
