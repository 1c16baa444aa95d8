// NetCDF into a pool: groups as groups, variables as arrays, those without dimensions as values.

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>

#include "exchange/formats.hpp"
#include "exchange/netcdf/attribute.hpp"
#include "exchange/netcdf/file.hpp"
#include "exchange/netcdf/type.hpp"
#include "exchange/pieces.hpp"

namespace pmemcpy::exchange {

namespace {

using Json = nlohmann::json;
using Visit = std::function<void(const Box&, std::span<std::byte>)>;

constexpr std::size_t guessed_bytes =
    256;  // that a pointer to text or a row leads to: NetCDF only tells when it has read them

std::string below(const std::string& group, const std::string& name) {
    return group.empty() ? name : group + "/" + name;
}

struct Dimension {
    std::string name;
    std::size_t length = 0;
    bool is_unlimited = false;
};

struct NetcdfVariable {
    int group = 0;
    int id = 0;
    std::string path;
    nc_type type = NC_NAT;
    std::vector<Dimension> dimensions;
    Dimensions dims;  // their lengths

    bool is_text() const { return type == NC_STRING; }
    bool is_rows() const {
        int what = 0;
        return type >= NC_FIRSTUSERTYPEID &&
               nc_inq_user_type(group, type, nullptr, nullptr, nullptr, nullptr, &what) == NC_NOERR &&
               what == NC_VLEN;
    }
};

class NetcdfReader {
public:
    NetcdfReader(const std::string& file, Intake& intake)
        : name_(file), intake_(intake), file_(opened(file)) {}

    void read() {
        list(file_, "");
        for (const NetcdfVariable& variable : variables_) {
            std::size_t bytes = 0;
            at(variable.path)(nc_inq_type(variable.group, variable.type, nullptr, &bytes));
            intake_.expect(variable.dims.elements() * bytes);
        }
        for (const auto& [group, path] : groups_) {
            if (intake_.takes(path)) read_group(group, path);
        }
        for (const NetcdfVariable& variable : variables_) {
            if (intake_.takes(variable.path)) read_variable(variable);
        }
    }

private:
    static int opened(const std::string& file) {
        int id = -1;
        NetcdfCheck(Code::corrupt, file)(nc_open(file.c_str(), NC_NOWRITE, &id));
        return id;
    }
    NetcdfCheck at(const std::string& path) const {
        return {Code::corrupt, name_ + ": " + (path.empty() ? "/" : path)};
    }
    void list(int group, const std::string& path);
    Dimension dimension(int group, int id, const std::string& path) const;
    Json dimensions_of(int group, const std::string& path) const;
    void read_group(int group, const std::string& path);
    void read_variable(const NetcdfVariable& variable);
    void read_array(const NetcdfVariable& variable);
    void read_text(const NetcdfVariable& variable, Json& origin);
    void read_rows(const NetcdfVariable& variable, Json& origin);
    void read_scalar(const NetcdfVariable& variable);
    void check_filters(const NetcdfVariable& variable) const;
    std::vector<std::byte> fill_value(const NetcdfVariable& variable, const Type& type) const;
    Dimensions shape_of(const NetcdfVariable& variable) const;
    void read_storage(const NetcdfVariable& variable, Json& origin) const;
    void each(const NetcdfVariable& variable, std::size_t element_bytes, std::size_t weight,
              const Dimensions& chunk, const Visit& visit) const;

