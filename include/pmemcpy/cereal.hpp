#pragma once

#include <cereal/archives/portable_binary.hpp>
#include <cereal/cereal.hpp>
#include <istream>
#include <new>
#include <ostream>
#include <pmemcpy/cereal_input.hpp>
#include <pmemcpy/encoder.hpp>
#include <stdexcept>
#include <streambuf>

// Serializes whatever cereal can. The bytes are those of cereal's own PortableBinaryOutputArchive: the first
// one says little or big endian, so a machine of the other kind reads them too, and so does a program without
// pMEMCPY.

namespace pmemcpy {

/// Counts the bytes written into it and keeps none: the first pass, for the size.
class CountingBuffer final : public std::streambuf {
public:
    std::uint64_t size_bytes() const noexcept { return size_bytes_; }

protected:
    int_type overflow(int_type character) override {
        ++size_bytes_;
        return traits_type::not_eof(character);
    }
    std::streamsize xsputn(const char*, std::streamsize count) override {
        size_bytes_ += static_cast<std::uint64_t>(count);
        return count;
    }

private:
    std::uint64_t size_bytes_ = 0;
};

/// Writes into a span and refuses more than fits: the second pass, straight into mapped memory.
class SpanOutputBuffer final : public std::streambuf {
public:
    explicit SpanOutputBuffer(std::span<std::byte> out) noexcept : out_(out) {}
    std::size_t room_bytes() const noexcept { return out_.size(); }

protected:
    int_type overflow(int_type character) override {
        if (out_.empty() || traits_type::eq_int_type(character, traits_type::eof()))
            return traits_type::eof();
        const char byte = traits_type::to_char_type(character);
        return xsputn(&byte, 1) == 1 ? character : traits_type::eof();
    }
    std::streamsize xsputn(const char* from, std::streamsize count) override {
        const auto size = std::min(static_cast<std::size_t>(count), out_.size());
        if (size != 0) std::memcpy(out_.data(), from, size);
        out_ = out_.subspan(size);
        return static_cast<std::streamsize>(size);
    }

private:
    std::span<std::byte> out_;  // what is still free
};

/// Reads from a span; its end is the end of the stream.
class SpanInputBuffer final : public std::streambuf {
public:
    explicit SpanInputBuffer(std::span<const std::byte> bytes) {
        // A streambuf that is only read never writes through the pointers that setg() wants mutable.
        char* begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
        setg(begin, begin, begin + bytes.size());
    }
};

template <typename T>
class CerealEncoder final : public Encoder {
public:
    explicit CerealEncoder(const T& value) : value_(value) {
        CountingBuffer buffer;
        write_into(buffer);
        size_bytes_ = buffer.size_bytes();
    }

    std::uint64_t size_bytes() const override { return size_bytes_; }

    void encode(std::span<std::byte> out) const override {
        SpanOutputBuffer buffer(out);
        try {
            write_into(buffer);
        } catch (const cereal::Exception& failure) {
            throw changed(failure.what());
        }
        if (buffer.room_bytes() != 0) throw changed("it became shorter");
    }

private:
    void write_into(std::streambuf& buffer) const {
        std::ostream stream(&buffer);
        cereal::PortableBinaryOutputArchive archive(stream);
        archive(value_);
    }

    Error changed(const std::string& how) const {
        return Error(Code::invalid_argument, "store by cereal: the object was " +
                                                 std::to_string(size_bytes_) +
                                                 " bytes when measured and changed while it was stored (" +
                                                 how + "); let no other thread change it meanwhile");
    }

    const T& value_;
    std::uint64_t size_bytes_ = 0;
};

/// Encodes by `cereal`: any T that cereal's portable binary archive can save, and load by templates or for
/// that archive.
template <typename T>
    requires(cereal::traits::is_output_serializable<T, cereal::PortableBinaryOutputArchive>::value)
struct Serializer<SerializerType::cereal, T> {
    static CerealEncoder<T> encoder(const T& value) { return CerealEncoder<T>(value); }

    /// Errors: corrupt, when the bytes end early, go on too long, or hold a count that they cannot fulfil.
    static void decode(std::span<const std::byte> bytes, T& value) {
        try {
            const std::size_t left = read_from(bytes, value);
            if (left != 0) throw corrupt(bytes, std::to_string(left) + " bytes are left over");
        } catch (const cereal::Exception& failure) {
            throw corrupt(bytes, failure.what());
        } catch (const std::length_error& failure) {
            throw corrupt(bytes, failure.what());
        } catch (const std::bad_alloc&) {
            throw corrupt(bytes, "a count in it asks for more memory than there is");
        }
    }

private:
    /// The number of bytes left over.
    static std::size_t read_from(std::span<const std::byte> bytes, T& value) {
        if constexpr (cereal::traits::is_input_serializable<T, CerealInput>::value) {
            CerealInput archive(bytes);
            archive(value);
            return archive.remaining_bytes();
        } else {
            // T was taught to load from cereal's own archive and no other. That one is bounded by the span
            // too, but resizes a container to whatever count it reads.
            SpanInputBuffer buffer(bytes);
            std::istream stream(&buffer);
            cereal::PortableBinaryInputArchive archive(stream);
            archive(value);
            return static_cast<std::size_t>(buffer.in_avail() > 0 ? buffer.in_avail() : 0);
        }
    }

    static Error corrupt(std::span<const std::byte> bytes, const std::string& why) {
        return Error(Code::corrupt, "load by cereal: " + std::to_string(bytes.size()) + " bytes are no " +
                                        spelling_of<T>() + " (" + why + ")");
    }
};

}  // namespace pmemcpy
