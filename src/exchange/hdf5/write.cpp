// A pool as HDF5: groups as groups, arrays as datasets, values as scalar datasets.

#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "exchange/formats.hpp"
#include "exchange/hdf5/attribute.hpp"
#include "exchange/hdf5/driver.hpp"
#include "exchange/hdf5/origin.hpp"
#include "exchange/hdf5/type.hpp"

namespace pmemcpy::exchange {

namespace {

class Hdf5Writer {
public:
    Hdf5Writer(const std::string& file, Holding& holding) : name_(file), holding_(holding) {
        const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);  // attributes of more than 64 KiB
        driver_.set(access);
        const hid_t created = H5Fcreate(file.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, access);
        driver_.check(file);
        file_ = at("")(created, H5Fclose);
    }

    void write() {
        for (const std::string& group : holding_.groups()) write_group(group);
        for (const Variable& variable : holding_.variables()) {
            if (rows_.contains(group_of(variable.path))) continue;
            write_variable(variable);
        }
        for (const Variable& variable : holding_.variables()) make_scale(variable);
        for (const Variable& variable : holding_.variables()) name_dimensions(variable);
        at("")(H5Fflush(file_, H5F_SCOPE_GLOBAL));
        driver_.check(name_);
    }

private:
    Hdf5Check at(const std::string& path) const {
        return {Code::io_error, name_ + ": " + (path.empty() ? "/" : path)};
    }
    void write_group(const std::string& path);
    bool write_rows(const std::string& path, const nlohmann::json& origin);
    void write_variable(const Variable& variable);
    void write_array(const Variable& variable);
    void write_text(const Variable& variable, hid_t dataset) const;
    void write_value(const Variable& variable);
    Handle create(const std::string& path, hid_t type, hid_t space, hid_t list = H5P_DEFAULT) const;
    void write_attributes(const std::string& path, hid_t object);
    void make_scale(const Variable& variable);
    void name_dimensions(const Variable& variable);
    bool is_scale(const Variable& variable) const;
    const Variable* scale_of(const std::string& path, const std::string& name, Extent extent) const;