    std::string name_;
    Intake& intake_;
    NetcdfFile file_;
    std::vector<std::pair<int, std::string>> groups_;
    std::vector<NetcdfVariable> variables_;
};

Dimension NetcdfReader::dimension(int group, int id, const std::string& path) const {
    std::array<char, NC_MAX_NAME + 1> name{};
    Dimension found;
    at(path)(nc_inq_dim(group, id, name.data(), &found.length));
    found.name = name.data();
    // A dimension belongs to this group or to one above it.
    for (int owner = group;;) {
        int n = 0;
        at(path)(nc_inq_unlimdims(owner, &n, nullptr));
        std::vector<int> ids(static_cast<std::size_t>(n));
        at(path)(nc_inq_unlimdims(owner, &n, ids.data()));
        if (std::find(ids.begin(), ids.end(), id) != ids.end()) {
            found.is_unlimited = true;
            return found;
        }
        if (nc_inq_grp_parent(owner, &owner) != NC_NOERR) return found;
    }
}

void NetcdfReader::list(int group, const std::string& path) {
    groups_.emplace_back(group, path);
    int n = 0;
    at(path)(nc_inq_nvars(group, &n));
    for (int id = 0; id < n; ++id) {
        std::array<char, NC_MAX_NAME + 1> name{};
        std::array<int, NC_MAX_VAR_DIMS> dims{};
        int rank = 0;
        NetcdfVariable variable{group, id, {}, NC_NAT, {}, {}};
        at(path)(nc_inq_var(group, id, name.data(), &variable.type, &rank, nullptr, nullptr));
        variable.path = below(path, name.data());
        if (rank > max_dimensions) {
            intake_.warn(variable.path, "has " + std::to_string(rank) + " dimensions, and " +
                                            std::to_string(max_dimensions) + " are the most; not imported");
            continue;
        }
        at(variable.path)(nc_inq_vardimid(group, id, dims.data()));
        for (int d = 0; d < rank; ++d) {
            variable.dimensions.push_back(dimension(group, dims[static_cast<std::size_t>(d)], variable.path));
            variable.dims.push_back(variable.dimensions.back().length);
        }
        variables_.push_back(std::move(variable));
    }
    at(path)(nc_inq_grps(group, &n, nullptr));
    std::vector<int> groups(static_cast<std::size_t>(n));
    at(path)(nc_inq_grps(group, &n, groups.data()));
    for (const int inner : groups) {
        std::array<char, NC_MAX_NAME + 1> name{};
        at(path)(nc_inq_grpname(inner, name.data()));
        list(inner, below(path, name.data()));
    }
}

// In the order of the file: [name, length or null], for those that no variable has, and for who looks at the file's text.
Json NetcdfReader::dimensions_of(int group, const std::string& path) const {
    int n = 0;
    at(path)(nc_inq_dimids(group, &n, nullptr, 0));
    std::vector<int> ids(static_cast<std::size_t>(n));
    at(path)(nc_inq_dimids(group, &n, ids.data(), 0));
    std::sort(ids.begin(), ids.end());
    Json all = Json::array();
    for (const int id : ids) {
        const Dimension found = dimension(group, id, path);
        all.push_back({found.name, found.is_unlimited ? Json() : Json(found.length)});
    }
    return all;
}

void NetcdfReader::read_group(int group, const std::string& path) {
    intake_.group(path);
    Json origin = {{"from", "netcdf"}};
    if (path.empty()) {
        int format = 0;
        at(path)(nc_inq_format(group, &format));
        constexpr std::array names = {"", "classic", "64-bit offset", "netcdf4", "netcdf4 classic", "cdf5"};
        origin["format"] = names.at(static_cast<std::size_t>(std::clamp(format, 0, 5)));
    }
    if (Json dimensions = dimensions_of(group, path); !dimensions.empty())
        origin["dimensions"] = std::move(dimensions);
    for (const NetcdfVariable& variable : variables_) {
        if (variable.group == group)
            origin["variables"].push_back(variable.path.substr(variable.path.rfind('/') + 1));
    }
    int n = 0;
    at(path)(nc_inq_natts(group, &n));
    origin.update(read_netcdf_attributes(name_, path, group, NC_GLOBAL, n, intake_));
    intake_.origin(path, origin);
}

void NetcdfReader::read_variable(const NetcdfVariable& variable) {
    Json origin = {{"from", "netcdf"}};
    try {
        if (variable.is_rows()) {
            read_rows(variable, origin);
        } else if (variable.dims.empty()) {
            read_scalar(variable);
        } else if (variable.is_text()) {
            read_text(variable, origin);
        } else {
            read_array(variable);
        }
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported) throw;
        return intake_.warn(variable.path, std::string(error.what()) + "; not imported");
    }
    read_storage(variable, origin);
    if (const std::string type = netcdf_type_name(variable.group, variable.type); !type.empty())
        origin["type"] = type;
    std::vector<std::string> names;
    names.reserve(variable.dimensions.size());
    for (const Dimension& dimension : variable.dimensions) names.push_back(dimension.name);
    if (variable.is_rows()) {
        origin["names"] = names;
    } else if (!names.empty()) {
        intake_.dimensions(variable.path, names);
    }
    int n = 0;
    at(variable.path)(nc_inq_varnatts(variable.group, variable.id, &n));
    origin.update(read_netcdf_attributes(name_, variable.path, variable.group, variable.id, n, intake_));
    if (origin.size() > 1) intake_.origin(variable.path, origin);
}

Dimensions NetcdfReader::shape_of(const NetcdfVariable& variable) const {
    Dimensions shape = variable.dims;
    if (variable.dimensions[0].is_unlimited) shape[0] = unlimited;
    return shape;
}

std::vector<std::byte> NetcdfReader::fill_value(const NetcdfVariable& variable, const Type& type) const {
    nc_type found = NC_NAT;
    std::size_t n = 0;
    if (nc_inq_att(variable.group, variable.id, "_FillValue", &found, &n) != NC_NOERR ||
        found != variable.type || n != 1)
        return {};
    std::vector<std::byte> bytes(type.size());
    at(variable.path)(nc_get_att(variable.group, variable.id, "_FillValue", bytes.data()));
    return bytes;
}

// That a filter is missing NetCDF says when something is read. So the first element is, before the array is made that would stay.
void NetcdfReader::check_filters(const NetcdfVariable& variable) const {
    if (variable.dims.elements() == 0) return;
    const std::vector<std::size_t> first(variable.dimensions.size(), 0), count(variable.dimensions.size(), 1);
    std::size_t bytes_of_one = 0;
    at(variable.path)(nc_inq_type(variable.group, variable.type, nullptr, &bytes_of_one));
    std::vector<std::byte> one(bytes_of_one);
    const int status = nc_get_vara(variable.group, variable.id, first.data(), count.data(), one.data());
    if (status == NC_EFILTER || status == NC_ENOFILTER)
        throw Error(Code::unsupported,
                    "it is compressed by a filter whose plugin is not installed; "
                    "HDF5_PLUGIN_PATH says where it is looked for");
    at(variable.path)(status);
    if (variable.is_rows()) nc_free_vlen(reinterpret_cast<nc_vlen_t*>(one.data()));
}

void NetcdfReader::each(const NetcdfVariable& variable, std::size_t element_bytes, std::size_t weight,
                        const Dimensions& chunk, const Visit& visit) const {
    std::vector<std::byte> bytes;
    each_piece(Box::whole(variable.dims), chunk, weight, intake_.piece_bytes(), [&](const Box& box) {
        bytes.assign(box.elements() * element_bytes, std::byte{0});
        const std::vector<std::size_t> first(box.offset.begin(), box.offset.end()),
            count(box.count.begin(), box.count.end());
        at(variable.path)(nc_get_vara(variable.group, variable.id, first.data(), count.data(), bytes.data()));
        visit(box, bytes);
    });
}

void NetcdfReader::read_array(const NetcdfVariable& variable) {
    const Type type = type_of_netcdf(variable.group, variable.type);
    check_filters(variable);
    ArrayOptions options;
    options.fill_value = fill_value(variable, type);
    intake_.array(variable.path, type, shape_of(variable), options);
    int storage = NC_CONTIGUOUS;
    std::vector<std::size_t> extents(static_cast<std::size_t>(variable.dims.size()));
    Dimensions chunk;
    if (nc_inq_var_chunking(variable.group, variable.id, &storage, extents.data()) == NC_NOERR &&
        storage == NC_CHUNKED)
        chunk = Dimensions(std::span<const Extent>(std::vector<Extent>(extents.begin(), extents.end())));
    each(variable, type.size(), type.size(), chunk, [&](const Box& box, std::span<std::byte> bytes) {
        intake_.store(variable.path, type, bytes.data(), box);
    });
}

// Padded to the longest, which takes two looks.
void NetcdfReader::read_text(const NetcdfVariable& variable, Json& origin) {
    std::size_t width = 1;
    const auto each_text = [&](const std::function<void(const Box&, std::span<char*>)>& visit) {
        each(variable, sizeof(char*), sizeof(char*) + guessed_bytes, {},
             [&](const Box& box, std::span<std::byte> bytes) {
                 std::vector<char*> texts(bytes.size() / sizeof(char*));
                 std::memcpy(texts.data(), bytes.data(), bytes.size());
                 visit(box, texts);
                 nc_free_string(texts.size(), texts.data());
             });
    };
    each_text([&](const Box&, std::span<char*> texts) {
        for (const char* text : texts) width = std::max(width, text == nullptr ? 0 : std::strlen(text));
    });
    const Type type = Type::fixed_string(width, true);
    intake_.array(variable.path, type, shape_of(variable));
    std::vector<std::byte> padded;
    each_text([&](const Box& box, std::span<char*> texts) {
        padded.assign(texts.size() * width, std::byte{0});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (texts[i] != nullptr)
                std::memcpy(padded.data() + i * width, texts[i], std::min(std::strlen(texts[i]), width));
        }
        intake_.store(variable.path, type, padded.data(), box);
    });
    origin["text"] = "any length";
}

