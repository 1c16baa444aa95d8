// A Zarr directory into a pool: groups as groups, arrays as arrays, those without dimensions as values.

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "exchange/formats.hpp"
#include "exchange/kernel_error.hpp"
#include "exchange/origin.hpp"
#include "exchange/zarr/array.hpp"
#include "exchange/zarr/attribute.hpp"
#include "exchange/zarr/json.hpp"
#include "exchange/zarr/metadata.hpp"

namespace pmemcpy::exchange {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_path = 4096;  // of a pool

std::string below(const std::string& group, const std::string& name) {
    return group.empty() ? name : group + "/" + name;
}

bool is_number(const Type& type) { return type.kind() >= Kind::int8 && type.kind() <= Kind::float64; }

class ZarrReader {
public:
    ZarrReader(std::string store, Intake& intake) : store_(std::move(store)), intake_(intake) {}

    void read() {
        while (store_.size() > 1 && store_.ends_with('/')) store_.pop_back();
        list("", true);
        if (nodes_.empty())
            throw Error(Code::corrupt, store_ + " is no Zarr: there is no zarr.json and no .zgroup in it");
        for (const Node& node : nodes_) {
            if (node.kind == Kind::array) expect(node);
        }
        for (const Node& node : nodes_) {
            if (intake_.takes(node.path)) node.kind == Kind::array ? read_array(node) : read_group(node);
        }
    }

private:
    enum class Kind { group, implicit, array };
    struct Node {
        std::string path;
        Kind kind;
        bool is_v2 = false;
        ZarrDocument document{};  // of an array always that of Zarr 3
    };

    std::string folder(const std::string& path) const { return path.empty() ? store_ : store_ + "/" + path; }
    std::string place(const std::string& path) const { return store_ + ": " + (path.empty() ? "/" : path); }
    bool list(const std::string& path, bool is_root);
    std::optional<Node> node_at(const std::string& path) const;
    bool list_inside(const std::string& path, bool is_known);
    bool is_new(const std::string& path);
    ZarrDocument attributes_of_v2(const std::string& path, Json document) const;
    void expect(const Node& node);
    void read_group(const Node& node);
    void read_array(const Node& node);
    void read_rest(const Node& node, const std::string& path, const ZarrArray& array, Json origin);
    /// Calls go() with Errors that say where it was.
    template <class Go>
    auto at(const std::string& path, Go&& go) const {
        try {
            return go();
        } catch (const Error& error) {
            throw Error(error.kind(), place(path) + ": " + error.what());
        } catch (const Json::exception& error) {
            throw Error(Code::corrupt, place(path) + ": " + error.what());
        }
    }

    std::string store_;
    Intake& intake_;
    std::vector<Node> nodes_;  // each group before what is in it
    std::set<std::pair<std::uint64_t, std::uint64_t>>
        seen_;  // folders, which links may lead to again and again
};

bool ZarrReader::is_new(const std::string& path) {
    struct stat status {};
    if (::stat(folder(path).c_str(), &status) != 0) fail_kernel("cannot read " + folder(path), errno);
    return seen_.insert({status.st_dev, status.st_ino}).second;
}

std::optional<ZarrReader::Node> ZarrReader::node_at(const std::string& path) const {
    const std::string in = folder(path) + "/";
    std::error_code error;
    if (fs::exists(in + "zarr.json", error)) {
        Node node{path, Kind::group, false, read_zarr_document(in + "zarr.json")};
        const Json type = node.document.json.value("node_type", Json());
        if (node.document.json.value("zarr_format", Json()) != 3 || (type != "group" && type != "array"))
            throw Error(
                Code::corrupt,
                place(path) + ": its zarr.json is neither of a group nor of an array of zarr_format 3");
        if (type == "array") node.kind = Kind::array;
        return node;
    }
    const bool is_array = fs::exists(in + ".zarray", error);
    if (!is_array && !fs::exists(in + ".zgroup", error)) return {};
    return at(path, [&] {
        Node node{path, is_array ? Kind::array : Kind::group, true, {}};
        Json json = read_zarr_document(in + (is_array ? ".zarray" : ".zgroup"), true).json;
        if (is_array) json = zarr_document_of_v2(json);
        if (!is_array && json.value("zarr_format", Json()) != 2)
            throw Error(Code::corrupt, "its .zgroup is not of zarr_format 2");
        if (fs::exists(in + ".zattrs")) {
            node.document = read_zarr_document(in + ".zattrs", true);
            json["attributes"] = std::move(node.document.json);
        }
        node.document.json = std::move(json);
        return std::optional(std::move(node));
    });
}

// Whether there is a node at that path, or in a folder below it.
bool ZarrReader::list(const std::string& path, bool is_root) {
    if (path.size() > longest_path) {
        intake_.warn(path.substr(0, 80) + "...", "a path of more than 4096 bytes; not imported");
        return true;
    }
    if (!is_new(path)) {
        intake_.warn(path, "another name of a folder that there was before; not imported again");
        return true;
    }
    std::optional<Node> node = node_at(path);
    if (node && node->kind == Kind::array) {
        nodes_.push_back(std::move(*node));
        return true;
    }
    // A folder of groups without a document of its own is a group, too.
    const bool is_known = node.has_value();
    const std::size_t first = nodes_.size();
    nodes_.push_back(is_known ? std::move(*node) : Node{path, Kind::implicit, false, {}});
    if (list_inside(path, is_known) || is_known) return true;
    nodes_.resize(first);
    if (!is_root) intake_.warn(path, "a folder that is nothing of Zarr; not imported");
    return false;
}

bool ZarrReader::list_inside(const std::string& path, bool is_known) {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator entry(folder(path), error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error))
        names.push_back(entry->path().filename().string());
    if (error) fail_kernel("cannot read " + folder(path), error.value());
    std::sort(names.begin(), names.end());
    bool has_nodes = false;
    for (const std::string& name : names) {
        constexpr std::array own = {"zarr.json", ".zgroup", ".zattrs", ".zmetadata"};
        if (std::find(own.begin(), own.end(), name) != own.end()) continue;
        const std::string inner = below(path, name);
        if (fs::is_directory(folder(inner), error)) {
            has_nodes = list(inner, false) || has_nodes;
        } else if (is_known) {
            intake_.warn(inner, "a file that is nothing of Zarr; not imported");
        }
    }
    return has_nodes;
}