    std::string name_;
    Holding& holding_;
    Hdf5Driver driver_;
    Handle file_;
    std::set<std::string> rows_;  // groups that stand for rows of any length
};

Handle Hdf5Writer::create(const std::string& path, hid_t type, hid_t space, hid_t list) const {
    return at(path)(H5Dcreate2(file_, path.c_str(), type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
}

void Hdf5Writer::write_group(const std::string& path) {
    const nlohmann::json origin = holding_.origin(path);
    if (origin.is_object() && origin.contains("rows") && write_rows(path, origin)) return;
    Handle group;
    if (path.empty()) {
        group = at(path)(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose);
    } else {
        group = at(path)(H5Gcreate2(file_, path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        holding_.count_group();
    }
    write_attributes(path, group);
}

// What read_rows() has made of rows of any length. False if somebody has changed it so that it is none any more.
bool Hdf5Writer::write_rows(const std::string& path, const nlohmann::json& origin) {
    const Variable* values = holding_.find(path + "/values");
    const Variable* offsets = holding_.find(path + "/offsets");
    std::vector<hsize_t> shape;
    for (const auto& extent : origin["rows"])
        shape.push_back(extent.is_number_unsigned() ? extent.get<hsize_t>() : 0);
    if (values == nullptr || offsets == nullptr || values->info.dims.size() != 1 ||
        offsets->info.dims.size() != 1 || offsets->info.type != type_of<std::int64_t>())
        return false;
    Dimensions dims{std::span<const Extent>(std::vector<Extent>(shape.begin(), shape.end()))};
    const Extent rows = dims.elements();
    if (offsets->info.dims[0] != rows + 1) return false;
    std::vector<std::int64_t> ends(rows + 1);
    holding_.load(*offsets, ends.data(), Box{{0}, {rows + 1}});
    std::vector<std::byte> bytes(values->info.bytes);
    if (!bytes.empty()) holding_.load(*values, bytes.data(), Box::whole(values->info.dims));
    std::vector<hvl_t> all(rows);
    const std::uint64_t size = values->info.type.size();
    for (Extent row = 0; row < rows; ++row) {
        const std::int64_t first = ends[row], end = ends[row + 1];
        if (first < 0 || end < first || static_cast<Extent>(end) > values->info.dims[0]) return false;
        all[row] = {static_cast<std::size_t>(end - first),
                    bytes.data() + static_cast<std::size_t>(first) * size};
    }
    const Handle element = hdf5_type_of(values->info.type);
    const Handle type(H5Tvlen_create(element), H5Tclose);
    const Handle space(shape.empty()
                           ? H5Screate(H5S_SCALAR)
                           : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                       H5Sclose);
    const Handle dataset = create(path, type, space);
    if (rows > 0) at(path)(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()));
    write_attributes(path, dataset);
    rows_.insert(path);
    holding_.count_variable();
    return true;
}

void Hdf5Writer::write_variable(const Variable& variable) {
    try {
        if (variable.info.kind == VariableKind::array) {
            write_array(variable);
        } else {
            write_value(variable);
        }
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported) throw;
        return holding_.warn(variable.path, std::string(error.what()) + "; not exported");
    }
    holding_.count_variable();
    const Handle dataset = at(variable.path)(H5Dopen2(file_, variable.path.c_str(), H5P_DEFAULT), H5Dclose);
    write_attributes(variable.path, dataset);
}

void Hdf5Writer::write_array(const Variable& variable) {
    const Info& info = variable.info;
    const nlohmann::json origin = variable.origin.is_object() ? variable.origin : nlohmann::json::object();
    const Hdf5Check check = at(variable.path);
    const std::vector<hsize_t> dims(info.dims.begin(), info.dims.end());
    const int n = info.dims.size();
    std::vector<hsize_t> most = dims;
    if (info.is_unlimited) most[0] = H5S_UNLIMITED;
    if (const auto given = origin.find("maxdims"); given != origin.end() && given->size() == most.size()) {
        for (std::size_t d = 0; d < most.size(); ++d) {
            const auto& extent = (*given)[d];
            most[d] = extent.is_number_unsigned() ? std::max(extent.get<hsize_t>(), dims[d]) : H5S_UNLIMITED;
        }
    }
    const bool is_none = origin.value("space", "") == "null" && info.bytes == 0;
    const Handle space(is_none  ? H5Screate(H5S_NULL)
                       : n == 0 ? H5Screate(H5S_SCALAR)
                                : H5Screate_simple(n, dims.data(), most.data()),
                       H5Sclose);
    const bool is_text = origin.value("text", "") == "any length" && info.type.kind() == Kind::fixed_string;
    Handle type = is_text ? hdf5_text(info.type.is_utf8()) : hdf5_type_of(info.type);
    if (const std::string pad = origin.value("strpad", "");
        !pad.empty() && info.type.kind() == Kind::fixed_string)
        H5Tset_strpad(type, pad == "space" ? H5T_STR_SPACEPAD : H5T_STR_NULLTERM);
    // HDF5 would end a text with a NUL that fills all its bytes, and so take its last one, if it had to make it of another kind.
    const bool is_as_stored =
        info.type.kind() == Kind::fixed_string && H5Tget_strpad(type) == H5T_STR_NULLTERM;
    const Handle stored = is_as_stored ? hdf5_copy_of(type) : hdf5_type_of(info.type);
    const Handle list = hdf5_creation_list(is_none ? nlohmann::json::object() : origin, is_none ? 0 : n,
                                           H5Tget_size(type), most != dims, dims.data());
    if (!info.fill_value.empty() && origin.value("fill", "") != "default" && !is_text)
        check(H5Pset_fill_value(list, stored, info.fill_value.data()));
    const Handle dataset = create(variable.path, type, space, list);
    if (is_none || info.blocks == 0) return;  // where nothing is stored the fill value is what is read
    if (is_text) return write_text(variable, dataset);
    Dimensions chunk;
    if (H5Pget_layout(list) == H5D_CHUNKED) {
        std::array<hsize_t, H5S_MAX_RANK> extents{};
        H5Pget_chunk(list, n, extents.data());
        for (int d = 0; d < n; ++d) chunk.push_back(extents[static_cast<std::size_t>(d)]);
    }
    holding_.each_piece(variable, chunk, [&](const Box& box, std::span<const std::byte> bytes) {
        const std::vector<hsize_t> offset(box.offset.begin(), box.offset.end()),
            count(box.count.begin(), box.count.end());
        Handle room(n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(n, count.data(), nullptr), H5Sclose);
        if (n > 0)
            check(H5Sselect_hyperslab(space, H5S_SELECT_SET, offset.data(), nullptr, count.data(), nullptr));
        check(H5Dwrite(dataset, stored, room, space, H5P_DEFAULT, bytes.data()));
        driver_.check(check.what());
    });
}

// Text of any length that was padded to the longest.
void Hdf5Writer::write_text(const Variable& variable, hid_t dataset) const {
    const Hdf5Check check = at(variable.path);
    const Handle type = hdf5_text(variable.info.type.is_utf8());
    const Handle space = check(H5Dget_space(dataset), H5Sclose);
    const std::uint64_t width = variable.info.type.size();
    holding_.each_piece(variable, {}, [&](const Box& box, std::span<const std::byte> bytes) {
        std::vector<std::string> texts;
        for (std::size_t at = 0; at < bytes.size(); at += width) {
            const auto* text = reinterpret_cast<const char*>(bytes.data() + at);
            texts.emplace_back(text, strnlen(text, width));
        }
        std::vector<const char*> pointers;
        pointers.reserve(texts.size());
        for (const std::string& text : texts) pointers.push_back(text.c_str());
        const std::vector<hsize_t> offset(box.offset.begin(), box.offset.end()),
            count(box.count.begin(), box.count.end());
        const int n = box.size();
        const Handle room(n == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(n, count.data(), nullptr),
                          H5Sclose);
        if (n > 0)
            check(H5Sselect_hyperslab(space, H5S_SELECT_SET, offset.data(), nullptr, count.data(), nullptr));
        check(H5Dwrite(dataset, type, room, space, H5P_DEFAULT, pointers.data()));
        driver_.check(check.what());
    });
}

void Hdf5Writer::write_value(const Variable& variable) {
    const Datum datum = holding_.value(variable);
    const Hdf5Check check = at(variable.path);
    const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    if (datum.is_text() || datum.is_json()) {
        if (datum.is_json()) holding_.warn(variable.path, "a structure of JSON; it becomes text");
        const std::string text = datum.text();
        if (text.find('\0') != std::string::npos) throw Error(Code::unsupported, "text with a NUL in it");
        const Handle type = hdf5_text();
        const Handle dataset = create(variable.path, type, scalar);
        const char* pointer = text.c_str();
        check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &pointer));
        return;
    }
    if (!datum.is_plain()) {
        throw Error(Code::unsupported, "a " + datum.type.name() + " stored by " +
                                           pmemcpy::name_of(datum.serializer) +
                                           ", which only a program that knows it can read");
    }
    const Handle type = hdf5_type_of(datum.element());
    const Handle space = hdf5_space_of(datum.shape());
    const Handle dataset = create(variable.path, type, space);
    if (!datum.bytes.empty())
        check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, datum.bytes.data()));
}

