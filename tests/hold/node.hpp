#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pmemcpy/pmemcpy.hpp>

#include "files.hpp"
#include "process.hpp"
#include "tests/crash/simulated_kernel.hpp"

namespace pmemcpy::hold {

/// A node with one pool, on which processes run in turns. Its kernel is simulated, so that nothing of what they share is outside
/// of what is watched, and a pool is put back by a copy. The pool is a file, or a directory with a file for each payload.
class Node {
public:
    Node(crash::Model model, Layout layout);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// A pool's files as they are between sessions, or right after all have died.
    struct Image {
        std::vector<std::byte> bytes;
        crash::SimulatedKernel::Allocation allocation;
        Files::Image files;
    };
    Image image() const;
    void put(const Image& image);
    std::uint64_t hash() const;
    /// Where the records are.
    std::string records() const { return std::string(path) + (files_ ? "/.pool" : ""); }
    /// Of a pool in a directory: by name what is in each file there but its records'.
    std::map<std::string, std::uint64_t> payloads() const;
    /// The same of those that have a readable name.
    std::map<std::string, std::uint64_t> readable() const;

    /// The kernel drops what the process held.
    void kill(Process& process);

    static constexpr const char* path = crash::SimulatedKernel::path;

private:
    crash::SimulatedKernel kernel_;
    std::optional<Files> files_;  // of a pool in a directory
    os::Calls before_;
};

}  // namespace pmemcpy::hold
