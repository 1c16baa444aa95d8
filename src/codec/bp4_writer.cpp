#include "codec/bp4_writer.hpp"

#include <bit>
#include <pmemcpy/error.hpp>
#include <utility>

#include "codec/bp4_bytes.hpp"
#include "codec/bp4_step.hpp"

namespace pmemcpy::codec::bp4 {

namespace {

constexpr std::size_t header_bytes = 64;

/// All three files begin alike. The version is that of the ADIOS release whose BP4 this is: readers look at
/// it.
Bytes file_header(std::string_view kind) {
    constexpr std::size_t tag_bytes = 32;
    std::string tag = "ADIOS-BP v2.9.2 " + std::string(kind);
    tag.resize(tag_bytes, '\0');
    Bytes header;
    header.append(tag);
    header.append("292");
    header.zeros(1);
    header.put(static_cast<std::uint8_t>(std::endian::native == std::endian::big ? 1 : 0));
    header.put(std::uint8_t{4});  // BP version
    header.put(std::uint8_t{0});  // nobody is writing it any more
    header.zeros(header_bytes - header.size());
    return header;
}

/// Passes on what a block writes of itself, and no more than was announced.
class Metered final : public Sink {
public:
    Metered(Sink& to, std::uint64_t announced) : to_(to), left_(announced) {}
    void write(std::span<const std::byte> bytes) override {
        if (bytes.size() > left_)
            throw Error(Code::invalid_argument, "BP4: a block wrote more than its box holds");
        left_ -= bytes.size();
        to_.write(bytes);
    }
    void finish() const {
        if (left_ != 0)
            throw Error(Code::invalid_argument,
                        "BP4: a block wrote " + std::to_string(left_) + " bytes less than its box holds");
    }

private:
    Sink& to_;
    std::uint64_t left_;
};

void write_payload(Sink& to, const StepLayout::Place& place) {
    if (place.is_text) {
        Bytes text;
        text.name(std::string_view(reinterpret_cast<const char*>(place.block->data.data()),
                                   place.block->data.size()));
        to.write(text.view());
    } else if (place.block->stream) {
        Metered metered(to, place.payload_bytes);
        place.block->stream(metered);
        metered.finish();
    } else {
        to.write(place.block->data);
    }
}

}  // namespace

Writer::Writer(Sink& data, Sink& metadata, Sink& index, std::string group)
    : data_(data), metadata_(metadata), index_(index), group_(std::move(group)) {
    constexpr std::size_t longest_group = 1024;  // its place in the index is counted in 16 bits
    if (group_.size() > longest_group)
        throw Error(Code::invalid_argument,
                    "BP4: a group name of " + std::to_string(group_.size()) + " bytes; take at most 1024");
    data_.write(file_header("Data").view());
    metadata_.write(file_header("Metadata").view());
    data_size_bytes_ = header_bytes;
    metadata_size_bytes_ = header_bytes;
}

void Writer::step(std::span<const Variable> variables, std::span<const Attribute> attributes) {
    if (closed_) throw Error(Code::invalid_argument, "BP4: a step after close, or after a step that failed");
    const auto number = static_cast<std::uint32_t>(steps_.size() + 1);
    const StepLayout layout(data_size_bytes_, number, group_, variables, attributes);

    // A failure from here on leaves half a step in data.0, so the positions would be wrong for any other.
    closed_ = true;
    data_.write(layout.opening());
    data_size_bytes_ += layout.opening().size();
    for (const auto& place : layout.places()) {
        data_.write(place.head);
        write_payload(data_, place);
        data_size_bytes_ += place.head.size() + place.payload_bytes;
    }
    data_.write(layout.closing());
    data_size_bytes_ += layout.closing().size();

    metadata_.write(layout.metadata());
    const std::uint64_t start = metadata_size_bytes_;
    metadata_size_bytes_ += layout.metadata().size();
    steps_.push_back(
        {start, start + layout.variables_at(), start + layout.attributes_at(), metadata_size_bytes_});
    closed_ = false;
}

void Writer::close() {
    if (closed_) throw Error(Code::invalid_argument, "BP4: closed twice, or after a step that failed");
    closed_ = true;
    Bytes index = file_header("Index Table");
    std::uint64_t number = 0;
    for (const StepPlaces& step : steps_) {
        constexpr std::uint64_t process = 0;
        constexpr std::uint64_t time_stamp = 0;  // files made from the same data are the same
        for (const std::uint64_t field : {++number, process, step.groups, step.variables, step.attributes,
                                          step.end, time_stamp, std::uint64_t{0}})
            index.put(field);
    }
    index_.write(index.view());
}

}  // namespace pmemcpy::codec::bp4
