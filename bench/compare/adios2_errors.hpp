#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace compare {

/// What `call` gives. ADIOS2 throws; some of what it throws (std::invalid_argument) is no runtime_error. Errors: runtime_error.
template <class F>
auto by_adios2(F call) {
    try {
        return call();
    } catch (const std::exception& error) {
        throw std::runtime_error(std::string("ADIOS2: ") + error.what());
    }
}

}  // namespace compare
