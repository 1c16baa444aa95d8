#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <vector>

namespace pmemcpy::exchange {

using Json = nlohmann::json;

/// A part of Zarr's metadata that has a name and perhaps a configuration: "float64", {"name": ..., "configuration": ...}.
struct ZarrNamed {
    std::string name;
    Json configuration;  ///< an object
};
/// `what` it is, for the Error: corrupt if it has no name.
ZarrNamed zarr_named(const Json& json, const char* what);

/// How the elements of a Zarr array lie in its chunks when all codecs are undone, and what they are in a pool.
struct ZarrElement {
    enum class AnyLength { no, text, bytes };
    struct Text {  // in UTF-32, within an element
        std::uint64_t offset;
        std::uint64_t bytes;
        ByteOrder order;
    };

    Type
        type{};  ///< in the pool, with fields packed and as many bytes as in the file; none of what has any length
    AnyLength any_length = AnyLength::no;
    std::vector<Text> texts{};
    std::string note{};  ///< what of it a pool cannot hold

    bool has_any_length() const { return any_length != AnyLength::no; }
    /// Text in UTF-32 becomes UTF-8, in place. Errors: corrupt.
    void to_pool(std::span<std::byte> elements) const;
};

/// `order` is that of the codec `bytes`. Errors: corrupt, unsupported.
ZarrElement zarr_element(const Json& data_type, ByteOrder order);

/// The data type for elements that did not come from Zarr, as zarr-python 3.1 spells it. `note`: what is lost by it.
Json zarr_data_type(const Type& type, std::string& note);
/// Whether all numbers in it are single bytes, so that it has no order.
bool has_no_order(const Type& type);

/// Elements of a pool as those of a file: packed, in its byte order.
class ZarrPacking {
public:
    /// `from` has the same numbers one after another as `to.type`; what it has a structure's space for and `to.type` does not
    /// know is bytes.
    ZarrPacking(const Type& from, const ZarrElement& to);
    /// The elements as they are in the file; in `room`, or themselves if nothing is to be done.
    /// Errors: unsupported for text that does not fit.
    std::span<const std::byte> operator()(std::span<const std::byte> elements,
                                          std::vector<std::byte>& room) const;

private:
    struct Move {
        std::uint64_t from;
        std::uint64_t to;
        std::uint64_t bytes;
        std::uint64_t swapped;  // the bytes of a number whose order changes; 0: it does not
    };
    std::uint64_t from_bytes_;
    std::uint64_t to_bytes_;
    std::vector<Move> moves_;
    std::vector<ZarrElement::Text> texts_;
    bool does_nothing_;
};

}  // namespace pmemcpy::exchange
