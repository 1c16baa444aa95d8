#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pmemcpy::fuzz {

/// The bytes of a pool, before an input changes them.
struct Seed {
    std::vector<std::uint8_t> bytes;  ///< as far as the file system had promised space
    std::uint64_t length = 0;         ///< of the file
    std::uint64_t chunks_at = 0;      ///< the first chunk
    std::uint64_t chunk_bytes = 0;
    std::vector<std::uint64_t> records;                         ///< where they are, in order
    std::vector<std::uint64_t> slabs;                           ///< likewise
    std::vector<std::pair<std::string, std::string>> payloads;  ///< of the directory layout: names and bytes
};

/// Pools that the library has made, the same ones in every process: full of everything; after much was replaced and
/// erased; as a process leaves it that dies in a step.
const std::vector<Seed>& seeds(bool directory);

/// Where this process has its pools: in memory, and gone when it ends.
const std::string& folder();

}  // namespace pmemcpy::fuzz
