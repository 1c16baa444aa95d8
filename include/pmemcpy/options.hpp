#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <pmemcpy/box.hpp>
#include <pmemcpy/codec.hpp>
#include <pmemcpy/durability.hpp>
#include <pmemcpy/encoder.hpp>
#include <pmemcpy/hint.hpp>
#include <pmemcpy/index.hpp>
#include <string>
#include <vector>

namespace pmemcpy {

/// How a pool is opened, as in h5py.
enum class Mode {
    read,              ///< r: read only, needs no permission to write
    update,            ///< r+: read and write, must exist
    create_or_update,  ///< a: read and write, made if missing (the default)
    replace,           ///< w: a new pool in the place of an old one, which must not be in use
    exclusive,         ///< x: a new pool; already_exists if there is one
};

/// Where payloads lie: all in one file, or each in a file of its own below a directory.
enum class Layout {
    automatic,  ///< directory if the path ends in `/` or is a directory, else file
    file,
    directory,
};

/// How to open a pool, and what a new one is like. Zeros and defaults suit most programs.
struct Options {
    Mode mode = Mode::create_or_update;
    Layout layout = Layout::automatic;
    MapSync map_sync = MapSync::automatic;
    /// Of a new pool: how large it may grow; 0: what the file system has free, and on tmpfs at most half of the memory that is left.
    std::uint64_t max_bytes = 0;
    std::uint64_t initial_bytes = 0;                      ///< of a new pool: allocated at once
    std::uint64_t chunk_bytes = 0;                        ///< of a new pool: 0: 2 MiB, a huge page
    unsigned permissions = 0666;                          ///< of a new pool, before the umask
    SerializerType serializer = SerializerType::Default;  ///< of a new pool: for objects stored by Default
    IndexMode index = IndexMode::none;  ///< of a new pool: who keeps its index; see <pmemcpy/index.hpp>
    bool prepare = false;               ///< make huge pages of all that is allocated, once, at create
    bool wipe = false;      ///< of a new pool: space is filled with zeros before it is free, so that what was
                            ///< erased or overwritten is nowhere in its files; see <pmemcpy/scope.hpp>
    bool checksums = true;  ///< store a CRC-32C with each block and value
    bool characterise = true;   ///< store minimum and maximum with each block of numbers
    bool verify_loads = false;  ///< check the CRC-32C of whatever is loaded: `corrupt` instead of wrong data
    bool per_node = false;      ///< with a communicator that spans nodes: one pool on each node
    int rank = -1;              ///< recorded as writer of blocks; -1: not an MPI program
    int ranks = 0;              ///< recorded as creator's, see Creation; 0: not an MPI program
    std::string program{};      ///< recorded as creator; empty: what this process is called
};

/// What a new array is like, beyond its type and shape.
struct ArrayOptions {
    SerializerType serializer = SerializerType::Default;
    Codec codec{};            ///< compresses each block; such blocks have no view
    Order order = Order::c;   ///< how the elements of a box follow each other, in memory and in the pool
    bool contiguous = false;  ///< one block that covers the array, filled in place; see PMEM::update
    std::vector<std::byte> fill_value{};  ///< one element, for what no store has covered; empty: not_found

    Hint
        hint{};  ///< what is to be done in the background with each content that is stored; see <pmemcpy/operations.hpp>

    /// Example: pmem.alloc<double>("u", {nx, ny}, ArrayOptions{}.fill(std::nan("")));
    template <class T>
    ArrayOptions& fill(const T& value) {
        fill_value.resize(sizeof value);
        std::memcpy(fill_value.data(), &value, sizeof value);
        return *this;
    }
};

}  // namespace pmemcpy
