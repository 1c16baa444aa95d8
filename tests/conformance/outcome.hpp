#pragma once

#include <pmemcpy/pmemcpy.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace pmemcpy {

/// What a call fails with; its words have to contain `part`.
inline Code code_of(const std::function<void()>& call, const std::string& part = "") {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        return error.kind();
    }
    ADD_FAILURE() << "nothing was thrown";
    return Code::corrupt;
}

/// For what others do in the background.
inline void wait_until(const std::string& what, const std::function<bool()>& is_so) {
    using namespace std::chrono_literals;
    const auto end = std::chrono::steady_clock::now() + 1min;
    while (!is_so()) {
        if (std::chrono::steady_clock::now() > end)
            FAIL() << "in a minute it did not come about that " << what;
        std::this_thread::sleep_for(10ms);
    }
}

}  // namespace pmemcpy
