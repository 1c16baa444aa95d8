#include "index/object.hpp"

#include <algorithm>
#include <cmath>
#include <pmemcpy/error.hpp>
#include <pmemcpy/number.hpp>

#include "array/box_index.hpp"
#include "index/time.hpp"

namespace pmemcpy::index {

namespace {

std::string group_of(const std::string& id) {
    const std::size_t slash = id.rfind('/');
    return slash == std::string::npos ? "/" : id.substr(0, slash);
}

const char* kind_of(const Info& info) {
    switch (info.kind) {
        case VariableKind::value:
            return "value";
        case VariableKind::array:
            return "array";
        case VariableKind::group:
            break;
    }
    return "group";
}

/// "zstd" of "zstd:5:shuffle".
std::string kind_of(const Codec& codec) {
    const std::string text = to_string(codec);
    return text.substr(0, text.find(':'));
}

Box around(const Selection& selection) {
    Box box{selection.offset, selection.count};
    for (int d = 0; d < box.count.size(); ++d) {
        if (box.count[d] != 0) box.count[d] = (box.count[d] - 1) * selection.stride[d] + 1;
    }
    return box;
}

/// Whether no block lies over a part of another one: only then is all that they say of their elements true of the array's.
bool are_disjoint(const std::vector<BlockInfo>& blocks, int dims) {
    array::BoxIndex index(dims);
    for (std::uint64_t i = 0; i < blocks.size(); ++i) index.append(i, around(blocks[i].box));
    index.settle();
    for (std::uint64_t i = 0; i < blocks.size(); ++i) {
        std::size_t met = 0;
        index.query(around(blocks[i].box), [&](std::uint64_t) { ++met; });
        if (met > 1) return false;
    }
    return true;
}

/// The least or greatest of numbers; nothing if there is a NaN or no number.
Facts extreme_of(const Facts& facts, bool is_least) {
    const Fact* best = nullptr;
    for (const Fact& fact : facts) {
        if (std::holds_alternative<std::string>(fact)) continue;  // the name of an enumeration's value
        if (!std::holds_alternative<std::int64_t>(fact) && !std::holds_alternative<std::uint64_t>(fact) &&
            !std::holds_alternative<double>(fact))
            return {};
        if (const auto* number = std::get_if<double>(&fact); number != nullptr && std::isnan(*number))
            return {};
        if (best == nullptr || (is_least ? is_before(fact, *best) : is_before(*best, fact))) best = &fact;
    }
    return best == nullptr ? Facts{} : Facts{*best};
}

}  // namespace

const Info& Object::info() {
    if (!info_) info_ = pool_->info(id_);
    return *info_;
}

bool Object::is_elements(const Key& key) {
    return !key.is_attribute() && key.parts().front() == "value" && info().kind == VariableKind::array;
}

const Facts& Object::facts(const Key& key) {
    const auto [at, is_new] = seen_.try_emplace(key.text());
    if (is_new) at->second = key.is_attribute() ? attribute(key) : known(*known_of(key.parts().front()), key);
    return at->second;
}

Facts Object::known(Known known, const Key& key) {
    if (known == Known::name) return {id_};
    if (known == Known::group) return {group_of(id_)};
    const Info& info = this->info();
    const bool is_array = info.kind == VariableKind::array;
    const bool is_group = info.kind == VariableKind::group;
    const auto members = std::span(key.parts()).subspan(1);
    switch (known) {
        case Known::name:
        case Known::group:
            break;
        case Known::kind:
            return {std::string(kind_of(info))};
        case Known::dtype:
            return is_group ? Facts{} : Facts{info.type.name()};
        case Known::shape: {
            if (!is_array) return {};
            if (members.empty()) return {info.dims};
            Facts extents;
            for (int d = 0; d < info.dims.size(); ++d) {
                if (members.size() == 1 && members.front() == std::to_string(d))
                    extents.emplace_back(info.dims[d]);
            }
            return extents;
        }
        case Known::rank:
            return is_array ? Facts{std::int64_t{info.dims.size()}} : Facts{};
        case Known::bytes:
            return is_group ? Facts{} : Facts{info.bytes};
        case Known::stored:
            return is_group ? Facts{} : Facts{info.stored_bytes};
        case Known::blocks:
            return is_array ? Facts{info.blocks} : Facts{};
        case Known::codec:
            return is_array ? Facts{kind_of(info.codec)} : Facts{};
        case Known::step:
            return info.step != 0 ? Facts{info.step} : Facts{};
        case Known::changed:
            if (info.written_ns == 0) return {};
            return {*time_of(static_cast<std::int64_t>(info.written_ns), TimeUnit::nanosecond)};
        case Known::min:
        case Known::max:
            return extreme(known == Known::min);
        case Known::value:
            return info.kind == VariableKind::value ? stored_value(members) : Facts{};
    }
    return {};
}

Facts Object::stored_value(std::span<const std::string> members) const {
    Facts facts;
    pool_->load_encoded(id_,
                        [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                            facts = facts_of(type, serializer, bytes, members);
                        });
    return facts;
}

Facts Object::extreme(bool is_least) {
    const Info& info = this->info();
    if (info.kind == VariableKind::group) return {};
    if (info.kind == VariableKind::value) return extreme_of(stored_value({}), is_least);
    const std::vector<BlockInfo> blocks = pool_->blocks(id_);
    if (blocks.empty()) return {};
    Facts ends;
    for (const BlockInfo& block : blocks) {
        if (!block.has_range) return {};
        const std::span<const std::byte> end(is_least ? block.minimum : block.maximum);
        const bool is_number = visit_number(info.type.kind(), info.type.byte_order(), end, [&](auto number) {
            if constexpr (std::is_floating_point_v<decltype(number)>)
                ends.emplace_back(static_cast<double>(number));
            else
                ends.emplace_back(number);
        });
        if (!is_number) return {};
    }
    if (!are_disjoint(blocks, info.dims.size())) return {};
    return extreme_of(ends, is_least);
}

bool Object::has_attribute(const std::string& name) {
    if (!attributes_) attributes_ = pool_->attributes(id_);
    return std::find(attributes_->begin(), attributes_->end(), name) != attributes_->end();
}

Facts Object::attribute(const Key& key) {
    const std::string& name = key.parts().front();
    Facts facts;
    if (!has_attribute(name)) return facts;
    try {
        pool_->get_attribute_encoded(
            id_, name, [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                facts = facts_of(type, serializer, bytes, std::span(key.parts()).subspan(1));
            });
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;  // removed since it was listed
    }
    return facts;
}

}  // namespace pmemcpy::index
