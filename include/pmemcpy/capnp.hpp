#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <kj/io.h>

#include <algorithm>
#include <memory>
#include <pmemcpy/encoder.hpp>
#include <utility>

// A Cap'n Proto message is stored as a flat message: what capnp::writeMessage() writes, so that any program
// with the schema reads it. It is loaded without a copy, as a reader over mapped memory.

namespace pmemcpy {

/// Writes the segments of a message builder one after the other, without flattening them in memory first.
class CapnpEncoder final : public Encoder {
public:
    explicit CapnpEncoder(capnp::MessageBuilder& message) : segments_(message.getSegmentsForOutput()) {}

    std::uint64_t size_bytes() const override {
        return std::uint64_t{capnp::computeSerializedSizeInWords(segments_)} * sizeof(capnp::word);
    }

    void encode(std::span<std::byte> out) const override {
        if (out.size() != size_bytes())
            throw Error(Code::invalid_argument, "store by capnproto: a message of " +
                                                    std::to_string(size_bytes()) + " bytes was given " +
                                                    std::to_string(out.size()) + " bytes of room");
        kj::ArrayOutputStream stream(kj::arrayPtr(reinterpret_cast<kj::byte*>(out.data()), out.size()));
        capnp::writeMessage(stream, segments_);
    }

private:
    kj::ArrayPtr<const kj::ArrayPtr<const capnp::word>> segments_;
};

/// The traversal limit of a reader over `size` bytes: Cap'n Proto's default, and for large messages eight
/// times their size. A message that points at itself from everywhere then ends in an error, not in hours.
inline capnp::ReaderOptions capnp_limits(std::size_t size_bytes) {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = std::max<std::uint64_t>(options.traversalLimitInWords, size_bytes);
    return options;
}

/// The words of a flat message in mapped memory.
/// Errors: corrupt, when the size is not a whole number of words; invalid_argument, when they are not aligned
inline kj::ArrayPtr<const capnp::word> capnp_words(std::span<const std::byte> bytes) {
    if (bytes.size() % sizeof(capnp::word) != 0 || bytes.empty())
        throw Error(Code::corrupt, "load by capnproto: " + std::to_string(bytes.size()) +
                                       " bytes are no message, which is one 8-byte word or more");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(capnp::word) != 0)
        throw Error(Code::invalid_argument,
                    "load by capnproto: the message must begin at a multiple of 8 bytes");
    return kj::arrayPtr(reinterpret_cast<const capnp::word*>(bytes.data()),
                        bytes.size() / sizeof(capnp::word));
}

/// Reads a Cap'n Proto message without copying it. `Owner` keeps the bytes alive (a view of the pool, a
/// vector); it is released after the reader. Readers obtained from it must not outlive it.
template <typename Owner>
class CapnpObject {
public:
    /// Errors: corrupt, when the bytes are no flat message
    CapnpObject(Owner owner, std::span<const std::byte> bytes)
        : CapnpObject(std::move(owner), bytes, capnp_limits(bytes.size())) {}
    CapnpObject(Owner owner, std::span<const std::byte> bytes, capnp::ReaderOptions options)
        : owner_(std::move(owner)) {
        const auto words = capnp_words(bytes);
        translated([&] { reader_ = std::make_unique<capnp::FlatArrayMessageReader>(words, options); });
    }

    CapnpObject(CapnpObject&&) noexcept = default;
    CapnpObject& operator=(CapnpObject&&) = delete;  // it would let the old owner go before the old reader

    capnp::FlatArrayMessageReader& reader() noexcept { return *reader_; }
    const Owner& owner() const noexcept { return owner_; }

    /// The root of the message, for example `object.root<addressbook::Person>()`. The accessors of what it
    /// returns are Cap'n Proto's own, and throw kj::Exception on a message that is damaged further inside.
    /// Errors: corrupt
    template <typename Root>
    typename Root::Reader root() {
        typename Root::Reader found;
        translated([&] { found = reader_->template getRoot<Root>(); });
        return found;
    }

private:
    template <typename Action>
    static void translated(const Action& action) {
        try {
            action();
        } catch (const kj::Exception& failure) {
            throw Error(Code::corrupt, std::string("load by capnproto: this is no sound message (") +
                                           failure.getDescription().cStr() + ")");
        }
    }

    Owner owner_;
    std::unique_ptr<capnp::FlatArrayMessageReader> reader_;
};

/// Encodes by `capnproto`: message builders. decode() copies into a builder of the caller; CapnpObject copies
/// nothing.
template <typename T>
    requires(std::derived_from<T, capnp::MessageBuilder>)
struct Serializer<SerializerType::capnproto, T> {
    static CapnpEncoder encoder(const T& message) {
        // Listing the segments changes nothing that a caller could see; the builder just does not say const.
        return CapnpEncoder(const_cast<T&>(message));
    }

    /// Errors: corrupt
    static void decode(std::span<const std::byte> bytes, T& message) {
        const auto words = capnp_words(bytes);
        try {
            capnp::initMessageBuilderFromFlatArrayCopy(words, message, capnp_limits(bytes.size()));
        } catch (const kj::Exception& failure) {
            throw Error(Code::corrupt, std::string("load by capnproto: this is no sound message (") +
                                           failure.getDescription().cStr() + ")");
        }
    }
};

}  // namespace pmemcpy
