// A pool as NetCDF: arrays as variables, the names of their dimensions as dimensions, values as variables without any.

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "exchange/formats.hpp"
#include "exchange/in_order.hpp"
#include "exchange/netcdf/attribute.hpp"
#include "exchange/netcdf/dimensions.hpp"
#include "exchange/netcdf/diverted.hpp"
#include "exchange/netcdf/file.hpp"
#include "exchange/netcdf/type.hpp"

namespace pmemcpy::exchange {

namespace {

using Json = nlohmann::json;
using Model = NetcdfTypes::Model;

struct FileKind {  // what a file of one format can hold
    int flags;
    Model model;
    const char* name;
};

FileKind kind_of(const Json& origin, bool classic) {
    const std::string was =
        origin.is_object() && origin.value("from", "") == "netcdf" ? origin.value("format", "") : "";
    if (classic || was == "cdf5") return {NC_64BIT_DATA, Model::cdf5, "CDF-5"};
    if (was == "classic") return {0, Model::classic, "classic NetCDF"};
    if (was == "64-bit offset")
        return {NC_64BIT_OFFSET, Model::classic, "classic NetCDF with 64-bit offsets"};
    if (was == "netcdf4 classic")
        return {NC_NETCDF4 | NC_CLASSIC_MODEL, Model::classic, "NetCDF-4 of the classic model"};
    return {NC_NETCDF4, Model::netcdf4, "NetCDF-4"};
}

class NetcdfWriter {
public:
    NetcdfWriter(const std::string& file, Holding& holding, bool classic)
        : name_(file),
          holding_(holding),
          kind_(kind_of(holding.origin(""), classic)),
          file_(created(file, kind_.flags)),
          types_(file_, kind_.model),
          attributes_(file, holding, types_, kind_.model == Model::netcdf4),
          dimensions_(file, holding, kind_.model != Model::netcdf4) {}

    void write() {
        for (const std::string& group : holding_.groups()) define_group(group);
        for (const std::string& group : holding_.groups()) define_variables(group);
        at("")(nc_enddef(file_));
        for (const Defined& variable : defined_)
            variable.rows ? write_rows(variable) : write_variable(variable);
        at("")(nc_sync(file_));  // a close that fails would leave HDF5 half a file, and a signal at exit
        at("")(file_.close());
    }

private:
    struct Defined {
        const Variable* variable;
        int group;
        int id;
        NetcdfElement element;
        std::uint64_t width = 0;       // of text that has a dimension of characters
        bool is_string = false;        // of NetCDF-4's own text
        std::optional<Datum> value{};  // of what is no array
        bool rows = false;
        std::string path{};
    };

    static int created(const std::string& file, int flags) {
        int id = -1;
        NetcdfCheck(Code::io_error, file)(nc_create(file.c_str(), flags | NC_NOCLOBBER, &id));
        return id;
    }
    NetcdfCheck at(const std::string& path) const {
        return {Code::io_error, name_ + ": " + (path.empty() ? "/" : path)};
    }

    void define_group(const std::string& path);
    void define_variables(const std::string& group);
    void define(const Variable& variable);
    bool define_rows(const std::string& path, const Json& origin);
    void define_array(const Variable& variable, Defined& defined);
    void define_value(const Variable& variable, Defined& defined);
    int dimension(const std::string& group, const std::string& name, std::size_t length, bool is_unlimited,
                  const std::string& who) {
        return dimensions_.find(group, groups_.at(group), name, length, is_unlimited, who);
    }
    static std::string name_of_dimension(const Variable& variable, int d);
    void define_storage(const Variable& variable, const Defined& defined) const;
    void write_variable(const Defined& defined);
    void write_rows(const Defined& defined);
    void put(const Defined& defined, const Box& box, std::span<const std::byte> bytes,
             std::vector<std::byte>& room) const;

