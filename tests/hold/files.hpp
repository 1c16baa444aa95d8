#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "os/calls.hpp"

namespace pmemcpy::hold {

/// The directory of a pool whose payloads are files of their own, in memory of this process: what the simulated kernel has not. The
/// pool's records and what lies beside them stay that kernel's, under its own path.
class Files {
public:
    /// Puts its own calls over those of `beneath`. One at a time.
    explicit Files(const os::Calls& beneath);
    ~Files();
    Files(const Files&) = delete;
    Files& operator=(const Files&) = delete;

    /// What is to be put in the place of `beneath`.
    os::Calls calls() const;
    /// The bytes of all files, which are those of every mapping of them.
    std::span<std::byte> shared() const;

    struct Inode {
        bool is_directory = false;
        mode_t mode = 0;
        unsigned links = 0;
        std::uint64_t begin = 0, size = 0,
                      room = 0;  // of a file: where its bytes are, and how many fit in there
        std::size_t parent = 0;
        std::map<std::string, std::size_t> names{};  // of a directory
    };
    /// As it is between sessions, or right after all have died: no descriptor is open.
    struct Image {
        std::vector<Inode> inodes;
        std::vector<std::byte> bytes;
    };
    Image image() const;
    void put(const Image& image);
    std::uint64_t hash() const;
    /// Of every file that has a name, payloads too, by "FOLDER/NAME", what its bytes are.
    std::map<std::string, std::uint64_t> contents() const;

private:
    friend struct FileCalls;
    struct Descriptor {
        std::size_t inode;
        bool is_listed = false;
    };
    void collect(std::size_t directory, const std::string& prefix,
                 std::map<std::string, std::uint64_t>& all) const;
    std::uint64_t hash_of(const Inode& file) const;

    os::Calls beneath_;
    std::byte* arena_;
    std::uint64_t used_ = 0;  // a file that is gone may still be mapped; so no byte has two files in a run
    std::vector<Inode> inodes_;
    std::map<int, Descriptor> descriptors_;
    int opened_ = 0;
};

}  // namespace pmemcpy::hold
