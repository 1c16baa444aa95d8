#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <pmemcpy/type.hpp>
#include <span>
#include <string>
#include <vector>

namespace pmemcpy::exchange {

/// Text that NumPy keeps in four bytes for a character: where it lies in an element, there and in a pool.
struct NumpyText {
    std::uint64_t offset = 0;
    std::uint64_t pool_bytes = 0;
    std::uint64_t numpy_bytes = 0;
    ByteOrder order = native_order;
};

/// What NumPy and a pool say of the same elements. The same mapping as that of the Python package (its dtypes.py), so that who
/// imports a file and who stores what numpy.load gives get the same.
struct NumpyElement {
    Type type;                         ///< in a pool
    nlohmann::json descr;              ///< of NumPy
    std::uint64_t bytes = 0;           ///< of an element in NumPy; 0 for text of no characters
    std::vector<NumpyText> texts{};    ///< empty unless some of it is such text
    bool widens = false;               ///< bfloat16, which becomes float32
    std::string units{};               ///< of a timedelta64, as CF calls it: `seconds`
    std::vector<std::string> notes{};  ///< what the other side does not have
};

/// `descr` as .npy files and Zarr 2 have it: text such as `<f8`, or an array of fields, each an array of a name (or of a title and
/// a name), a descr, and maybe a shape.
/// Errors: corrupt for what NumPy would not write; unsupported for what a pool cannot hold.
NumpyElement element_of_numpy(const nlohmann::json& descr);

/// How elements of a pool are given to NumPy. An array inside of elements is left to the caller, whose array has its dimensions
/// more. Errors: unsupported.
NumpyElement numpy_of(const Type& type);

/// Text of a pool as `<U` of so many characters.
NumpyElement numpy_text_of(const Type& type, std::uint64_t characters);

/// Whole elements, from the one to the other; `room` is used when they differ. Errors: corrupt for text of no characters.
std::span<const std::byte> to_pool(const NumpyElement& element, std::span<const std::byte> bytes,
                                   std::vector<std::byte>& room);
std::span<const std::byte> to_numpy(const NumpyElement& element, std::span<const std::byte> bytes,
                                    std::vector<std::byte>& room);

/// What has been seen of the text of a pool that is to become `<U`.
struct TextSeen {
    bool is_utf8 = true;
    bool fits = true;
    std::uint64_t longest = 0;  ///< in characters
};
void look_at_text(const NumpyElement& element, std::span<const std::byte> bytes, TextSeen& seen);

}  // namespace pmemcpy::exchange