// As of HDF5: two arrays, values and offsets.
void NetcdfReader::read_rows(const NetcdfVariable& variable, Json& origin) {
    std::size_t bytes_of_base = 0;
    nc_type base = NC_NAT;
    at(variable.path)(
        nc_inq_user_type(variable.group, variable.type, nullptr, &bytes_of_base, &base, nullptr, nullptr));
    const Type type = type_of_netcdf(variable.group, base);
    check_filters(variable);
    intake_.warn(
        variable.path,
        "rows of any length; they become the arrays values and offsets in the group " + variable.path);
    intake_.group(variable.path);
    const std::string values = variable.path + "/values", offsets = variable.path + "/offsets";
    intake_.array(values, type, {unlimited});
    intake_.array(offsets, type_of<std::int64_t>(), {variable.dims.elements() + 1});
    std::vector<std::int64_t> ends{0};
    std::vector<std::byte> joined;
    Extent row = 0, end = 0;
    const auto put = [&] {
        intake_.store(offsets, type_of<std::int64_t>(), ends.data(), Box{{row}, {ends.size()}});
        const Extent count = joined.size() / type.size();
        if (count > 0) intake_.store(values, type, joined.data(), Box{{end - count}, {count}});
        row += ends.size();
        ends.clear();
        joined.clear();
    };
    each(variable, sizeof(nc_vlen_t), sizeof(nc_vlen_t) + guessed_bytes, {},
         [&](const Box&, std::span<std::byte> bytes) {
             std::vector<nc_vlen_t> rows(bytes.size() / sizeof(nc_vlen_t));
             std::memcpy(rows.data(), bytes.data(), bytes.size());
             for (const nc_vlen_t& one : rows) {
                 const auto* from = static_cast<const std::byte*>(one.p);
                 joined.insert(joined.end(), from, from + one.len * type.size());
                 end += one.len;
                 ends.push_back(static_cast<std::int64_t>(end));
                 if (joined.size() >= intake_.piece_bytes()) put();
             }
             nc_free_vlens(rows.size(), rows.data());
         });
    if (!ends.empty()) put();
    origin["rows"] = std::vector<Extent>(variable.dims.begin(), variable.dims.end());
}

