#include "array/selection.hpp"
#include "codec/bp4_directory.hpp"
#include "codec/bp4_type.hpp"

#include <pmemcpy/bp4.hpp>

#include <algorithm>
#include <list>
#include <map>

namespace pmemcpy {
namespace {

namespace bp4 = codec::bp4;

std::vector<std::uint64_t> list(const Dimensions& dims) { return {dims.begin(), dims.end()}; }

std::optional<bp4::Element> element(const std::array<std::byte, 8>& bytes, const Type& type) {
    return bp4::element_of({bytes.data(), std::min<std::size_t>(type.size(), bytes.size())});
}

// A box is written from the pool itself where it can be viewed, and through a copy of its own where not.
bp4::Block block_of(const PMEM& pmem, const Info& info, const BlockInfo& found) {
    bp4::Block block;
    block.offset = list(found.box.offset);
    block.count = list(found.box.count);
    if (found.has_range) {
        block.min = element(found.minimum, info.type);
        block.max = element(found.maximum, info.type);
    }
    block.stream = [&pmem, id = info.id, type = info.type, box = found.box,
                    bytes = found.bytes](bp4::Sink& sink) {
        try {
            const PMEM::RawView view = pmem.view(id, type, box, false);
            if (view.pin.bytes().size() == bytes) return sink.write(view.pin.bytes());
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;  // compressed, or partly covered by newer blocks
        }
        std::vector<std::byte> copy(bytes);
        pmem.load(id, type, copy.data(), box);
        sink.write(copy);
    };
    return block;
}

using Steps = std::map<std::uint64_t, std::vector<bp4::Variable>>;

bool add_array(const PMEM& pmem, const Info& info, Steps& steps) {
    const auto type = bp4::type_of(info.type);
    if (!type) return false;
    std::map<std::uint64_t, bp4::Variable> in_step;
    for (const BlockInfo& found : pmem.blocks(info.id)) {
        if (!found.box.is_dense()) return false;
        bp4::Variable& variable = in_step[found.step];
        variable.blocks.push_back(block_of(pmem, info, found));
    }
    for (auto& [step, variable] : in_step) {
        variable.id = info.id;
        variable.type = *type;
        variable.shape = list(info.dims);
        variable.order = info.order == Order::fortran ? bp4::Order::fortran : bp4::Order::c;
        steps[step].push_back(std::move(variable));
    }
    return true;
}

bool add_value(const PMEM& pmem, const Info& info, Steps& steps, std::vector<Pinned>& pins) {
    const bool is_text = info.type.kind() == Kind::string;
    const bool is_list = info.type.kind() == Kind::sequence;
    const auto type =
        is_text ? std::optional(bp4::Type::string) : bp4::type_of(is_list ? info.type.element() : info.type);
    if (!type || (info.serializer != SerializerType::bp4 && info.serializer != SerializerType::none))
        return false;
    bp4::Variable variable;
    variable.id = info.id;
    variable.type = *type;
    const Pinned bytes = pmem.view_bytes(info.id);
    pins.push_back(bytes);
    bp4::Block block;
    block.data = bytes.bytes();
    if (is_list) {
        if (block.data.empty()) return false;
        variable.shape = {block.data.size() / info.type.element().size()};
        block.offset = {0};
        block.count = variable.shape;
    }
    variable.blocks.push_back(block);
    steps[info.step].push_back(std::move(variable));
    return true;
}

void add_attributes(const PMEM& pmem, const std::string& id, std::vector<bp4::Attribute>& attributes,
                    std::list<std::vector<std::byte>>& kept) {
    pmem.for_each_attribute_encoded(id, [&](const std::string& name, const Type& type, SerializerType,
                                            std::span<const std::byte> bytes) {
        bp4::Attribute attribute;
        attribute.id = name;
        if (id != "/") attribute.id.insert(0, id + "/");
        if (type.kind() == Kind::string) {
            attribute.texts = {std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
        } else if (const auto number = bp4::type_of(type.kind() == Kind::sequence ? type.element() : type)) {
            attribute.type = *number;
            kept.emplace_back(bytes.begin(), bytes.end());
            attribute.data = kept.back();
        } else {
            return;
        }
        attributes.push_back(std::move(attribute));
    });
}

}  // namespace

std::vector<std::string> write_bp4(const PMEM& pmem, const std::string& path,
                                   const std::vector<std::string>& ids) {
    Steps steps;
    std::vector<std::string> left_out;
    std::vector<bp4::Attribute> attributes;
    std::vector<Pinned> pins;
    std::list<std::vector<std::byte>> kept;  // attributes point into its elements
    const std::vector<std::string> all = ids.empty() ? pmem.ids() : ids;
    add_attributes(pmem, "/", attributes, kept);
    for (const std::string& id : all) {
        const Info info = pmem.info(id);
        const bool added = info.kind == VariableKind::array
                               ? add_array(pmem, info, steps)
                               : info.kind == VariableKind::value && add_value(pmem, info, steps, pins);
        if (!added) {
            left_out.push_back(id + ": " + (info.kind == VariableKind::group ? "group" : info.type.name()));
            continue;
        }
        add_attributes(pmem, id, attributes, kept);
    }
    bp4::Directory directory(path);
    for (const auto& [step, variables] : steps) {
        directory.writer().step(variables, attributes);
        attributes.clear();
    }
    directory.close();
    return left_out;
}

}  // namespace pmemcpy
