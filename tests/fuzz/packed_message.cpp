#include "packed_message.hpp"

#include <cstring>
#include <vector>

#include <pmemcpy/serializer.hpp>

#ifdef PMEMCPY_HAVE_CAPNPROTO
#ifdef __clang__
// Cap'n Proto 0.9 leaves out comparisons that C++20 makes of others, and clang 16 makes none where there is a `!=` too.
#pragma clang diagnostic ignored "-Wbuiltin-macro-redefined"
#pragma push_macro("__cpp_impl_three_way_comparison")
#undef __cpp_impl_three_way_comparison
#endif
#include <capnp/any.h>
#include <pmemcpy/capnp.hpp>
#ifdef __clang__
#pragma pop_macro("__cpp_impl_three_way_comparison")
#endif
#endif

namespace pmemcpy::fuzz {

#ifdef PMEMCPY_HAVE_CAPNPROTO

void decode_message(std::span<const std::byte> bytes) {
    // Messages are aligned to words; of a pool's extents it is their place that sees to it.
    std::vector<capnp::word> words((bytes.size() + sizeof(capnp::word) - 1) / sizeof(capnp::word));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(words.data()), bytes.data(), bytes.size());
    const std::span<const std::byte> aligned(reinterpret_cast<const std::byte*>(words.data()), bytes.size());
    try {
        capnp::MallocMessageBuilder message;
        decode_object(SerializerType::capnproto, aligned, message);
    } catch (const Error&) {
    }
    try {
        CapnpObject<int> object(0, aligned);
        static_cast<void>(object.root<capnp::AnyPointer>().targetSize());
    } catch (const Error&) {
    } catch (
        const kj::Exception&) {  // what its own accessors say of a message that is damaged further inside
    }
}

#else

void decode_message(std::span<const std::byte>) {}

#endif

}  // namespace pmemcpy::fuzz
