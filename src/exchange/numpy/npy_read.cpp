// .npy into a pool: one array, whose elements lie in the file as they are to lie in the pool.

#include "exchange/numpy/npy_read.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "exchange/formats.hpp"
#include "exchange/numpy/npy_header.hpp"
#include "exchange/numpy/plain_file.hpp"
#include "exchange/numpy/type.hpp"
#include "exchange/pieces.hpp"

namespace pmemcpy::exchange {

namespace {

constexpr std::uint64_t most_element_bytes = 64ULL << 20;  // more than one piece is in memory otherwise

template <class Work>
auto named(const std::string& shown, Work&& work) {
    try {
        return work();
    } catch (const Error& error) {
        throw Error(error.kind(), shown + ": " + error.what());
    }
}

/// Errors: corrupt when there cannot be so many.
std::uint64_t bytes_of(const Dimensions& dims, std::uint64_t element_bytes) {
    std::uint64_t bytes = std::max<std::uint64_t>(element_bytes, 1);
    bool is_empty = element_bytes == 0;
    for (const Extent extent : dims) {
        is_empty = is_empty || extent == 0;
        if (__builtin_mul_overflow(bytes, std::max<Extent>(extent, 1), &bytes) || bytes >> 63 != 0)
            throw Error(Code::corrupt, "an array of shape " + to_string(dims) + ", which no memory can hold");
    }
    return is_empty ? 0 : bytes;
}

class NpyReader {
public:
    NpyReader(const NpyMember& member, ByteSource& source, Intake& intake)
        : member_(member), source_(source), intake_(intake) {}

    void read() {
        try {
            named(member_.shown, [this] { read_header(); });
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported || !member_.is_one_of_many) throw;
            return intake_.warn(member_.path, std::string(error.what()) + "; not imported");
        }
        for (const std::string& note : element_.notes) intake_.warn(member_.path, note);
        header_.dims.empty() ? read_value() : read_array();
        nlohmann::json origin = member_.origin;
        if (numpy_of(element_.type).descr != element_.descr) origin["descr"] = element_.descr;
        if (!origin.empty()) {
            origin["from"] = "npy";
            intake_.origin(member_.path, origin);
        }
        if (!element_.units.empty())
            intake_.attribute(member_.path, "units", std::string_view(element_.units));
        if (left_ > 0) {
            intake_.warn(member_.path,
                         std::to_string(left_) + " bytes behind the array's elements; not imported");
        }
    }

private:
    void read_header() {
        header_ = read_npy_header(source_, member_.bytes);
        element_ = element_of_numpy(header_.descr);
        if (element_.bytes > most_element_bytes) {
            throw Error(Code::unsupported, "elements of " + std::to_string(element_.bytes) +
                                               " bytes each; at most 64 MiB can be imported");
        }
        const std::uint64_t wanted = bytes_of(header_.dims, element_.bytes);
        left_ = member_.bytes - header_.bytes;
        if (wanted > left_) {
            throw Error(Code::corrupt, "the header says " + to_string(header_.dims) + " of " +
                                           element_.type.name() + ", which are " + std::to_string(wanted) +
                                           " bytes, and " + std::to_string(left_) + " follow it");
        }
        left_ -= wanted;
    }

    /// The next elements of the file, as a pool has them.
    std::span<const std::byte> next(Extent elements) {
        return named(member_.shown, [&]() -> std::span<const std::byte> {
            bytes_.resize(elements * element_.bytes);
            if (source_.read(bytes_) != bytes_.size())
                throw Error(Code::corrupt, "it ends within the elements of its array");
            return to_pool(element_, bytes_, converted_);
        });
    }

    void read_value() {
        if (element_.bytes > 0) return intake_.value(member_.path, element_.type, next(1));
        const std::vector<std::byte> nothing(element_.type.size());
        intake_.value(member_.path, element_.type, nothing);
    }

    void read_array() {
        ArrayOptions options;
        options.order = header_.is_fortran ? Order::fortran : Order::c;
        // Text of no characters, which a pool does not have: empty text, which takes no space either.
        if (element_.bytes == 0) options.fill_value.resize(element_.type.size());
        intake_.array(member_.path, element_.type, header_.dims, options);
        if (element_.bytes == 0) return;
        const Box whole = Box::whole(header_.dims);
        each_piece(header_.is_fortran ? reversed(whole) : whole, {}, element_.bytes, intake_.piece_bytes(),
                   [&](const Box& piece) {
                       const auto elements = next(piece.elements());
                       intake_.store(member_.path, element_.type, elements.data(),
                                     header_.is_fortran ? reversed(piece) : piece);
                   });
    }

    const NpyMember& member_;
    ByteSource& source_;
    Intake& intake_;
    NpyHeader header_;
    NumpyElement element_;
    std::uint64_t left_ = 0;  // bytes behind the elements
    std::vector<std::byte> bytes_, converted_;
};

}  // namespace

void read_npy_member(const NpyMember& member, ByteSource& source, Intake& intake) {
    NpyReader(member, source, intake).read();
}

void read_npy(const std::string& path, Intake& intake) {
    PlainFile file = PlainFile::existing(path);
    const NpyMember member{
        .shown = path, .path = std::filesystem::path(path).stem().string(), .bytes = file.bytes()};
    intake.expect(member.bytes);
    intake.group("");
    read_npy_member(member, file, intake);
    if (!intake.takes(member.path))  // then nothing is left that could be imported
        throw Error(Code::invalid_argument,
                    path + ": a pool can have no variable '" + member.path + "'; rename the file");
}

}  // namespace pmemcpy::exchange
