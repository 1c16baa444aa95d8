#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/bp4_characteristics.hpp"

namespace pmemcpy::codec::bp4 {

/// Where a file's bytes go, front to back; the writer never goes back.
struct Sink {
    virtual ~Sink() = default;
    virtual void write(std::span<const std::byte> bytes) = 0;
};

/// One box of a variable. Its elements are in `data`, or if `stream` is given that writes them into the sink,
/// all of them, when their turn comes: a block that must be decompressed first need not lie in memory
/// beforehand.
struct Block {
    std::vector<std::uint64_t> offset;
    std::vector<std::uint64_t> count;
    std::optional<Element> min;
    std::optional<Element> max;
    std::span<const std::byte> data;
    std::function<void(Sink&)> stream;
};

/// Order: which index runs fastest. BP4 keeps one order per file, so an array in Fortran order is written as
/// the same bytes with its dimensions reversed; ADIOS shows any such array to C++ and Python so, and to
/// Fortran as it was.
enum class Order : std::uint8_t { c, fortran };

struct Variable {
    std::string id;
    Type type = Type::float64;
    std::vector<std::uint64_t>
        shape;  ///< empty for a scalar or a string, which has one block with its bytes in data
    Order order = Order::c;
    std::vector<Block> blocks;
};

/// Numbers in `data`, or strings in `texts`.
struct Attribute {
    std::string id;
    Type type = Type::string;  ///< string for one text, string_array for several
    std::span<const std::byte> data;
    std::vector<std::string> texts;
};

/// Writes the three files of a BP4 directory: data.0, md.0 and md.idx. Memory: the metadata of one step.
class Writer {
public:
    Writer(Sink& data, Sink& metadata, Sink& index, std::string group = "pmemcpy");

    /// One step with what changed in it. Attributes hold for the whole file and are written once.
    /// Errors: invalid_argument (a variable without a block, a block outside its array or with too little
    /// data, a name twice), unsupported (an array whose every dimension is 0, which BP4 cannot tell from a
    /// scalar)
    void step(std::span<const Variable> variables, std::span<const Attribute> attributes = {});

    /// Writes the index; without it nobody can read the rest.
    void close();

private:
    struct StepPlaces {
        std::uint64_t groups, variables, attributes, end;
    };

    Sink& data_;
    Sink& metadata_;
    Sink& index_;
    std::string group_;
    std::uint64_t data_size_bytes_ = 0;
    std::uint64_t metadata_size_bytes_ = 0;
    std::vector<StepPlaces> steps_;
    bool closed_ = false;
};

}  // namespace pmemcpy::codec::bp4
