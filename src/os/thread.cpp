#include "os/thread.hpp"

#include <pmemcpy/error.hpp>

#include <string>
#include <system_error>
#include <utility>

namespace pmemcpy::os {

std::thread start_thread(std::function<void()> f) {
    try {
        return std::thread(std::move(f));
    } catch (const std::system_error& error) {
        throw Error(Code::busy,
                    "this process can have no more threads (" + error.code().message() +
                        "); a limit of the user (ulimit -u), the container or the memory (ulimit -v) "
                        "allows no more");
    }
}

}  // namespace pmemcpy::os