void NetcdfReader::read_scalar(const NetcdfVariable& variable) {
    if (variable.is_text()) {
        char* text = nullptr;
        at(variable.path)(nc_get_var(variable.group, variable.id, &text));
        const std::string copy = text == nullptr ? "" : text;
        if (text != nullptr) nc_free_string(1, &text);
        return intake_.value(variable.path, Type::string(), std::as_bytes(std::span(copy)));
    }
    const Type type = type_of_netcdf(variable.group, variable.type);
    std::vector<std::byte> bytes(type.size());
    at(variable.path)(nc_get_var(variable.group, variable.id, bytes.data()));
    intake_.value(variable.path, type, bytes);
}

// Chunks, filters and byte order, which only NetCDF-4 has.
void NetcdfReader::read_storage(const NetcdfVariable& variable, Json& origin) const {
    int format = 0;
    at(variable.path)(nc_inq_format(variable.group, &format));
    if (format != NC_FORMAT_NETCDF4 && format != NC_FORMAT_NETCDF4_CLASSIC) return;
    int storage = NC_CONTIGUOUS;
    std::vector<std::size_t> chunk(variable.dimensions.size());
    if (!chunk.empty() &&
        nc_inq_var_chunking(variable.group, variable.id, &storage, chunk.data()) == NC_NOERR &&
        storage == NC_CHUNKED)
        origin["chunks"] = chunk;
    int shuffle = 0, deflate = 0, level = 0, checksum = 0, endian = NC_ENDIAN_NATIVE;
    if (nc_inq_var_deflate(variable.group, variable.id, &shuffle, &deflate, &level) == NC_NOERR) {
        if (deflate != 0) origin["deflate"] = level;
        if (shuffle != 0) origin["shuffle"] = true;
    }
    if (nc_inq_var_fletcher32(variable.group, variable.id, &checksum) == NC_NOERR &&
        checksum == NC_FLETCHER32)
        origin["fletcher32"] = true;
    if (nc_inq_var_endian(variable.group, variable.id, &endian) == NC_NOERR && endian == NC_ENDIAN_BIG)
        origin["endian"] = "big";
}

}  // namespace

void read_netcdf(const std::string& path, Intake& intake) { NetcdfReader(path, intake).read(); }

}  // namespace pmemcpy::exchange
