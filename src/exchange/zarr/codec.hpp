#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/zarr/bytes.hpp"

namespace pmemcpy::exchange {

/// A codec of Zarr that makes bytes of bytes: gzip, zstd, blosc, crc32c.
class ZarrCodec {
public:
    ZarrCodec() = default;
    virtual ~ZarrCodec() = default;
    ZarrCodec(const ZarrCodec&) = delete;
    ZarrCodec& operator=(const ZarrCodec&) = delete;

    /// `expected`: the bytes that must come of it, where that is known; else most_chunk_bytes are the most.
    /// Errors: corrupt for anything else.
    virtual Bytes decode(Bytes coded, std::optional<std::uint64_t> expected) const = 0;
    /// Errors: unsupported when the codec's library gives up.
    virtual Bytes encode(Bytes bytes) const = 0;
    /// The bytes that it makes of so many, where they do not depend on what they are.
    virtual std::optional<std::uint64_t> coded_bytes(std::uint64_t) const { return {}; }
};

/// Nothing if `name` is no codec of that kind. Errors: corrupt for a configuration that makes no sense; unsupported for a
/// compressor that Blosc's library here lacks.
std::unique_ptr<ZarrCodec> zarr_codec(const std::string& name, const nlohmann::json& configuration);

}  // namespace pmemcpy::exchange
