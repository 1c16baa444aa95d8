#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "exchange/intake.hpp"
#include "exchange/numpy/byte_source.hpp"

namespace pmemcpy::exchange {

/// What a .npy file, or a member of .npz, is to become.
struct NpyMember {
    std::string shown;  ///< file and member: errors begin with it
    std::string path;   ///< in the pool
    std::uint64_t bytes;
    bool is_one_of_many =
        false;  ///< what cannot be imported is left out with a warning, for the others' sake
    nlohmann::json origin = nlohmann::json::object();
};

/// Errors: corrupt; unsupported.
void read_npy_member(const NpyMember& member, ByteSource& source, Intake& intake);

}  // namespace pmemcpy::exchange
