#include "cli/pool/attributes.hpp"

#include <fmt/core.h>

#include <pmemcpy/serializer.hpp>

#include "cli/element/element.hpp"
#include "cli/pool/describe.hpp"
#include "cli/terminal/printable.hpp"
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

std::optional<nlohmann::ordered_json> attribute_of(const PMEM& pmem, const std::string& id,
                                                   std::string_view name) {
    std::optional<nlohmann::ordered_json> found;
    try {
        pmem.get_attribute_encoded(
            id, name, [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                if (is_readable(type, serializer))
                    found = nlohmann::ordered_json::parse(dump(value_json(type, bytes)));
            });
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
    }
    return found;
}

std::string text_attribute_of(const PMEM& pmem, const std::string& id, std::string_view name) {
    const auto found = attribute_of(pmem, id, name);
    return found && found->is_string() ? printable(found->get<std::string>()) : "";
}

std::optional<TimeSince> times_of(const PMEM& pmem, const Info& variable) {
    const bool is_list = variable.kind == VariableKind::value &&
                         (variable.type.kind() == Kind::sequence || variable.type.kind() == Kind::array);
    const Type& type = is_list ? variable.type.element() : variable.type;
    return TimeSince::of(unit_of(pmem, variable.id), text_attribute_of(pmem, variable.id, "calendar"), type);
}

}  // namespace pmemcpy::cli
