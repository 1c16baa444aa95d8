#include "exchange/netcdf/type.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <pmemcpy/error.hpp>
#include <pmemcpy/float16.hpp>

namespace pmemcpy::exchange {

namespace {

constexpr std::array<std::pair<nc_type, Kind>, 10> same = {{{NC_BYTE, Kind::int8},
                                                            {NC_SHORT, Kind::int16},
                                                            {NC_INT, Kind::int32},
                                                            {NC_INT64, Kind::int64},
                                                            {NC_UBYTE, Kind::uint8},
                                                            {NC_USHORT, Kind::uint16},
                                                            {NC_UINT, Kind::uint32},
                                                            {NC_UINT64, Kind::uint64},
                                                            {NC_FLOAT, Kind::float32},
                                                            {NC_DOUBLE, Kind::float64}}};

struct UserType {
    std::string name;
    std::size_t bytes = 0;
    nc_type base = NC_NAT;
    std::size_t members = 0;
    int what = 0;
};

UserType user_type(int group, nc_type type) {
    std::array<char, NC_MAX_NAME + 1> name{};
    UserType found;
    if (nc_inq_user_type(group, type, name.data(), &found.bytes, &found.base, &found.members, &found.what) !=
        NC_NOERR)
        throw Error(Code::unsupported, "its elements are of a type that NetCDF does not tell of");
    found.name = name.data();
    return found;
}

Type structure_of(int group, nc_type type, const UserType& user) {
    std::vector<Field> fields;
    for (int i = 0; i < static_cast<int>(user.members); ++i) {
        std::array<char, NC_MAX_NAME + 1> name{};
        std::size_t offset = 0;
        nc_type inner = NC_NAT;
        int n = 0;
        std::array<int, NC_MAX_VAR_DIMS> extents{};
        nc_inq_compound_field(group, type, i, name.data(), &offset, &inner, &n, extents.data());
        Type element = type_of_netcdf(group, inner);
        Dimensions dims;
        for (int d = 0; d < n; ++d) dims.push_back(static_cast<Extent>(extents[static_cast<std::size_t>(d)]));
        fields.push_back({name.data(), offset, n == 0 ? element : Type::array(element, dims)});
    }
    return Type::structure(std::move(fields), user.bytes);
}

Type enumeration_of(int group, nc_type type, const UserType& user) {
    const Type base = type_of_netcdf(group, user.base);
    std::vector<EnumValue> values;
    for (int i = 0; i < static_cast<int>(user.members); ++i) {
        std::array<char, NC_MAX_NAME + 1> name{};
        std::array<std::byte, 8> bytes{};
        nc_inq_enum_member(group, type, i, name.data(), bytes.data());
        std::int64_t value = 0;  // little-endian, as all machines that this library runs on
        std::memcpy(&value, bytes.data(), base.size());
        const bool is_signed = base.kind() >= Kind::int8 && base.kind() <= Kind::int64;
        const unsigned unused = 64 - 8 * static_cast<unsigned>(base.size());
        if (is_signed)
            value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
        values.push_back({name.data(), value});
    }
    return Type::enumeration(base, std::move(values));
}

constexpr std::array<const char*, 13> time_units = {
    nullptr,        nullptr,        nullptr,       "days",  "hours", "minutes", "seconds",
    "milliseconds", "microseconds", "nanoseconds", nullptr, nullptr, nullptr};

}  // namespace

std::string netcdf_type_name(int group, nc_type type) {
    return type < NC_FIRSTUSERTYPEID ? std::string() : user_type(group, type).name;
}

Type type_of_netcdf(int group, nc_type type) {
    if (type == NC_CHAR) return Type::fixed_string(1, false);
    for (const auto& [theirs, ours] : same) {
        if (theirs == type) return Type::scalar(ours);
    }
    if (type == NC_STRING) throw Error(Code::unsupported, "text of any length inside of something else");
    const UserType user = user_type(group, type);
    switch (user.what) {
        case NC_COMPOUND:
            return structure_of(group, type, user);
        case NC_ENUM:
            return enumeration_of(group, type, user);
        case NC_OPAQUE:
            return Type::opaque(user.bytes, user.name);
        default:
            throw Error(Code::unsupported, "rows of any length inside of something else");
    }
}

void swap_bytes(const Type& type, std::span<std::byte> element) {
    switch (type.kind()) {
        case Kind::structure:
            for (const Field& field : type.fields())
                swap_bytes(field.type, element.subspan(field.offset, field.type.size()));
            return;
        case Kind::array:
            for (std::size_t at = 0; at < element.size(); at += type.element().size())
                swap_bytes(type.element(), element.subspan(at, type.element().size()));
            return;
        case Kind::complex64:
        case Kind::complex128:
            if (type.is_native()) return;
            std::reverse(element.begin(), element.begin() + static_cast<long>(element.size() / 2));
            std::reverse(element.begin() + static_cast<long>(element.size() / 2), element.end());
            return;
        case Kind::opaque:
        case Kind::fixed_string:
            return;
        default:
            if (!type.is_native()) std::reverse(element.begin(), element.end());
    }
}

nc_type NetcdfTypes::plain(Kind kind) const {
    for (const auto& [theirs, ours] : same) {
        if (ours != kind) continue;
        const bool is_old = theirs <= NC_DOUBLE;
        if (model_ == Model::classic && !is_old) break;
        return theirs;
    }
    throw Error(Code::unsupported, model_ == Model::netcdf4
                                       ? "NetCDF has no such type"
                                       : "the classic NetCDF format has no such type; NetCDF-4 may");
}

std::string NetcdfTypes::unused(const std::string& name) const {
    std::string free = name;
    nc_type found = NC_NAT;
    for (int n = 2; nc_inq_typeid(root_, free.c_str(), &found) == NC_NOERR; ++n)
        free = name + "_" + std::to_string(n);
    return free;
}

nc_type NetcdfTypes::defined(const Type& type, const std::string& name) {
    const Type native = type.with_byte_order(native_order);
    for (const auto& [known, id] : defined_) {
        if (known == native) return id;
    }
    if (model_ != Model::netcdf4)
        throw Error(Code::unsupported, "only NetCDF-4 has types such as " + type.name());
    const std::string own = unused(name);
    nc_type id = NC_NAT;
    int status = NC_NOERR;
    switch (native.kind()) {
        case Kind::enumeration:
            status = nc_def_enum(root_, plain(native.element().kind()), own.c_str(), &id);
            for (const EnumValue& value : native.values()) {
                if (status == NC_NOERR) status = nc_insert_enum(root_, id, value.name.c_str(), &value.value);
            }
            break;
        case Kind::opaque:
            status = nc_def_opaque(root_, native.size(), own.c_str(), &id);
            break;
        case Kind::complex64:
        case Kind::complex128: {
            const nc_type part = native.kind() == Kind::complex64 ? NC_FLOAT : NC_DOUBLE;
            status = nc_def_compound(root_, native.size(), own.c_str(), &id);
            if (status == NC_NOERR) status = nc_insert_compound(root_, id, "r", 0, part);
            if (status == NC_NOERR) status = nc_insert_compound(root_, id, "i", native.size() / 2, part);
            break;
        }
        case Kind::structure: {
            std::vector<std::pair<const Field*, nc_type>> members;  // inner types have to be there first
            for (const Field& field : native.fields()) {
                const Type& element = field.type.kind() == Kind::array ? field.type.element() : field.type;
                const bool is_text = element.kind() == Kind::fixed_string;
                members.emplace_back(&field,
                                     is_text ? nc_type{NC_CHAR} : of(element, own + "_" + field.name).type);
            }
            status = nc_def_compound(root_, native.size(), own.c_str(), &id);
            for (const auto& [field, member] : members) {
                std::vector<int> dims;
                for (const Extent extent : field->type.dimensions()) dims.push_back(static_cast<int>(extent));
                const Type& element = field->type.kind() == Kind::array ? field->type.element() : field->type;
                if (element.kind() == Kind::fixed_string && element.size() > 1)
                    dims.push_back(static_cast<int>(element.size()));
                if (status != NC_NOERR) break;
                status = nc_insert_array_compound(root_, id, field->name.c_str(), field->offset, member,
                                                  static_cast<int>(dims.size()), dims.data());
            }
            break;
        }
        default:
            throw Error(Code::unsupported, "NetCDF cannot be given elements of the type " + type.name());
    }
    if (status != NC_NOERR)
        throw Error(Code::unsupported, "the type " + type.name() + ": NetCDF says: " + nc_strerror(status));
    defined_.emplace_back(native, id);
    return id;
}

nc_type NetcdfTypes::rows_of(nc_type element, const std::string& name) {
    const auto known = rows_.find({element, name});
    if (known != rows_.end()) return known->second;
    nc_type id = NC_NAT;
    const int status = nc_def_vlen(root_, unused(name).c_str(), element, &id);
    if (status != NC_NOERR)
        throw Error(Code::unsupported,
                    "rows of any length: NetCDF says: " + std::string(nc_strerror(status)));
    return rows_[{element, name}] = id;
}

NetcdfElement NetcdfTypes::of(const Type& type, const std::string& name) {
    NetcdfElement element;
    element.is_big_endian = !type.is_native();
    const std::uint64_t size = type.size();
    if (element.is_big_endian) {
        element.convert = [type, size](std::span<const std::byte> from, std::vector<std::byte>& to) {
            to.assign(from.begin(), from.end());
            for (std::size_t at = 0; at < to.size(); at += size)
                swap_bytes(type, std::span(to).subspan(at, size));
        };
    } else {
        element.convert = [](std::span<const std::byte> from, std::vector<std::byte>& to) {
            to.assign(from.begin(), from.end());
        };
    }
    switch (type.kind()) {
        case Kind::float16:
        case Kind::bfloat16: {
            element.type = NC_FLOAT;
            element.note = "NetCDF has no " + type.name() + "; it becomes float32";
            element.convert = [type](std::span<const std::byte> from, std::vector<std::byte>& to) {
                to.resize(from.size() * 2);
                for (std::size_t at = 0; at < from.size(); at += 2) {
                    std::array<std::byte, 2> bytes{from[at], from[at + 1]};
                    swap_bytes(type, bytes);
                    std::uint16_t bits = 0;
                    std::memcpy(&bits, bytes.data(), sizeof bits);
                    const float wide = type.kind() == Kind::float16 ? float(float16::from_bits(bits))
                                                                    : float(bfloat16::from_bits(bits));
                    std::memcpy(to.data() + at * 2, &wide, sizeof wide);
                }
            };
            return element;
        }
        case Kind::boolean:
            element.type = NC_BYTE;
            element.is_boolean = true;
            return element;
        case Kind::datetime64:
            element.type = plain(Kind::int64);
            if (time_units[static_cast<std::size_t>(type.unit())] != nullptr) {
                element.units =
                    std::string(time_units[static_cast<std::size_t>(type.unit())]) + " since 1970-01-01";
            } else {
                element.note = "CF has no unit such as that of " + type.name() + "; it becomes int64";
            }
            return element;
        case Kind::fixed_string:
            element.type = NC_CHAR;
            return element;
        case Kind::enumeration:
        case Kind::opaque:
        case Kind::complex64:
        case Kind::complex128:
        case Kind::structure:
            element.type = defined(type, name);
            return element;
        default:
            element.type = plain(type.kind());
            return element;
    }
}

}  // namespace pmemcpy::exchange
