#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "exchange/holding.hpp"
#include "exchange/numpy/byte_source.hpp"
#include "exchange/numpy/type.hpp"
#include "exchange/pieces.hpp"

namespace pmemcpy::exchange {

/// A variable of a pool as the bytes of a .npy file, made while they are read.
class NpyStream : public ByteSource {
public:
    /// Warns of what .npy cannot hold. Errors: unsupported for what is no array to NumPy.
    NpyStream(const Variable& variable, Holding& holding);

    std::uint64_t bytes() const { return header_.size() + elements_bytes_; }
    std::size_t read(std::span<std::byte> into) override;
    /// The next read begins anew.
    void rewind();
    /// Gives back its memory.
    void rest();

private:
    void prepare_array();
    void prepare_value();
    void settle_text(const TextSeen& seen);
    void warn_of_losses() const;
    void make_header(const Dimensions& dims);
    bool load_next();

    const Variable& variable_;
    Holding& holding_;
    NumpyElement element_;
    bool is_fortran_ = false;  // in the file
    std::string header_;
    std::uint64_t elements_bytes_ = 0;
    std::vector<std::byte> value_;  // of what is no array, as NumPy has it
    std::optional<Pieces> pieces_;
    std::vector<std::byte> loaded_, turned_, converted_;
    std::span<const std::byte> ready_;
    bool is_value_read_ = false;
};

/// Warns of the attributes of groups, and of groups that nothing is in.
void warn_of_groups(const Holding& holding);

}  // namespace pmemcpy::exchange
