// A pool as a Zarr 3 directory: arrays as arrays, values as arrays of no dimensions, groups as groups.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>

#include "exchange/formats.hpp"
#include "exchange/in_order.hpp"
#include "exchange/kernel_error.hpp"
#include "exchange/zarr/array_write.hpp"
#include "exchange/zarr/attribute.hpp"
#include "exchange/zarr/json.hpp"
#include "exchange/zarr/output.hpp"
#include "exchange/zarr/plan.hpp"

namespace pmemcpy::exchange {

namespace {

namespace fs = std::filesystem;

class ZarrWriter {
public:
    ZarrWriter(std::string store, Holding& holding) : store_(std::move(store)), holding_(holding) {}

    void write() {
        make_zarr_folder(store_);
        const std::vector<Variable>& variables = holding_.variables();
        // An array that was a store of its own is one again, if it is alone.
        if (variables.size() == 1 && holding_.groups().size() == 1 && holding_.attributes("").empty() &&
            variables[0].origin.is_object() && variables[0].origin.value("is_root", Json()) == true)
            return write_variable(variables[0], "");
        for (const std::string& group : holding_.groups()) write_group(group);
        for (const Variable& variable : variables) {
            try {
                check_name(variable.path);
                write_variable(variable, variable.path);
            } catch (const Error& error) {
                if (error.kind() != Code::unsupported) throw;
                holding_.warn(variable.path, std::string(error.what()) + "; not exported");
                std::error_code ignored;
                fs::remove_all(folder(variable.path), ignored);
            }
        }
    }

private:
    std::string folder(const std::string& path) const { return path.empty() ? store_ : store_ + "/" + path; }
    void check_name(const std::string& path) const;
    void write_group(const std::string& path);
    void write_variable(const Variable& variable, const std::string& path);
    void write_document(const std::string& path, const nlohmann::ordered_json& document) const {
        const std::string text = text_of_zarr(document);
        ZarrOutput(folder(path) + "/zarr.json").write(0, std::as_bytes(std::span(text)));
    }

    std::string store_;
    Holding& holding_;
    std::set<std::string> left_out_;  // groups
};

// What a name must not be so that nobody takes it for something of Zarr's own. A pool has no names such as "..".
void ZarrWriter::check_name(const std::string& path) const {
    const std::string name = last_of(path);
    if (left_out_.contains(group_of(path))) throw Error(Code::unsupported, "in a group that is not exported");
    if (name == "zarr.json" || name.starts_with("__") || name.find_first_not_of('.') == std::string::npos)
        throw Error(Code::unsupported, "Zarr keeps such names for itself");
}

void ZarrWriter::write_group(const std::string& path) {
    if (!path.empty()) {
        try {
            check_name(path);
        } catch (const Error& error) {
            holding_.warn(path, std::string(error.what()) + "; not exported");
            left_out_.insert(path);
            return;
        }
        make_zarr_folder(folder(path));
        holding_.count_group();
    }
    Json origin = holding_.origin(path);
    const bool is_ours = origin.is_object() && origin.value("from", Json()) == "zarr";
    if (!is_ours) origin = Json::object();
    const Json order = origin.value("attributes", Json());
    nlohmann::ordered_json attributes = zarr_attributes(path, order, nullptr, holding_);
    if (origin.value("implicit", Json()) == true && attributes.empty()) return;
    nlohmann::ordered_json document;
    if (!attributes.empty() || !is_ours || order.is_array()) document["attributes"] = std::move(attributes);
    document["zarr_format"] = 3;
    document["node_type"] = "group";
    const Json rest = origin.value("group", Json::object());
    for (const auto& [name, value] : rest.items()) document[name] = value;
    write_document(path, document);
}

void ZarrWriter::write_variable(const Variable& variable, const std::string& path) {
    ZarrArrayWriter writer(variable, holding_);
    const ZarrPlan& plan = writer.plan();
    if (!plan.note.empty()) holding_.warn(variable.path, plan.note);
    make_zarr_folder(folder(path));
    const bool is_ours = variable.origin.is_object() && variable.origin.value("from", Json()) == "zarr";
    const Json origin = is_ours ? variable.origin : Json::object();
    const Json order = origin.value("attributes", Json());
    // As zarr-python orders them.
    constexpr std::array members = {"shape",       "data_type", "chunk_grid", "chunk_key_encoding",
                                    "fill_value",  "codecs",    "attributes", "dimension_names",
                                    "zarr_format", "node_type"};
    nlohmann::ordered_json attributes = zarr_attributes(variable.path, order, &variable, holding_), document;
    if (origin.value("names_in_attribute", Json()) == true && !variable.dimensions.empty())
        attributes["_ARRAY_DIMENSIONS"] = variable.dimensions;
    for (const char* name : members) {
        if (std::string_view(name) == "attributes") {
            if (!attributes.empty() || !is_ours || order.is_array()) document[name] = attributes;
        } else if (plan.document.contains(name)) {
            document[name] = plan.document[name];
        }
    }
    for (const auto& [name, value] : plan.document.items()) {
        if (!document.contains(name)) document[name] = value;
    }
    writer.write(folder(path));
    write_document(path, document);
    holding_.count_variable();
}

}  // namespace

void write_zarr(const std::string& path, Holding& holding) { ZarrWriter(path, holding).write(); }

}  // namespace pmemcpy::exchange
