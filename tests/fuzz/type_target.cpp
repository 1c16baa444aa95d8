// Descriptions of types as a record holds them, and the bytes of a value of such a type as people see them.

#include <string>
#include <vector>

#include <pmemcpy/error.hpp>
#include <pmemcpy/type.hpp>

#include "array/byte_order.hpp"
#include "bytes.hpp"
#include "target.hpp"

#ifdef PMEMCPY_HAVE_CLI
#include "cli/element/element.hpp"
#endif

namespace pmemcpy::fuzz {
namespace {

constexpr std::size_t largest_element = 4096;

void check_type(const Type& type, Input description) {
    const std::vector<std::byte> again = type.encode();
    expect(std::equal(again.begin(), again.end(), as_bytes(description).begin(), as_bytes(description).end()),
           "a description that is taken is written in another way");
    expect(!type.name().empty(), "a type without a name");
    const Type turned = type.with_byte_order(ByteOrder::big).with_byte_order(ByteOrder::little);
    expect(turned == type.with_byte_order(ByteOrder::little), type.name() + " turned twice is another type");
    expect(compatible_for_load(type, type), type.name() + " cannot be loaded as itself");
    expect(type.alignment() != 0, type.name() + " has no alignment");
}

void check_element(const Type& type, Input value) {
    if (!type.is_fixed_size() || type.size() > largest_element) return;
    std::vector<std::byte> element(type.size());
    std::copy_n(as_bytes(value).begin(), std::min(value.size(), element.size()), element.begin());
    std::vector<std::byte> turned = element;
    array::swap_bytes(type, turned);
    array::swap_bytes(type, turned);
    expect(turned == element, "bytes of " + type.name() + " swapped twice are others");
}

void check_text(const Type& type, Input value) {
#ifdef PMEMCPY_HAVE_CLI
    const bool is_readable = cli::is_readable(type, SerializerType::bp4);
    if (!is_readable || (type.is_fixed_size() && type.size() > largest_element)) return;
    const std::vector<std::byte> exact(as_bytes(value).begin(), as_bytes(value).end());
    try {
        static_cast<void>(cli::value_text(type, exact));
        static_cast<void>(cli::dump(cli::value_json(type, exact)));
    } catch (const Error& error) {
        expect(error.kind() == Code::corrupt, error.what());
    }
#else
    static_cast<void>(type);
    static_cast<void>(value);
#endif
}

}  // namespace

void read_type(Input input) {
    Bytes bytes(input);
    const Input description = bytes.take_bytes(bytes.take<std::uint16_t>() % 1024);
    // Of exactly that size, so that the sanitizer sees a byte too many.
    const std::vector<std::byte> exact(as_bytes(description).begin(), as_bytes(description).end());
    try {
        const Type type = Type::decode(exact);
        check_type(type, description);
        check_element(type, bytes.rest());
        check_text(type, bytes.rest());
    } catch (const Error& error) {
        expect(error.kind() == Code::corrupt, error.what());
    }
}

}  // namespace pmemcpy::fuzz
