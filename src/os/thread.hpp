#pragma once

#include <functional>
#include <thread>

namespace pmemcpy::os {

/// A thread that runs f. Errors: busy, when this user or container may have no more threads, or there is no memory for one.
std::thread start_thread(std::function<void()> f);

}  // namespace pmemcpy::os