void ZarrReader::expect(const Node& node) {
    at(node.path, [&] {
        const ZarrArray array(node.document.json);
        std::uint64_t bytes = array.shape.elements();
        if (__builtin_mul_overflow(bytes, std::max<std::uint64_t>(array.element.type.size(), 1), &bytes))
            throw Error(Code::unsupported,
                        "it has more than 2^64 bytes: " + to_string(array.shape) + " elements");
        intake_.expect(bytes);
    });
}

void ZarrReader::read_group(const Node& node) {
    intake_.group(node.path);
    Json origin = {{"from", "zarr"}};
    if (node.kind == Kind::implicit) {
        origin["implicit"] = true;
        return intake_.origin(node.path, origin);
    }
    const Json& json = node.document.json;
    const Json attributes = json.value("attributes", Json::object());
    if (!attributes.is_object())
        throw Error(Code::corrupt, place(node.path) + ": its attributes are no object");
    for (const auto& [name, value] : json.items()) {
        if (name == "zarr_format" || name == "node_type" || name == "attributes") continue;
        if (!value.is_object() || value.value("must_understand", Json()) != false) {
            throw Error(Code::unsupported,
                        place(node.path) + ": its metadata have " + name + ", which is not known here");
        }
        origin["group"][name] = value;
    }
    read_zarr_attributes(node.path, attributes, node.document, intake_);
    if (json.contains("attributes")) origin["attributes"] = node.document.attributes;
    intake_.origin(node.path, origin);
}

void ZarrReader::read_array(const Node& node) {
    const Json& json = node.document.json;
    const ZarrArray array = at(node.path, [&] { return ZarrArray(json); });
    Json origin = {{"from", "zarr"}, {"array", zarr_rest_of(json)}};
    std::string path = node.path;
    if (path.empty()) {  // the store is an array: it is named after it
        path = fs::weakly_canonical(store_).stem();
        intake_.group("");
        origin["is_root"] = true;
    }
    if (!array.element.note.empty()) intake_.warn(path, array.element.note);
    ZarrArrayReader(folder(node.path), place(node.path), path, array, intake_).read();
    read_rest(node, path, array, std::move(origin));
}

void ZarrReader::read_rest(const Node& node, const std::string& path, const ZarrArray& array, Json origin) {
    Json attributes = node.document.json.value("attributes", Json::object());
    if (!attributes.is_object())
        throw Error(Code::corrupt, place(node.path) + ": its attributes are no object");
    const bool is_of_xarray = node.is_v2 && attributes.contains(std::string(dimensions_attribute));
    std::vector<std::string> names = array.pool_names();
    // Zarr 2 has no other place for the names of dimensions, and xarray this one.
    const Json listed = attributes.value(dimensions_attribute, Json());
    const bool is_listed =
        names.empty() && array.names.empty() && listed.is_array() && !listed.empty() &&
        static_cast<int>(listed.size()) == array.shape.size() &&
        std::all_of(listed.begin(), listed.end(), [](const Json& name) { return name.is_string(); });
    if (is_listed) {
        names = listed.get<std::vector<std::string>>();
        if (!node.is_v2) origin["names_in_attribute"] = true;
    }
    if (is_listed || (node.is_v2 && listed == Json::array()))
        attributes.erase(std::string(dimensions_attribute));
    if (!names.empty()) intake_.dimensions(path, names);
    if (read_xarray_fill(path, array.element.type, attributes, intake_)) {
        origin["xarray_fill"] = true;
        attributes.erase("_FillValue");
    }
    // What xarray writes into Zarr 2 it masks by the fill value, which in a pool, as in NetCDF, is an attribute.
    if (is_of_xarray && !array.has_no_fill && is_number(array.element.type) &&
        !attributes.contains("_FillValue")) {
        intake_.attribute(path, "_FillValue", array.element.type, array.fill);
        origin["xarray_fill"] = true;
    }
    read_zarr_attributes(path, attributes, node.document, intake_);
    if (node.document.json.contains("attributes")) origin["attributes"] = node.document.attributes;
    intake_.origin(path, origin);
}

}  // namespace

void read_zarr(const std::string& path, Intake& intake) { ZarrReader(path, intake).read(); }

}  // namespace pmemcpy::exchange
