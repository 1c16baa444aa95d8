#include "codec/bp4_step.hpp"

#include <algorithm>
#include <limits>
#include <pmemcpy/error.hpp>
#include <set>

#include "base/checked.hpp"

namespace pmemcpy::codec::bp4 {

namespace {

constexpr std::uint64_t payload_alignment =
    64;                               // so that who maps data.0 finds elements where vectors like them
constexpr char row_major = 'n';       // the answer to "is it column major"
constexpr char not_a_variable = 'n';  // a dimension is a number, never the value of a variable

[[noreturn]] void refuse(Code code, const std::string& id, const std::string& why) {
    throw Error(code, "BP4: variable '" + id + "' " + why);
}

template <typename List>
void check_names(const List& things) {
    std::set<std::string_view> seen;
    for (const auto& thing : things)
        if (thing.id.empty() || !seen.insert(thing.id).second)
            throw Error(Code::invalid_argument,
                        "BP4: '" + thing.id + "' is given twice in one step, or has no name");
}

void check_variable(const Variable& variable) {
    const bool has_type = size_bytes(variable.type) != 0 || variable.type == Type::string;
    if (!has_type) refuse(Code::invalid_argument, variable.id, "has no type that BP4 knows");
    if (variable.type == Type::string && !variable.shape.empty())
        refuse(Code::unsupported, variable.id, "is an array of strings, which BP4 does not have");
    if (variable.shape.size() > max_dimensions)
        refuse(Code::invalid_argument, variable.id, "has more than 32 dimensions");
    const auto is_zero = [](std::uint64_t extent) { return extent == 0; };
    if (!variable.shape.empty() && std::all_of(variable.shape.begin(), variable.shape.end(), is_zero))
        refuse(Code::unsupported, variable.id,
               "has only dimensions of 0, which BP4 takes for a scalar; leave it out");
    if (variable.blocks.empty() || (variable.shape.empty() && variable.blocks.size() != 1))
        refuse(Code::invalid_argument, variable.id,
               "has " + std::to_string(variable.blocks.size()) +
                   " blocks in this step; a scalar has one, and what has none is left out");
}

/// The bytes of a block's elements.
std::uint64_t check_block(const Variable& variable, const Block& block) {
    const std::size_t dimensions = variable.shape.size();
    if (block.offset.size() != dimensions || block.count.size() != dimensions)
        refuse(Code::invalid_argument, variable.id,
               "has a block with another number of dimensions than its own");
    std::uint64_t size = variable.type == Type::string ? block.data.size() : size_bytes(variable.type);
    for (std::size_t d = 0; d < dimensions; ++d) {
        if (block.count[d] > variable.shape[d] || block.offset[d] > variable.shape[d] - block.count[d])
            refuse(Code::invalid_argument, variable.id, "has a block outside its shape");
        if (!base::checked_mul(size, block.count[d], size))
            refuse(Code::invalid_argument, variable.id, "has a block larger than 16 EiB");
    }
    if ((!block.stream || dimensions == 0) && block.data.size() != size)
        refuse(Code::invalid_argument, variable.id,
               "has a block of " + std::to_string(size) + " bytes with " + std::to_string(block.data.size()) +
                   " bytes of data");
    return size;
}

Characteristics describe(const Variable& variable, const Block& block, std::uint32_t step) {
    Characteristics described;
    described.type = variable.type;
    described.step = step;
    described.dimensions = static_cast<std::uint8_t>(variable.shape.size());
    std::copy(block.count.begin(), block.count.end(), described.count.begin());
    std::copy(variable.shape.begin(), variable.shape.end(), described.shape.begin());
    std::copy(block.offset.begin(), block.offset.end(), described.offset.begin());
    if (variable.order == Order::fortran)
        for (auto* extents : {&described.count, &described.shape, &described.offset})
            std::reverse(extents->begin(), extents->begin() + described.dimensions);
    if (variable.type == Type::string)
        described.text.assign(reinterpret_cast<const char*>(block.data.data()), block.data.size());
    else if (variable.shape.empty())
        described.value = element_of(block.data);
    else {
        described.min = block.min;
        described.max = block.max;
    }
    return described;
}

/// In md.0 a variable and an attribute begin alike: length, number, group (never used), name, two bytes,
/// type, and how many characteristics follow. Returns where the length is to be patched in.
std::size_t begin_entry(Bytes& out, std::uint32_t member, std::string_view id, char order, Type type,
                        std::uint64_t sets) {
    const std::size_t length_at = out.size();
    out.put(std::uint32_t{0});
    out.put(member);
    out.name("");
    out.name(id);
    out.put(order);
    out.put(std::uint8_t{0});
    out.put(static_cast<std::uint8_t>(type));
    out.put(sets);
    return length_at;
}

void end_entry(Bytes& out, std::size_t length_at, const std::string& id) {
    const std::size_t length = out.size() - length_at - sizeof(std::uint32_t);
    if (length > std::numeric_limits<std::uint32_t>::max())
        refuse(Code::unsupported, id,
               "has more blocks in one step than the 4 GiB of metadata that BP4 can count");
    out.patch(length_at, static_cast<std::uint32_t>(length));
}

void put_dimensions(Bytes& head, const Characteristics& block) {
    head.put(block.dimensions);
    head.put(static_cast<std::uint16_t>(block.dimensions * std::size_t{3} * (1 + sizeof(std::uint64_t))));
    for (std::size_t d = 0; d < block.dimensions; ++d)
        for (const std::uint64_t number : {block.count[d], block.shape[d], block.offset[d]}) {
            head.put(not_a_variable);
            head.put(number);
        }
}

/// In data.0 a block repeats its min and max, and nothing else of its characteristics.
void put_bounds(Bytes& head, const Characteristics& block) {
    constexpr std::uint8_t minmax = 12;
    const std::size_t element_bytes = size_bytes(block.type);
    head.put(static_cast<std::uint8_t>(block.min ? 1 : 0));
    head.put(static_cast<std::uint32_t>(block.min ? 1 + 2 + 2 * element_bytes : 0));
    if (!block.min) return;
    head.put(minmax);
    head.put(std::uint16_t{1});
    head.append(std::span<const std::byte>(*block.min).first(element_bytes));
    head.append(std::span<const std::byte>(*block.max).first(element_bytes));
}

}  // namespace

StepLayout::StepLayout(std::uint64_t start, std::uint32_t number, std::string_view group,
                       std::span<const Variable> variables, std::span<const Attribute> attributes) {
    check_names(variables);
    check_names(attributes);
    open_group(start, number, group);
    std::uint64_t end = start + opening_.size();

    variables_at_ = metadata_.size();
    metadata_.put(static_cast<std::uint32_t>(variables.size()));
    metadata_.put(std::uint64_t{0});
    for (std::uint32_t member = 0; member < variables.size(); ++member)
        add_variable(variables[member], member, number, end);
    metadata_.patch(variables_at_ + 4, std::uint64_t{metadata_.size() - variables_at_ - 12});

    attributes_at_ = metadata_.size();
    metadata_.put(static_cast<std::uint32_t>(attributes.size()));
    metadata_.put(std::uint64_t{0});
    for (std::uint32_t member = 0; member < attributes.size(); ++member)
        add_attribute(attributes[member], member, number);
    metadata_.patch(attributes_at_ + 4, std::uint64_t{metadata_.size() - attributes_at_ - 12});

    close_group(start, end);
}

void StepLayout::open_group(std::uint64_t start, std::uint32_t number, std::string_view group) {
    constexpr std::uint32_t process = 0;
    constexpr std::uint8_t written_by_posix = 2;
    const std::string step_name = std::to_string(number);

    opening_.append("[PGI");
    opening_.put(std::uint64_t{0});  // its length, see close_group()
    opening_.put(row_major);
    opening_.name(group);
    opening_.put(std::uint32_t{0});  // a variable that coordinated the writers in ADIOS 1
    opening_.name(step_name);
    opening_.put(number);
    opening_.put(std::uint8_t{1});  // one method, of three bytes
    opening_.put(std::uint16_t{3});
    opening_.put(written_by_posix);
    opening_.put(std::uint16_t{0});
    block_count_at_ = opening_.size();
    opening_.put(std::uint32_t{0});
    opening_.put(std::uint64_t{0});

    metadata_.put(std::uint64_t{1});  // one group
    metadata_.put(std::uint64_t{0});
    const std::size_t entry_at = metadata_.size();
    metadata_.put(std::uint16_t{0});
    metadata_.name(group);
    metadata_.put(row_major);
    metadata_.put(process);
    metadata_.name(step_name);
    metadata_.put(number);
    metadata_.put(start);
    const std::size_t entry_bytes = metadata_.size() - entry_at;
    metadata_.patch(entry_at, static_cast<std::uint16_t>(entry_bytes - sizeof(std::uint16_t)));
    metadata_.patch(8, std::uint64_t{entry_bytes});
}

void StepLayout::add_variable(const Variable& variable, std::uint32_t member, std::uint32_t number,
                              std::uint64_t& end) {
    check_variable(variable);
    const std::size_t length_at =
        begin_entry(metadata_, member, variable.id, 'K', variable.type, variable.blocks.size());
    for (const Block& block : variable.blocks) add_block(variable, block, member, number, end);
    end_entry(metadata_, length_at, variable.id);
}

void StepLayout::add_block(const Variable& variable, const Block& block, std::uint32_t member,
                           std::uint32_t number, std::uint64_t& end) {
    Place place;
    place.payload_bytes = check_block(variable, block);
    place.block = &block;
    place.is_text = variable.type == Type::string;
    if (place.is_text) place.payload_bytes += sizeof(std::uint16_t);
    Characteristics described = describe(variable, block, number);

    Bytes head;
    head.append("[VMD");
    head.put(std::uint64_t{0});
    head.put(member);
    head.name(variable.id);
    head.put('K');
    head.put(std::uint8_t{0});
    head.put(static_cast<std::uint8_t>(variable.type));
    head.put('n');  // it is no dimension of another variable
    put_dimensions(head, described);
    put_bounds(head, described);
    const std::string_view tail = "VMD]";
    const std::uint64_t unaligned = end + head.size() + 1 + tail.size();
    const std::uint64_t padding = base::align_up(unaligned, payload_alignment) - unaligned;
    head.put(static_cast<std::uint8_t>(padding + tail.size()));
    head.zeros(padding);
    head.append(tail);
    head.patch(4, std::uint64_t{head.size() - 4 + place.payload_bytes});

    described.record_offset = end;
    described.payload_offset = end + head.size();
    metadata_.append(encode_characteristics(described));
    end += head.size() + place.payload_bytes;
    place.head = head.take();
    places_.push_back(std::move(place));
}

void StepLayout::add_attribute(const Attribute& attribute, std::uint32_t member, std::uint32_t number) {
    const bool is_text = attribute.type == Type::string || attribute.type == Type::string_array;
    const std::size_t element_bytes = size_bytes(attribute.type);
    const std::uint64_t count =
        is_text ? attribute.texts.size() : attribute.data.size() / std::max(element_bytes, std::size_t{1});
    const bool sound =
        is_text ? count >= 1 && (attribute.type == Type::string_array || count == 1)
                : element_bytes != 0 && count >= 1 && count * element_bytes == attribute.data.size();
    if (!sound)
        throw Error(Code::invalid_argument,
                    "BP4: attribute '" + attribute.id +
                        "' has no value, or bytes that are no whole number of elements");
    const std::size_t length_at = begin_entry(metadata_, member, attribute.id, '\0', attribute.type, 1);
    const std::size_t set_at = metadata_.size();
    metadata_.put(std::uint8_t{6});
    metadata_.put(std::uint32_t{0});
    metadata_.put(std::uint8_t{8});  // the step
    metadata_.put(number);
    metadata_.put(std::uint8_t{7});  // the file
    metadata_.put(std::uint32_t{0});
    metadata_.put(std::uint8_t{4});  // one dimension
    metadata_.put(std::uint8_t{1});
    metadata_.put(std::uint16_t{24});
    metadata_.put(count);
    metadata_.zeros(16);
    metadata_.put(std::uint8_t{0});  // the value
    for (const std::string& text : attribute.texts) metadata_.name(text);
    metadata_.append(attribute.data);
    // ADIOS writes attributes into data.0 too, where nothing reads them; these two say where.
    metadata_.put(std::uint8_t{3});
    metadata_.put(std::uint64_t{0});
    metadata_.put(std::uint8_t{6});
    metadata_.put(std::uint64_t{0});
    metadata_.patch(set_at + 1, static_cast<std::uint32_t>(metadata_.size() - set_at - 5));
    end_entry(metadata_, length_at, attribute.id);
}

void StepLayout::close_group(std::uint64_t start, std::uint64_t end) {
    const std::uint64_t blocks_end = end - start;
    opening_.patch(block_count_at_, static_cast<std::uint32_t>(places_.size()));
    opening_.patch(block_count_at_ + 4, std::uint64_t{blocks_end - block_count_at_ - 12});
    closing_.put(std::uint32_t{0});  // no attributes here
    closing_.put(std::uint64_t{0});
    closing_.append("PGI]");
    opening_.patch(4, std::uint64_t{blocks_end + closing_.size() - 4});
}

}  // namespace pmemcpy::codec::bp4
