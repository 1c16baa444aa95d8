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

/// A persistent pointer to a variable or group: valid in every process and after every restart, also after a
/// rename; `not_found` once the variable is erased.
struct Oid {
    std::uint64_t place = 0;
    std::uint64_t incarnation = 0;
    friend bool operator==(const Oid&, const Oid&) noexcept = default;
};
static_assert(sizeof(Oid) == 16);

enum class VariableKind { value, array, group };

/// What is known of a variable or group without reading its data.
struct Info {
    std::string id;
    VariableKind kind = VariableKind::value;
    Type type;        ///< of an element; Kind::none for groups
    Dimensions dims;  ///< as it is now; of an unlimited array, its length so far
    bool is_unlimited = false;
    Order order = Order::c;
    SerializerType serializer = SerializerType::bp4;
    Codec codec;
    bool is_contiguous = false;
    bool is_frozen = true;  ///< false: a contiguous array filled in place, outside the promise until freeze()
    std::vector<std::byte> fill_value{};  ///< one element, for what no store has covered; empty: none
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;         ///< of the elements or the encoded value
    std::uint64_t stored_bytes = 0;  ///< what they take in the pool
    std::uint64_t step = 0;          ///< 0: none
    std::uint64_t written_ns = 0;    ///< newest write, since 1970-01-01 UTC
    std::uint64_t attributes = 0;
    std::uint64_t version =
        0;  ///< of a value: another one with each store; of arrays their blocks have theirs
};

/// Who created a variable or group, and when. A new value under an id creates nothing, a rename neither; what was erased and
/// stored again is created again. Empty and zero where it is not known.
struct Creation {
    std::uint64_t created_ns = 0;  ///< since 1970-01-01 UTC
    std::string user{};  ///< as this machine calls the number that the pool keeps; in digits if it knows none
    std::string host{};
    std::string program{};
    std::uint32_t ranks = 0;  ///< of its MPI job; 0: not an MPI program
};

/// One block of an array: what one store produced.
struct BlockInfo {
    Selection box;
    std::uint64_t version = 0;
    std::uint64_t step = 0;
    std::uint64_t written_ns = 0;
    std::uint32_t writer_pid = 0;
    std::int32_t writer_rank = -1;
    std::uint64_t bytes = 0;
    std::uint64_t stored_bytes = 0;
    std::uint32_t crc = 0;
    bool is_frozen = true;
    Codec::Kind codec = Codec::Kind::none;
    std::string target{};  ///< where it lies, see <pmemcpy/tiers.hpp>; empty: in the pool
    bool has_range = false;
    std::array<std::byte, 8> minimum{};  ///< an element's bytes
    std::array<std::byte, 8> maximum{};

    /// The smallest and largest element, as stored by `store` of numbers with Options::characterise.
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

/// What is known of the pool itself.
struct PoolInfo {
    std::string path;
    std::string layout;  ///< "file" or "directory"
    std::array<std::uint8_t, 16> uuid{};
    Durability durability = Durability::none;
    std::string durability_reason;
    bool map_sync = false;
    std::uint64_t created_ns = 0;
    std::uint64_t chunk_bytes = 0;
    std::uint64_t max_bytes = 0;
    std::uint64_t allocated_bytes = 0;  ///< promised by the file system so far
    std::uint64_t free_bytes = 0;       ///< of those, in nobody's use
    std::uint64_t metadata_bytes = 0;
    std::uint64_t data_bytes = 0;
    std::uint64_t retired_records = 0;  ///< kept by views or until the next sync
    std::uint64_t attached = 0;         ///< processes that have it open for writing
    std::uint64_t committed_step = 0;
    bool wipes = false;  ///< space is filled with zeros before it is free
    bool others_in_step =
        false;  ///< another process is in a step that is not committed; readers are not told
    std::uint64_t variables = 0;
    std::uint64_t groups = 0;
};

/// What verify() found wrong with one block or value.
struct Damage {
    std::string id;
    Selection box;  ///< of the block; empty for values
    std::string what;
};

}  // namespace pmemcpy
