#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace machine {

/// Something without which such a machine does not run here.
struct Missing : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A folder of the host for one machine: the content of its persistent memory, and what the processes in it say.
class VirtualMachine {
public:
    /// `options`: of `daxvm run`, what its persistent memory is and how it is used.
    explicit VirtualMachine(std::vector<std::string> options);

    struct Result {
        int status = 0;  ///< of the script; `killed`
        std::string output;

        /// The greatest number that stands behind these words at the beginning of a line; 0 if there is none.
        std::uint64_t number_after(const std::string& words) const;
    };
    static constexpr int killed = 137;

    /// Boots, runs the script in a shell, and switches off. With `kill_after` (seconds) it is killed so long after the script
    /// has made the file `go` in folder(). Throws Missing.
    Result run(const std::string& script, double kill_after = -1, const std::vector<std::string>& more = {});

    /// Written in the machine as well: what is written there is on the host when the call returns.
    const std::string& folder() const { return folder_.path().native(); }

private:
    std::vector<std::string> options_;
    pmemcpy::Folder folder_;
};

}  // namespace machine
