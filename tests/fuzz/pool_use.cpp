#include "pool_use.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "target.hpp"

namespace pmemcpy::fuzz {
namespace {

constexpr std::size_t most_names = 64;  // of a pool in which somebody says there are more, some are enough
constexpr std::uint64_t largest_load = 1 << 20;

template <class Call>
void attempt(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        expect(*error.what() != '\0', "an error without words");
    }
}

volatile std::uint8_t touched_last;

void touch(std::span<const std::byte> bytes) {
    std::uint8_t sum = 0;
    for (const std::byte byte : bytes) sum = static_cast<std::uint8_t>(sum ^ static_cast<std::uint8_t>(byte));
    touched_last = sum;
}

std::vector<std::string> some(std::vector<std::string> names) {
    if (names.size() > most_names) names.resize(most_names);
    return names;
}

PMEM::Decode look_at_bytes() {
    return [](const Type& type, SerializerType, std::span<const std::byte> bytes) {
        static_cast<void>(type.name());
        touch(bytes);
    };
}

void look_at_value(const PMEM& pmem, const std::string& id) {
    Kind kind = Kind::none;
    attempt([&] {
        pmem.load_encoded(id, [&](const Type& type, SerializerType, std::span<const std::byte> bytes) {
            kind = type.kind();
            static_cast<void>(type.name());
            touch(bytes);
        });
    });
    attempt([&] {
        switch (kind) {
            case Kind::string:
                return static_cast<void>(pmem.load<std::string>(id));
            case Kind::sequence:
                return static_cast<void>(pmem.load<std::vector<float>>(id));
            case Kind::boolean:
                return static_cast<void>(pmem.load<bool>(id));
            default:
                return static_cast<void>(pmem.load<int>(id));
        }
    });
    attempt([&] { touch(pmem.view_bytes(id).bytes()); });
}

// Only what is fully there has a view; of that the first and the last element are enough.
void look_at_view(const PMEM& pmem, const Info& info, const Selection& selection) {
    attempt([&] {
        const PMEM::RawView view = pmem.view(info.id, info.type, selection, false);
        if (view.data == nullptr) return;
        const std::byte* last = view.data;
        for (int d = 0; d < selection.size(); ++d)
            last += (selection.count[d] - 1) * view.strides[d] * info.type.size();
        touch({view.data, info.type.size()});
        touch({last, info.type.size()});
    });
}

void load(const PMEM& pmem, const Info& info, const Selection& selection,
          std::optional<std::uint64_t> step = {}) {
    attempt([&] {
        const std::uint64_t elements = selection.elements();
        if (elements > largest_load || elements * info.type.size() > largest_load) return;
        // Of exactly that size, so that the sanitizer sees a byte too many.
        std::vector<std::byte> to(elements * info.type.size());
        pmem.load(info.id, info.type, to.data(), selection, step);
        touch(to);
    });
    look_at_view(pmem, info, selection);
}

void look_at_array(const PMEM& pmem, const Info& info) {
    attempt([&] { static_cast<void>(pmem.load_dims(info.id)); });
    load(pmem, info, Box::whole(info.dims));
    if (!info.dims.empty()) {
        Selection part = Box::whole(info.dims);
        for (int d = 0; d < part.size(); ++d) {
            part.offset[d] = part.count[d] / 3;
            part.count[d] = part.count[d] > 2 ? 2 : 1;
            part.stride[d] = 2;
        }
        load(pmem, info, part);
        load(pmem, info, part, 1);
    }
    std::vector<BlockInfo> blocks;
    attempt([&] { blocks = pmem.blocks(info.id); });
    for (const BlockInfo& block : blocks) load(pmem, info, block.box);
}

void look_at_attributes(const PMEM& pmem, const std::string& id) {
    attempt([&] {
        for (const std::string& name : some(pmem.attributes(id))) {
            attempt([&] { static_cast<void>(pmem.attribute_info(id, name)); });
            attempt([&] { pmem.get_attribute_encoded(id, name, look_at_bytes()); });
            attempt([&] { static_cast<void>(pmem.get_attribute<std::string>(id, name)); });
        }
    });
}

std::vector<std::string> ids(const PMEM& pmem) {
    std::vector<std::string> found;
    attempt([&] { found = some(pmem.ids()); });
    return found;
}

void store_into(PMEM& pmem, const Info& info) {
    const Selection first(Dimensions::filled(info.dims.size(), 0), Dimensions::filled(info.dims.size(), 1));
    const std::vector<std::byte> elements(std::min<std::uint64_t>(info.type.size(), largest_load));
    if (elements.size() < info.type.size()) return;
    attempt([&] { pmem.store(info.id, info.type, elements.data(), first); });
    attempt([&] {
        const PMEM::RawView view = pmem.view(info.id, info.type, first, true);
        if (view.data != nullptr) std::memcpy(view.data, elements.data(), elements.size());
    });
    attempt([&] { pmem.freeze(info.id); });
    const Selection all = Box::whole(info.dims);
    attempt([&] {
        if (all.elements() > largest_load || all.elements() * info.type.size() > largest_load) return;
        const std::vector<std::byte> from(all.elements() * info.type.size());
        pmem.store(info.id, info.type, from.data(), all);
    });
}

void change(PMEM& pmem, const std::string& id) {
    Info info;
    attempt([&] { info = pmem.info(id); });
    attempt([&] { pmem.set_attribute(id, "units", std::string(100, 'u')); });
    if (info.kind == VariableKind::array) {
        store_into(pmem, info);
    } else {
        attempt([&] { pmem.store(id, std::string(id.size() % 2 == 0 ? 40 : 5'000, 'c')); });
    }
    attempt([&] {
        for (const std::string& name : some(pmem.attributes(id)))
            attempt([&] { pmem.remove_attribute(id, name); });
    });
}

}  // namespace

void look_at(const PMEM& pmem) {
    attempt([&] { static_cast<void>(pmem.info()); });
    for (const std::string& id : ids(pmem)) {
        Info info;
        attempt([&] { info = pmem.info(id); });
        attempt([&] { static_cast<void>(pmem.exists(id)); });
        attempt([&] { static_cast<void>(pmem.open(pmem.oid(id))); });
        look_at_attributes(pmem, id);
        if (info.id == id && info.kind == VariableKind::array) {
            look_at_array(pmem, info);
        } else {
            look_at_value(pmem, id);
        }
    }
    attempt([&] {
        for (const std::string& group : some(pmem.groups())) {
            attempt([&] { static_cast<void>(pmem.info(group)); });
            look_at_attributes(pmem, group);
        }
    });
    look_at_attributes(pmem, "/");
    attempt([&] {
        for (const Damage& damage : pmem.verify()) expect(!damage.what.empty(), "a damage without words");
    });
}

void change_all(PMEM& pmem) {
    const std::vector<std::string> there = ids(pmem);
    for (const std::string& id : there) change(pmem, id);
    attempt([&] { pmem.store("fresh/value", std::string(700, 'f')); });
    attempt([&] { pmem.alloc<double>("fresh/array", Dimensions{4, 4}); });
    attempt([&] { pmem.store<double>("fresh/array", std::vector<double>(16).data(), Box{{0, 0}, {4, 4}}); });
    attempt([&] { pmem.sync(); });
    attempt([&] {
        const std::uint64_t step = pmem.info().committed_step + 1;
        pmem.begin(step);
        for (const std::string& id : there) attempt([&] { pmem.store(id, 3); });
        attempt([&] { pmem.store("fresh/value", 3); });
        pmem.commit(step);
    });
    attempt([&] { pmem.rename("fresh/value", "g/value"); });
    for (std::size_t i = 0; i < there.size(); i += 2)
        attempt([&] { pmem.rename(there[i], "renamed/" + there[i]); });
    attempt([&] { pmem.compact(); });
    attempt([&] { pmem.prepare(300'000); });
    for (const std::string& id : ids(pmem)) attempt([&] { pmem.erase(id); });
    attempt([&] {
        for (const std::string& group : some(pmem.groups())) attempt([&] { pmem.erase(group); });
    });
    attempt([&] { static_cast<void>(pmem.trim()); });
    attempt([&] { pmem.store("last", std::string(9'000, 'l')); });
}

}  // namespace pmemcpy::fuzz
