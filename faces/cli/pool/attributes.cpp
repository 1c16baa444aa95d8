#include "cli/pool/attributes.hpp"

#include <fmt/core.h>

#include <pmemcpy/serializer.hpp>

#include "cli/element/element.hpp"
#include "cli/terminal/size.hpp"

namespace pmemcpy::cli {

bool is_note_of_exchange(std::string_view attribute) { return attribute == "_exchange"; }

std::vector<Attribute> attributes_of(const PMEM& pmem, std::string_view id, bool with_notes) {
    std::vector<Attribute> found;
    pmem.for_each_attribute_encoded(id, [&](const std::string& name, const Type& type,
                                            SerializerType serializer, std::span<const std::byte> bytes) {
        if (!with_notes && is_note_of_exchange(name)) return;
        if (is_readable(type, serializer)) {
            std::string text = value_text(type, bytes);
            if (!text.empty()) text.pop_back();
            for (char& c : text) c = c == '\n' ? ' ' : c;
            found.push_back({name, type.name(), text, value_json(type, bytes)});
        } else {
            found.push_back({name,
                             type.name(),
                             fmt::format("{} by {}", human_size(bytes.size()), name_of(serializer)),
                             {}});
        }
    });
    return found;
}

}  // namespace pmemcpy::cli
