#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/bp4_bytes.hpp"
#include "codec/bp4_writer.hpp"

namespace pmemcpy::codec::bp4 {

/// Everything of one step but the elements: what goes in front of each block in data.0, and the step's part
/// of md.0. It is made before a byte is written, because data.0 begins with lengths and is written front to
/// back.
class StepLayout {
public:
    struct Place {
        std::vector<std::byte> head;      ///< goes in front of the elements
        std::uint64_t payload_bytes = 0;  ///< of the elements, as they are in the file
        const Block* block = nullptr;
        bool is_text = false;
    };

    /// `start` is where this step begins in data.0, `number` counts from 1. Errors: as Writer::step
    StepLayout(std::uint64_t start, std::uint32_t number, std::string_view group,
               std::span<const Variable> variables, std::span<const Attribute> attributes);

    std::span<const std::byte> opening() const noexcept { return opening_.view(); }
    std::span<const Place> places() const noexcept { return places_; }
    std::span<const std::byte> closing() const noexcept { return closing_.view(); }

    std::span<const std::byte> metadata() const noexcept { return metadata_.view(); }
    std::uint64_t variables_at() const noexcept { return variables_at_; }    ///< in metadata()
    std::uint64_t attributes_at() const noexcept { return attributes_at_; }  ///< in metadata()

private:
    void open_group(std::uint64_t start, std::uint32_t number, std::string_view group);
    void add_variable(const Variable& variable, std::uint32_t member, std::uint32_t number,
                      std::uint64_t& end);
    void add_block(const Variable& variable, const Block& block, std::uint32_t member, std::uint32_t number,
                   std::uint64_t& end);
    void add_attribute(const Attribute& attribute, std::uint32_t member, std::uint32_t number);
    void close_group(std::uint64_t start, std::uint64_t end);

    Bytes opening_;
    Bytes closing_;
    Bytes metadata_;
    std::vector<Place> places_;
    std::size_t block_count_at_ = 0;  ///< in opening_, where the number of blocks and their length go
    std::uint64_t variables_at_ = 0;
    std::uint64_t attributes_at_ = 0;
};

}  // namespace pmemcpy::codec::bp4
