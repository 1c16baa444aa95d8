#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <pmemcpy/box.hpp>
#include <pmemcpy/codec.hpp>
#include <pmemcpy/durability.hpp>
#include <pmemcpy/encoder.hpp>
#include <pmemcpy/type.hpp>
#include <string>
#include <vector>

namespace pmemcpy {

/// A persistent pointer to a variable or group. It is valid in every process, after every restart and after a
/// rename; `not_found` once the variable is erased.
struct Oid {
    std::uint64_t place = 0;
    std::uint64_t incarnation = 0;
    friend bool operator==(const Oid&, const Oid&) noexcept = default;
};
static_assert(sizeof(Oid) == 16);

enum class VariableKind { value, array, group };

/// The properties of a variable or group, without its data.
struct Info {
    std::string id;
    VariableKind kind = VariableKind::value;
    Type type;        ///< of an element; Kind::none for groups
    Dimensions dims;  ///< the present shape; of an unlimited array, its length so far
    bool is_unlimited = false;
    Order order = Order::c;
    SerializerType serializer = SerializerType::bp4;
    Codec codec;
    bool is_contiguous = false;
    /// False: a contiguous array filled in place, not covered by the promise until freeze().
    bool is_frozen = true;
    /// One element, for positions that no store has covered; empty: none.
    std::vector<std::byte> fill_value{};
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;         ///< of the elements, or of the encoded value
    std::uint64_t stored_bytes = 0;  ///< the space they take in the pool
    std::uint64_t step = 0;          ///< 0: none
    std::uint64_t written_ns = 0;    ///< time of the newest store, since 1970-01-01 UTC
    std::uint64_t attributes = 0;
    std::uint64_t version = 0;  ///< of a value: changed by each store; the blocks of an array have their own
};

/// Creator and time of creation of a variable or group. A new value under an id and a rename create nothing;
/// erasing and storing again does. Unknown members are empty or zero.
struct Creation {
    std::uint64_t created_ns = 0;  ///< since 1970-01-01 UTC
    /// The name that this machine gives the recorded user number; the number in digits if it has none.
    std::string user{};
    std::string host{};
    std::string program{};
    std::uint32_t ranks = 0;  ///< ranks of its MPI job; 0: not an MPI program
};

/// One block of an array: the result of one store.
struct BlockInfo {
    Selection box;
    std::uint64_t version = 0;
    std::uint64_t step = 0;
    std::uint64_t written_ns = 0;
    std::uint32_t writer_pid = 0;
    std::int32_t writer_rank = -1;  ///< -1: not an MPI program
    std::uint64_t bytes = 0;
    std::uint64_t stored_bytes = 0;
    std::uint32_t crc = 0;  ///< CRC-32C of its elements as stored; 0 without Options::checksums
    bool is_frozen = true;
    Codec::Kind codec = Codec::Kind::none;
    std::string target{};    ///< the target that holds it, see <pmemcpy/tiers.hpp>; empty: the pool
    bool has_range = false;  ///< whether minimum and maximum are known
    std::array<std::byte, 8> minimum{};  ///< an element's bytes
    std::array<std::byte, 8> maximum{};

    /// The smallest and largest element, recorded by stores of numbers with Options::characterise.
    template <class T>
    T min_as() const {
        return element<T>(minimum);
    }
    template <class T>
    T max_as() const {
        return element<T>(maximum);
    }

private:
    template <class T>
    static T element(const std::array<std::byte, 8>& bytes) {
        static_assert(sizeof(T) <= 8);
        T value;
        __builtin_memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
};

/// The properties of the pool itself.
struct PoolInfo {
    std::string path;
    std::string layout;  ///< "file" or "directory"
    std::array<std::uint8_t, 16> uuid{};
    Durability durability = Durability::none;
    std::string durability_reason;  ///< a sentence: why this durability and no other
    bool map_sync = false;          ///< mapped with MAP_SYNC
    std::uint64_t created_ns = 0;
    std::uint64_t chunk_bytes = 0;      ///< unit of allocation
    std::uint64_t max_bytes = 0;        ///< the size that it may grow to
    std::uint64_t allocated_bytes = 0;  ///< allocated from the file system so far
    std::uint64_t free_bytes = 0;       ///< of those, unused
    std::uint64_t metadata_bytes = 0;   ///< taken by records
    std::uint64_t data_bytes = 0;       ///< taken by elements and large values
    std::uint64_t retired_records = 0;  ///< kept for views, or until the next sync
    std::uint64_t attached = 0;         ///< processes that have it open for writing
    std::uint64_t committed_step = 0;   ///< the step to restart from; 0: none
    bool wipes = false;                 ///< freed space is filled with zeros first
    /// Another process is in an uncommitted step; always false for processes that only read.
    bool others_in_step = false;
    std::uint64_t variables = 0;
    std::uint64_t groups = 0;
};

/// One damaged block or value that verify() found.
struct Damage {
    std::string id;
    Selection box;  ///< of the block; empty for values
    std::string what;
};

}  // namespace pmemcpy
