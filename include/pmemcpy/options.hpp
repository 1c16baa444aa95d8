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

/// The mode in which a pool is opened, as in h5py.
enum class Mode {
    read,              ///< r: read only; needs no permission to write
    update,            ///< r+: read and write; the pool must exist
    create_or_update,  ///< a: read and write; makes the pool if missing (the default)
    replace,           ///< w: makes a new pool in the place of an old one, which must not be in use
    exclusive,         ///< x: makes a new pool; already_exists if there is one
};

/// Where payloads lie: in one file with the records, or each in a file of its own below a directory.
enum class Layout {
    automatic,  ///< directory if the path ends in `/` or is a directory, else file
    file,
    directory,
};

/// Options for opening a pool, and properties of a new one. The defaults suit most programs.
struct Options {
    Mode mode = Mode::create_or_update;
    Layout layout = Layout::automatic;
    MapSync map_sync = MapSync::automatic;
    /// Of a new pool: how large it may grow; 0: what the file system has free, and on tmpfs at most half of the memory that is left.
    std::uint64_t max_bytes = 0;
    std::uint64_t initial_bytes = 0;  ///< of a new pool: allocated at once
    std::uint64_t chunk_bytes = 0;    ///< of a new pool: 0: 2 MiB, a huge page
    unsigned permissions = 0666;      ///< of a new pool, before the umask
    /// Of a new pool: its serializer for objects stored by Default.
    SerializerType serializer = SerializerType::Default;
    IndexMode index = IndexMode::none;  ///< of a new pool: how its index is kept; see <pmemcpy/index.hpp>
    bool prepare = false;               ///< at create, makes huge pages of all that is allocated
    /// Of a new pool: fills freed space with zeros, so that no erased or overwritten data stays in its files;
    /// see <pmemcpy/scope.hpp>.
    bool wipe = false;
    bool checksums = true;      ///< stores a CRC-32C with each block and value
    bool characterise = true;   ///< stores minimum and maximum with each block of numbers
    bool verify_loads = false;  ///< checks the CRC-32C in each load: `corrupt` instead of wrong data
    bool per_node = false;      ///< with a communicator that spans nodes: one pool on each node
    int rank = -1;              ///< recorded as the writer of blocks; -1: not an MPI program
    int ranks = 0;              ///< recorded with the creator, see Creation; 0: not an MPI program
    std::string program{};      ///< recorded as the creator; empty: the name of this process
};

/// Properties of a new array, beyond its type and shape.
struct ArrayOptions {
    SerializerType serializer = SerializerType::Default;
    Codec codec{};            ///< compresses each block; such blocks have no view
    Order order = Order::c;   ///< order of the elements of a box, in memory and in the pool
    bool contiguous = false;  ///< one block that covers the array, filled in place; see PMEM::update
    /// An array that is there already is an error (already_exists), also one of the same type and shape. Of two
    /// processes that alloc it so, one succeeds.
    bool must_be_new = false;
    /// One element, loaded where no store has been; empty: such a load is not_found.
    std::vector<std::byte> fill_value{};

    Hint hint{};  ///< operations applied in the background after each store; see <pmemcpy/operations.hpp>

    /// Example: pmem.alloc<double>("u", {nx, ny}, ArrayOptions{}.fill(std::nan("")));
    template <class T>
    ArrayOptions& fill(const T& value) {
        fill_value.resize(sizeof value);
        std::memcpy(fill_value.data(), &value, sizeof value);
        return *this;
    }
};

}  // namespace pmemcpy