    std::string name_;
    Holding& holding_;
    FileKind kind_;
    NetcdfFile file_;
    NetcdfTypes types_;
    NetcdfAttributes attributes_;
    NetcdfDimensions dimensions_;
    std::map<std::string, int> groups_;
    std::set<std::string> rows_;  // groups that stand for rows of any length
    std::vector<Defined> defined_;
};

void NetcdfWriter::define_group(const std::string& path) {
    const Json origin = holding_.origin(path);
    if (origin.is_object() && origin.contains("rows")) {
        rows_.insert(path);
        return;
    }
    int id = file_;
    if (!path.empty()) {
        if (kind_.model != Model::netcdf4) {
            throw Error(Code::unsupported, std::string(kind_.name) + " has no groups such as '" + path +
                                               "'; export one group, or as NetCDF-4");
        }
        at(path)(nc_def_grp(groups_.at(group_of(path)), last_of(path).c_str(), &id));
        holding_.count_group();
    }
    groups_[path] = id;
    if (!origin.is_object() || origin.value("from", "") != "netcdf") return;
    for (const auto& known : origin.value("dimensions", Json::array())) {
        if (!known.is_array() || known.size() != 2 || !known[0].is_string()) continue;
        const bool grows = !known[1].is_number_unsigned();
        dimensions_.define(path, id, known[0].get<std::string>(), grows ? 0 : known[1].get<std::size_t>(),
                           grows, path);
    }
}

// Without a name in the pool: one for each length.
std::string NetcdfWriter::name_of_dimension(const Variable& variable, int d) {
    if (!variable.dimensions.empty()) return variable.dimensions[static_cast<std::size_t>(d)];
    const bool grows = d == 0 && variable.info.is_unlimited;
    return grows ? "unlimited" : "dim_" + std::to_string(variable.info.dims[d]);
}

void NetcdfWriter::define_variables(const std::string& group) {
    const Json origin = holding_.origin(group);
    if (rows_.contains(group)) {
        if (!define_rows(group, origin)) {
            throw Error(
                Code::corrupt,
                group + ": its values and offsets are no rows any more; remove the attribute _exchange");
        }
        return;
    }
    std::vector<const Variable*> own;
    for (const Variable& variable : holding_.variables()) {
        if (group_of(variable.path) == group) own.push_back(&variable);
    }
    put_in_order(own, origin.is_object() ? origin.value("variables", Json()) : Json(),
                 [](const Variable* variable) { return last_of(variable->path); });
    for (const Variable* variable : own) {
        try {
            define(*variable);
            holding_.count_variable();
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;
            holding_.warn(variable->path, std::string(error.what()) + "; not exported");
        }
    }
    attributes_.write(group, groups_.at(group), NC_GLOBAL, origin, nullptr);
}

void NetcdfWriter::define(const Variable& variable) {
    Defined defined{.variable = &variable,
                    .group = groups_.at(group_of(variable.path)),
                    .id = -1,
                    .element = {},
                    .path = variable.path};
    if (variable.info.kind == VariableKind::array) {
        define_array(variable, defined);
    } else {
        define_value(variable, defined);
    }
    define_storage(variable, defined);
    defined_.push_back(std::move(defined));
    const Defined& last = defined_.back();
    attributes_.write(variable.path, last.group, last.id, variable.origin, &last.element);
}

void NetcdfWriter::define_array(const Variable& variable, Defined& defined) {
    const Info& info = variable.info;
    const std::string name = last_of(variable.path);
    const Json origin = variable.origin.is_object() ? variable.origin : Json::object();
    const bool is_wide = info.type.kind() == Kind::fixed_string && info.type.size() > 1;
    defined.is_string =
        kind_.model == Model::netcdf4 &&
        (is_wide || (info.type.kind() == Kind::fixed_string && origin.value("text", "") == "any length"));
    if (defined.is_string) {
        defined.element.type = NC_STRING;
    } else {
        defined.element = types_.of(info.type, origin.value("type", name + "_type"));
    }
    std::vector<int> ids;
    for (int d = 0; d < info.dims.size(); ++d) {
        const bool grows = d == 0 && info.is_unlimited;
        ids.push_back(dimension(group_of(variable.path), name_of_dimension(variable, d), info.dims[d], grows,
                                variable.path));
    }
    if (is_wide && !defined.is_string) {
        defined.width = info.type.size();
        ids.push_back(dimension(group_of(variable.path), "string" + std::to_string(defined.width),
                                defined.width, false, variable.path));
    }
    if (!defined.element.note.empty()) holding_.warn(variable.path, defined.element.note);
    at(variable.path)(nc_def_var(defined.group, name.c_str(), defined.element.type,
                                 static_cast<int>(ids.size()), ids.data(), &defined.id));
}

void NetcdfWriter::define_value(const Variable& variable, Defined& defined) {
    const std::string name = last_of(variable.path);
    defined.value = holding_.value(variable);
    const Datum& datum = *defined.value;
    std::vector<int> ids;
    if (datum.is_text() || datum.is_json()) {
        if (datum.is_json()) holding_.warn(variable.path, "a structure of JSON; it becomes text");
        if (kind_.model == Model::netcdf4) {
            defined.is_string = true;
            defined.element.type = NC_STRING;
        } else {
            defined.element.type = NC_CHAR;
            defined.width = datum.bytes.size();
            ids.push_back(dimension(group_of(variable.path), name + "_length", datum.bytes.size(), false,
                                    variable.path));
        }
    } else if (datum.is_plain()) {
        defined.element = types_.of(datum.element(), name + "_type");
        for (const Extent extent : datum.shape()) {
            ids.push_back(dimension(group_of(variable.path), "dim_" + std::to_string(extent), extent, false,
                                    variable.path));
        }
        if (datum.element().kind() == Kind::fixed_string && datum.element().size() > 1) {
            defined.width = datum.element().size();
            ids.push_back(dimension(group_of(variable.path), "string" + std::to_string(defined.width),
                                    defined.width, false, variable.path));
        }
    } else {
        throw Error(Code::unsupported, "a " + datum.type.name() + " stored by " +
                                           pmemcpy::name_of(datum.serializer) +
                                           ", which only a program that knows it can read");
    }
    if (!defined.element.note.empty()) holding_.warn(variable.path, defined.element.note);
    at(variable.path)(nc_def_var(defined.group, name.c_str(), defined.element.type,
                                 static_cast<int>(ids.size()), ids.data(), &defined.id));
}

bool NetcdfWriter::define_rows(const std::string& path, const Json& origin) {
    const Variable* values = holding_.find(path + "/values");
    const Variable* offsets = holding_.find(path + "/offsets");
    if (kind_.model != Model::netcdf4 || values == nullptr || offsets == nullptr ||
        !origin["rows"].is_array() || values->info.dims.size() != 1 || offsets->info.dims.size() != 1 ||
        offsets->info.type != type_of<std::int64_t>())
        return false;
    Defined defined{
        .variable = values, .group = groups_.at(group_of(path)), .id = -1, .element = {}, .path = path};
    defined.rows = true;
    const std::string name = last_of(path);
    defined.element = types_.of(values->info.type, name + "_element");
    const nc_type rows = types_.rows_of(defined.element.type, origin.value("type", name + "_type"));
    const Json names = origin.value("names", Json::array());
    std::vector<int> ids;
    Extent elements = 1;
    for (std::size_t d = 0; d < origin["rows"].size(); ++d) {
        if (!origin["rows"][d].is_number_unsigned()) return false;
        const auto extent = origin["rows"][d].get<Extent>();
        elements *= extent;
        const std::string dimension_name = d < names.size() && names[d].is_string()
                                               ? names[d].get<std::string>()
                                               : "dim_" + std::to_string(extent);
        ids.push_back(dimension(group_of(path), dimension_name, extent, false, path));
    }
    if (offsets->info.dims[0] != elements + 1) return false;
    at(path)(
        nc_def_var(defined.group, name.c_str(), rows, static_cast<int>(ids.size()), ids.data(), &defined.id));
    defined_.push_back(std::move(defined));
    holding_.count_variable();
    attributes_.write(path, defined_.back().group, defined_.back().id, origin, nullptr);
    return true;
}

void NetcdfWriter::define_storage(const Variable& variable, const Defined& defined) const {
    if ((kind_.flags & NC_NETCDF4) == 0 || !variable.origin.is_object() ||
        variable.origin.value("from", "") != "netcdf")
        return;
    const NetcdfCheck check = at(variable.path);
    const auto chunks = variable.origin.value("chunks", std::vector<std::size_t>());
    if (!chunks.empty() && static_cast<int>(chunks.size()) == variable.info.dims.size() &&
        std::find(chunks.begin(), chunks.end(), 0) == chunks.end())
        check(nc_def_var_chunking(defined.group, defined.id, NC_CHUNKED, chunks.data()));
    const bool shuffles = variable.origin.value("shuffle", false);
    if (variable.origin.contains("deflate") || shuffles) {
        const int level = variable.origin.value("deflate", 0);
        check(nc_def_var_deflate(defined.group, defined.id, shuffles ? 1 : 0, level > 0 ? 1 : 0,
                                 std::clamp(level, 0, 9)));
    }
    if (variable.origin.value("fletcher32", false))
        check(nc_def_var_fletcher32(defined.group, defined.id, NC_FLETCHER32));
    if (variable.origin.value("endian", "") == "big" || defined.element.is_big_endian)
        check(nc_def_var_endian(defined.group, defined.id, NC_ENDIAN_BIG));
}

void NetcdfWriter::write_variable(const Defined& defined) {
    std::vector<std::byte> room;
    if (defined.value) {
        const Datum& datum = *defined.value;
        const Dimensions shape = datum.is_text() || datum.is_json() ? Dimensions{} : datum.shape();
        if (!datum.bytes.empty() || defined.is_string) put(defined, Box::whole(shape), datum.bytes, room);
        return;
    }
    const Info& info = defined.variable->info;
    if (info.blocks == 0 && info.fill_value.empty()) return;
    Dimensions chunk;
    if (defined.variable->origin.is_object()) {
        const auto chunks = defined.variable->origin.value("chunks", std::vector<Extent>());
        if (static_cast<int>(chunks.size()) == info.dims.size())
            chunk = Dimensions(std::span<const Extent>(chunks));
    }
    holding_.each_piece(*defined.variable, chunk, [&](const Box& box, std::span<const std::byte> bytes) {
        put(defined, box, bytes, room);
    });
}

void NetcdfWriter::put(const Defined& defined, const Box& box, std::span<const std::byte> bytes,
                       std::vector<std::byte>& room) const {
    std::vector<std::size_t> first(box.offset.begin(), box.offset.end()),
        count(box.count.begin(), box.count.end());
    const NetcdfCheck check = at(defined.path);
    if (defined.is_string) {
        const std::uint64_t width = defined.value ? bytes.size() : defined.variable->info.type.size();
        std::vector<std::string> texts;
        for (Extent i = 0; i < box.elements(); ++i) {
            const auto* text = reinterpret_cast<const char*>(bytes.data() + i * width);
            texts.emplace_back(text, strnlen(text, width));
        }
        std::vector<const char*> pointers;
        pointers.reserve(texts.size());
        for (const std::string& text : texts) pointers.push_back(text.c_str());
        return check(
            nc_put_vara_string(defined.group, defined.id, first.data(), count.data(), pointers.data()));
    }
    if (defined.width > 0) {
        first.push_back(0);
        count.push_back(defined.width);
    }
    const void* data = bytes.data();
    if (defined.element.convert) {
        defined.element.convert(bytes, room);
        data = room.data();
    }
    check(nc_put_vara(defined.group, defined.id, first.data(), count.data(), data));
}

void NetcdfWriter::write_rows(const Defined& defined) {
    const Variable& values = *defined.variable;
    const Variable& offsets = *holding_.find(defined.path + "/offsets");
    std::vector<std::int64_t> ends(offsets.info.dims[0]);
    holding_.load(offsets, ends.data(), Box::whole(offsets.info.dims));
    std::vector<std::byte> bytes(values.info.bytes), room;
    if (!bytes.empty()) holding_.load(values, bytes.data(), Box::whole(values.info.dims));
    if (defined.element.convert) {
        defined.element.convert(bytes, room);
        bytes.swap(room);
    }
    const std::uint64_t size = values.info.type.size();
    std::vector<nc_vlen_t> rows(ends.size() - 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (ends[i] < 0 || ends[i + 1] < ends[i] || static_cast<Extent>(ends[i + 1]) > values.info.dims[0])
            throw Error(Code::corrupt,
                        defined.path + "/offsets: row " + std::to_string(i) + " is none of the values");
        rows[i] = {static_cast<std::size_t>(ends[i + 1] - ends[i]),
                   bytes.data() + static_cast<std::size_t>(ends[i]) * size};
    }
    if (!rows.empty()) at(defined.path)(nc_put_var(defined.group, defined.id, rows.data()));
}

}  // namespace

void write_netcdf(const std::string& path, Holding& holding, bool classic) {
    NetcdfWriter writer(path, holding, classic);
    try {
        writer.write();
    } catch (...) {
        give_up_writing(path);
    }
}

}  // namespace pmemcpy::exchange
