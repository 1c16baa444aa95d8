#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pmemcpy::catalog {

/// Who creates variables and groups, and, if they are only moved here, when that was.
struct Origin {
    std::uint64_t created_ns = 0;  // 0: whenever it is
    std::uint32_t user = 0;
    std::uint32_t ranks = 0;  // 0: not an MPI program
    std::string host;         // of both the first 255 bytes count
    std::string program;
};

/// The two fields of an entry: when it is created, and by whom.
using CreatedField = std::array<std::byte, 12>;
CreatedField created_field(std::uint64_t created_ns);
std::vector<std::byte> creator_field(const Origin& origin);
/// What the copy of an entry says; nothing if it is one of those that do not.
std::optional<Origin> read_origin(std::span<const std::byte> entry);

}  // namespace pmemcpy::catalog
