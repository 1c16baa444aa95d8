#include "content.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/hash.hpp"

namespace pmemcpy::crash {
namespace {

constexpr std::size_t most_elements = 128;  // of an array that is told element by element

std::uint64_t hash_of(const std::string& shape, std::span<const std::byte> bytes) {
    return base::xxh3_64(shape.data(), shape.size()) * 31 + base::xxh3_64(bytes.data(), bytes.size());
}

PMEM::Decode hash_into(std::uint64_t& hash) {
    return [&hash](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
        hash = hash_of(type.name() + "/" + std::to_string(static_cast<int>(serializer)), bytes);
    };
}

// The elements as a load gives them, and a pattern where no store has been.
void observe_array(const PMEM& pmem, const Info& info, Grain grain, Content& content) {
    const std::string shape = info.type.name() + to_string(info.dims);
    if (info.is_contiguous && !info.is_frozen) {  // not under the promise
        content[info.id] = hash_of(shape, {});
        return;
    }
    const std::size_t element = info.type.size();
    std::vector<std::byte> whole(info.dims.elements() * element, std::byte{0xee});
    std::vector<std::byte> part;
    for (const BlockInfo& block : pmem.blocks(info.id)) {
        const Selection& box = block.box;
        part.resize(box.elements() * element);
        pmem.load(info.id, info.type, part.data(), box);
        std::size_t from = 0;
        const int dimensions = box.size();
        std::array<std::size_t, 4> index{};
        for (std::size_t n = box.elements(); n > 0; --n, from += element) {
            std::size_t at = 0;
            for (int d = 0; d < dimensions; ++d) {
                at = at * info.dims[d] + box.offset[d] + index[static_cast<std::size_t>(d)] * box.stride[d];
            }
            std::memcpy(whole.data() + at * element, part.data() + from, element);
            for (int d = dimensions; d-- > 0;) {
                if (++index[static_cast<std::size_t>(d)] < box.count[d]) break;
                index[static_cast<std::size_t>(d)] = 0;
            }
        }
    }
    if (grain == Grain::array) {
        content[info.id] = hash_of(shape, whole);
        return;
    }
    content[info.id] = hash_of(info.type.name(), {});
    const std::size_t row = info.dims.elements() / std::max<std::size_t>(info.dims[0], 1);
    const std::size_t piece = element * (info.dims.elements() <= most_elements ? 1 : row);
    const std::vector<std::byte> nothing(piece, std::byte{0xee});
    for (std::size_t at = 0; at < whole.size(); at += piece) {
        const std::span<const std::byte> bytes = std::span(whole).subspan(at, piece);
        if (std::equal(bytes.begin(), bytes.end(), nothing.begin())) continue;
        content[info.id + "[" + std::to_string(at / piece) + "]"] = hash_of({}, bytes);
    }
}

void observe_attributes(const PMEM& pmem, const std::string& id, Content& content) {
    for (const std::string& name : pmem.attributes(id)) {
        std::uint64_t hash = 0;
        pmem.get_attribute_encoded(id, name, hash_into(hash));
        content[id + "@" + name] = hash;
    }
}

}  // namespace

Content observe(const PMEM& pmem, Grain grain) {
    Content content;
    for (const std::string& id : pmem.ids()) {
        const Info info = pmem.info(id);
        if (info.kind == VariableKind::array) {
            observe_array(pmem, info, grain, content);
        } else {
            std::uint64_t hash = 0;
            pmem.load_encoded(id, hash_into(hash));
            content[id] = hash;
        }
        if (info.attributes > 0) observe_attributes(pmem, id, content);
    }
    for (const std::string& id : pmem.groups()) {
        content[id + "/"] = 1;
        observe_attributes(pmem, id, content);
    }
    observe_attributes(pmem, "/", content);
    return content;
}

Content observe_old_steps(const PMEM& pmem) {
    Content content;
    const std::uint64_t newest = pmem.info().committed_step;
    if (newest == 0) return content;
    std::vector<std::byte> bytes;
    for (const std::string& id : pmem.ids()) {
        const Info info = pmem.info(id);
        if (info.kind != VariableKind::array || info.is_contiguous) continue;
        for (const BlockInfo& block : pmem.blocks(id)) {
            bytes.resize(block.box.elements() * info.type.size());
            for (std::uint64_t step = 1; step <= newest; ++step) {
                try {
                    pmem.load(id, info.type, bytes.data(), block.box, step);
                } catch (const Error& error) {
                    if (error.kind() != Code::not_found) throw;
                    continue;
                }
                content[id + to_string(block.box) + " of step " + std::to_string(step)] = hash_of({}, bytes);
            }
        }
    }
    return content;
}

std::string difference(const Content& found, const Content& wanted) {
    for (const auto& [key, hash] : wanted) {
        const auto there = found.find(key);
        if (there == found.end()) return "'" + key + "' is lost";
        if (there->second != hash) return "'" + key + "' has another content";
    }
    for (const auto& [key, hash] : found) {
        if (!wanted.contains(key)) return "'" + key + "' should not be there";
    }
    return {};
}

}  // namespace pmemcpy::crash