void Hdf5Writer::write_attributes(const std::string& path, hid_t object) {
    for (const Datum& datum : holding_.attributes(path)) {
        const std::string shown = path + "@" + datum.name;
        try {
            if (!write_hdf5_attribute(object, datum, at(shown)))
                holding_.warn(shown, "a structure of JSON; it becomes text");
            holding_.count_attribute();
        } catch (const Error& error) {
            if (error.kind() != Code::unsupported) throw;
            holding_.warn(shown, std::string(error.what()) + "; not exported");
        }
    }
}

// A dimension's scale is the array of that name and length in the same group or one above it, as NetCDF has it; without one
// its name is a label.
bool Hdf5Writer::is_scale(const Variable& variable) const {
    return variable.info.kind == VariableKind::array && variable.info.dims.size() == 1 &&
           variable.dimensions == std::vector{last_of(variable.path)};
}

void Hdf5Writer::make_scale(const Variable& variable) {
    if (!is_scale(variable)) return;
    const Handle dataset(H5Dopen2(file_, variable.path.c_str(), H5P_DEFAULT), H5Dclose);
    if (dataset < 0) return;  // not exported
    const std::string name = variable.origin.is_object() ? variable.origin.value("scale", "") : "";
    at(variable.path)(H5DSset_scale(dataset, name.empty() ? last_of(variable.path).c_str() : name.c_str()));
}

void Hdf5Writer::name_dimensions(const Variable& variable) {
    if (variable.dimensions.empty() || variable.info.kind != VariableKind::array || is_scale(variable))
        return;
    const Handle dataset(H5Dopen2(file_, variable.path.c_str(), H5P_DEFAULT), H5Dclose);
    if (dataset < 0) return;  // not exported
    for (int d = 0; d < variable.info.dims.size(); ++d) {
        const std::string& name = variable.dimensions[static_cast<std::size_t>(d)];
        const Variable* found = scale_of(variable.path, name, variable.info.dims[d]);
        const auto u = static_cast<unsigned>(d);
        if (found == nullptr) {
            at(variable.path)(H5DSset_label(dataset, u, name.c_str()));
            continue;
        }
        const Handle coordinate(H5Dopen2(file_, found->path.c_str(), H5P_DEFAULT), H5Dclose);
        if (coordinate < 0) continue;
        at(variable.path)(H5DSattach_scale(dataset, coordinate, u));
    }
}

const Variable* Hdf5Writer::scale_of(const std::string& path, const std::string& name, Extent extent) const {
    for (std::string group = group_of(path);; group = group_of(group)) {
        std::string scale = group;
        if (!group.empty()) scale += '/';
        scale += name;
        const Variable* found = holding_.find(scale);
        if (found != nullptr && is_scale(*found) && found->info.dims[0] == extent) return found;
        if (group.empty()) return nullptr;
    }
}

}  // namespace

void write_hdf5(const std::string& path, Holding& holding) {
    const QuietHdf5 quiet;
    Hdf5Writer(path, holding).write();
}

}  // namespace pmemcpy::exchange
