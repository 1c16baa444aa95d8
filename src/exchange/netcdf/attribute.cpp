#include "exchange/netcdf/attribute.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "exchange/in_order.hpp"

namespace pmemcpy::exchange {

using Json = nlohmann::json;

namespace {

/// Whether it was a single text of any length, which NetCDF-4 tells from characters.
bool read_attribute(const std::string& file, const std::string& path, int group, int variable,
                    const std::string& name, Intake& intake) {
    const NetcdfCheck check(Code::corrupt, file + ": " + path + "@" + name);
    nc_type kind = NC_NAT;
    std::size_t n = 0;
    check(nc_inq_att(group, variable, name.c_str(), &kind, &n));
    if (kind == NC_STRING) {
        std::vector<char*> texts(n);
        check(nc_get_att_string(group, variable, name.c_str(), texts.data()));
        std::vector<std::string> copies;
        copies.reserve(n);
        for (const char* text : texts) copies.emplace_back(text == nullptr ? "" : text);
        nc_free_string(n, texts.data());
        if (n == 1) {
            intake.attribute(path, name, std::string_view(copies[0]));
            return true;
        }
        intake.attribute(path, name, Json(copies));
        return false;
    }
    if (kind == NC_CHAR) {
        std::string text(n, '\0');
        check(nc_get_att_text(group, variable, name.c_str(), text.data()));
        intake.attribute(path, name, std::string_view(text));
        return false;
    }
    const Type type = type_of_netcdf(group, kind);
    std::vector<std::byte> bytes(n * type.size());
    check(nc_get_att(group, variable, name.c_str(), bytes.data()));
    intake.attribute(path, name, n == 1 ? type : Type::sequence(type), bytes);
    return false;
}

}  // namespace

Json read_netcdf_attributes(const std::string& file, const std::string& path, int group, int variable, int n,
                            Intake& intake) {
    const NetcdfCheck check(Code::corrupt, file + ": the attributes of " + (path.empty() ? "/" : path));
    Json order = Json::array(), strings = Json::array();
    for (int i = 0; i < n; ++i) {
        std::array<char, NC_MAX_NAME + 1> name{};
        check(nc_inq_attname(group, variable, i, name.data()));
        try {
            if (read_attribute(file, path, group, variable, name.data(), intake))
                strings.push_back(name.data());
            order.push_back(name.data());
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;
            intake.warn(path + "@" + name.data(), std::string(error.what()) + "; not imported");
        }
    }
    Json origin = Json::object();
    if (!std::is_sorted(order.begin(), order.end())) origin["attributes"] = std::move(order);
    if (!strings.empty()) origin["strings"] = std::move(strings);
    return origin;
}

NetcdfAttributes::NetcdfAttributes(std::string file, Holding& holding, NetcdfTypes& types, bool has_strings)
    : file_(std::move(file)), holding_(holding), types_(types), has_strings_(has_strings) {}

void NetcdfAttributes::write(const std::string& path, int group, int id, const Json& origin,
                             const NetcdfElement* element) {
    std::vector<Datum> all = holding_.attributes(path);
    const Json known = origin.is_object() ? origin : Json::object();
    put_in_order(all, known.value("attributes", Json()), [](const Datum& datum) { return datum.name; });
    const Json strings = known.value("strings", Json::array());
    bool has_units = false;
    for (const Datum& datum : all) {
        has_units = has_units || datum.name == "units";
        try {
            write_one(path, group, id, datum,
                      std::find(strings.begin(), strings.end(), datum.name) != strings.end(), element);
            holding_.count_attribute();
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;
            holding_.warn(path + "@" + datum.name, std::string(error.what()) + "; not exported");
        }
    }
    if (element == nullptr) return;
    if (element->is_boolean) write_text(path, group, id, "dtype", "bool", false);
    if (!element->units.empty() && !has_units) {
        write_text(path, group, id, "units", element->units, false);
        write_text(path, group, id, "calendar", "proleptic_gregorian", false);
    }
}

void NetcdfAttributes::write_one(const std::string& path, int group, int id, const Datum& datum,
                                 bool is_string, const NetcdfElement* element) {
    const std::string shown = path + "@" + datum.name;
    const NetcdfCheck check(Code::unsupported, "it");
    if (datum.is_text()) return write_text(path, group, id, datum.name, datum.text(), is_string);
    if (datum.is_json()) {
        const Json json = Json::parse(datum.text(), nullptr, false);
        if (json.is_null()) throw Error(Code::unsupported, "null");
        const bool is_list = json.is_array() && std::all_of(json.begin(), json.end(),
                                                            [](const Json& j) { return j.is_string(); });
        if (!is_list || !has_strings_) {
            if (!is_list) holding_.warn(shown, "an attribute that is a structure of JSON becomes text");
            return write_text(path, group, id, datum.name, datum.text(), false);
        }
        const auto texts = json.get<std::vector<std::string>>();
        std::vector<const char*> pointers;
        for (const std::string& text : texts) pointers.push_back(text.c_str());
        return check(nc_put_att_string(group, id, datum.name.c_str(), pointers.size(), pointers.data()));
    }
    if (!datum.is_plain()) {
        throw Error(Code::unsupported, "a " + datum.type.name() + " stored by " +
                                           pmemcpy::name_of(datum.serializer) +
                                           ", which only a program that knows it can read");
    }
    if (datum.element().kind() == Kind::fixed_string) {
        if (datum.shape().empty() || datum.element().size() == 1) {
            std::string text = datum.text();
            return write_text(path, group, id, datum.name, text, false);
        }
        throw Error(Code::unsupported, "a list of text of fixed length");
    }
    if (datum.shape().size() > 1)
        holding_.warn(shown, "an attribute of several dimensions becomes one of one");
    const NetcdfElement own = types_.of(datum.element(), datum.name + "_type");
    if (!own.note.empty()) holding_.warn(shown, own.note);
    std::vector<std::byte> converted;
    own.convert(datum.bytes, converted);
    // Of its variable's type, or NetCDF refuses it.
    if (datum.name == "_FillValue" && element != nullptr && element->type != own.type) {
        throw Error(Code::unsupported,
                    "a " + datum.element().name() + ", which is not the type of the variable");
    }
    check(nc_put_att(group, id, datum.name.c_str(), own.type, datum.shape().elements(), converted.data()));
}

void NetcdfAttributes::write_text(const std::string& path, int group, int id, const std::string& name,
                                  const std::string& text, bool is_string) const {
    const NetcdfCheck check = at(path + "@" + name);
    if (is_string && has_strings_) {
        const char* pointer = text.c_str();
        return check(nc_put_att_string(group, id, name.c_str(), 1, &pointer));
    }
    check(nc_put_att_text(group, id, name.c_str(), text.size(), text.data()));
}

}  // namespace pmemcpy::exchange
