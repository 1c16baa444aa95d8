// HDF5 into a pool: groups as groups, datasets as arrays, scalar datasets as values.

#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "exchange/formats.hpp"
#include "exchange/hdf5/attribute.hpp"
#include "exchange/hdf5/element.hpp"
#include "exchange/hdf5/origin.hpp"
#include "exchange/pieces.hpp"

namespace pmemcpy::exchange {

namespace {

struct Object {
    std::string path;
    bool is_group;
};

std::string below(const std::string& group, const std::string& name) {
    return group.empty() ? name : group + "/" + name;
}

constexpr std::size_t guessed_bytes =
    256;  // that a pointer to text or a row leads to: HDF5 only tells when it has read them

// A pool keeps it in the array's record, which has to fit into a chunk.
constexpr std::size_t largest_fill = 64U << 10;

/// What HDF5 has allocated for text and rows goes again.
struct Reclaim {
    hid_t memory;
    hid_t space;
    void* elements;
    ~Reclaim() {
        if (elements != nullptr) H5Dvlen_reclaim(memory, space, H5P_DEFAULT, elements);
    }
};

class Hdf5Reader {
public:
    Hdf5Reader(const std::string& file, Intake& intake) : name_(file), intake_(intake) {
        file_ = at("")(H5Fopen(file.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    }
    void read() {
        H5O_info_t root{};
        at("")(H5Oget_info2(file_, &root, H5O_INFO_BASIC));
        seen_.emplace(std::pair{root.fileno, root.addr}, "/");  // a link below may lead back to it
        list("", 0);
        for (const Object& object : objects_) {
            if (!object.is_group) intake_.expect(bytes_of(object.path));
        }
        for (const Object& object : objects_) {
            if (intake_.takes(object.path))
                object.is_group ? read_group(object.path) : read_dataset(object.path);
        }
    }

private:
    static constexpr std::size_t longest_path = 4096;

    Hdf5Check at(const std::string& path) const {
        return {Code::corrupt, name_ + ": " + (path.empty() ? "/" : path)};
    }
    Handle open(const std::string& path) const {
        return at(path)(H5Oopen(file_, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Oclose);
    }

    void list(const std::string& group, int depth);
    void list_link(const std::string& group, const std::string& name, int depth);
    std::uint64_t bytes_of(const std::string& path) const;
    void read_group(const std::string& path);
    void read_dataset(const std::string& path);
    void read_array(const std::string& path, hid_t dataset, Hdf5Element& element, const Dimensions& dims,
                    nlohmann::json& origin);
    void read_rows(const std::string& path, hid_t dataset, hid_t type, const Dimensions& dims,
                   nlohmann::json& origin);
    void read_scalar(const std::string& path, hid_t dataset, Hdf5Element& element);
    using Visit = std::function<void(const Box&, std::span<const std::byte>)>;
    void each(const std::string& path, hid_t dataset, hid_t memory, const Dimensions& dims,
              const nlohmann::json& origin, const Visit& visit) const;
    void read_dimensions(const std::string& path, hid_t dataset, int dimensions, nlohmann::json& origin);

    std::string name_;
    Intake& intake_;
    Handle file_;
    std::vector<Object> objects_;
    std::map<std::pair<unsigned long, haddr_t>, std::string> seen_;  // where an object was met first
};

void Hdf5Reader::list(const std::string& group, int depth) {
    objects_.push_back({group, true});
    const Handle handle = open(group);
    std::vector<std::string> names;
    const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* into) -> herr_t {
        static_cast<std::vector<std::string>*>(into)->emplace_back(name);
        return 0;
    };
    hsize_t start = 0;
    at(group)(H5Literate(handle, H5_INDEX_NAME, H5_ITER_INC, &start, collect, &names));
    for (const std::string& name : names) list_link(group, name, depth);
}

void Hdf5Reader::list_link(const std::string& group, const std::string& name, int depth) {
    const std::string path = below(group, name);
    if (path.size() > longest_path)
        return intake_.warn(path.substr(0, 80) + "...", "a path of more than 4096 bytes; not imported");
    H5L_info_t link{};
    at(path)(H5Lget_info(file_, path.c_str(), &link, H5P_DEFAULT));
    if (link.type != H5L_TYPE_HARD) {
        const char* kind = link.type == H5L_TYPE_SOFT       ? "a soft link"
                           : link.type == H5L_TYPE_EXTERNAL ? "a link to another file"
                                                            : "a link of a user's own kind";
        return intake_.warn(path, std::string(kind) + ", which a pool does not have; not imported");
    }
    H5O_info_t info{};
    at(path)(H5Oget_info_by_name2(file_, path.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT));
    const auto [first, is_new] = seen_.try_emplace({info.fileno, info.addr}, path);
    switch (info.type) {
        case H5O_TYPE_GROUP:
            if (!is_new || depth > 1000)
                return intake_.warn(path,
                                    "another name of the group " + first->second + "; not imported again");
            return list(path, depth + 1);
        case H5O_TYPE_DATASET:
            if (!is_new) intake_.warn(path, "another name of " + first->second + "; imported as a copy");
            objects_.push_back({path, false});
            return;
        default:
            return intake_.warn(path, "a named type; not imported, what is of that type is");
    }
}

std::uint64_t Hdf5Reader::bytes_of(const std::string& path) const {
    const Handle dataset = open(path);
    const Handle space = at(path)(H5Dget_space(dataset), H5Sclose);
    const Handle type = at(path)(H5Dget_type(dataset), H5Tclose);
    return static_cast<std::uint64_t>(at(path)(H5Sget_simple_extent_npoints(space))) * H5Tget_size(type);
}

void Hdf5Reader::read_group(const std::string& path) {
    intake_.group(path);
    read_hdf5_attributes(name_, path, open(path), intake_);
}

void Hdf5Reader::read_dataset(const std::string& path) {
    const Hdf5Check check = at(path);
    const Handle dataset = open(path);
    const Handle type = check(H5Dget_type(dataset), H5Tclose);
    const Handle space = check(H5Dget_space(dataset), H5Sclose);
    nlohmann::json origin;
    const H5S_class_t kind = H5Sget_simple_extent_type(space);
    Dimensions dims;
    if (kind == H5S_NULL) {
        dims.push_back(0);
    } else {
        std::array<hsize_t, H5S_MAX_RANK> extents{};
        const int n = check(H5Sget_simple_extent_dims(space, extents.data(), nullptr));
        for (int d = 0; d < n; ++d) dims.push_back(extents[static_cast<std::size_t>(d)]);
    }
    try {
        origin = hdf5_origin_of(dataset, check);
        if (H5Tget_class(type) == H5T_VLEN) {
            read_rows(path, dataset, type, dims, origin);
        } else {
            Hdf5Element element(type);
            if (!element.note().empty()) intake_.warn(path, element.note());
            if (kind == H5S_SCALAR) {
                read_scalar(path, dataset, element);
            } else {
                read_array(path, dataset, element, dims, origin);
            }
        }
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported) throw;
        return intake_.warn(path, std::string(error.what()) + "; not imported");
    }
    read_dimensions(path, dataset, dims.size(), origin);
    read_hdf5_attributes(name_, path, dataset, intake_);
    if (!origin.empty()) {
        origin["from"] = "hdf5";
        intake_.origin(path, origin);
    }
}

// Calls visit() for all of a dataset, piece by piece; in C order if `origin` tells of no chunks.
void Hdf5Reader::each(const std::string& path, hid_t dataset, hid_t memory, const Dimensions& dims,
                      const nlohmann::json& origin, const Visit& visit) const {
    const Hdf5Check check = at(path);
    const Handle space = check(H5Dget_space(dataset), H5Sclose);
    const std::size_t element_bytes = H5Tget_size(memory);
    const bool has_pointers =
        H5Tdetect_class(memory, H5T_VLEN) > 0 || H5Tdetect_class(memory, H5T_STRING) > 0;
    const std::size_t weight = element_bytes + (has_pointers ? guessed_bytes : 0);
    Dimensions chunk;
    if (origin.contains("chunks"))
        chunk = Dimensions(std::span<const Extent>(origin["chunks"].get<std::vector<Extent>>()));
    std::vector<std::byte> bytes;
    each_piece(Box::whole(dims), chunk, weight, intake_.piece_bytes(), [&](const Box& box) {
        bytes.assign(box.elements() * element_bytes, std::byte{0});
        std::vector<hsize_t> offset(box.offset.begin(), box.offset.end()),
            count(box.count.begin(), box.count.end());
        const hsize_t elements =
            box.elements();  // in memory in one row: H5Dvlen_reclaim fails on 32 dimensions
        const Handle room = check(H5Screate_simple(1, &elements, nullptr), H5Sclose);
        if (!dims.empty())
            check(H5Sselect_hyperslab(space, H5S_SELECT_SET, offset.data(), nullptr, count.data(), nullptr));
        check(H5Dread(dataset, memory, room, space, H5P_DEFAULT, bytes.data()));
        const Reclaim reclaim{memory, room, has_pointers ? bytes.data() : nullptr};
        visit(box, bytes);
    });
}

void Hdf5Reader::read_array(const std::string& path, hid_t dataset, Hdf5Element& element,
                            const Dimensions& dims, nlohmann::json& origin) {
    const auto each_part = [&](const Visit& visit) {
        each(path, dataset, element.memory_type(), dims, origin, visit);
    };
    if (element.has_text()) {
        each_part([&](const Box&, std::span<const std::byte> bytes) { element.measure(bytes); });
        element.settle();
        if (!element.is_text())
            intake_.warn(path, "text of any length in its structures is padded to the longest");
    }
    const Handle list = at(path)(H5Dget_create_plist(dataset), H5Pclose);
    ArrayOptions options;
    H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
    at(path)(H5Pfill_value_defined(list, &fill));
    // Where nothing was ever written there is nothing to copy, however large it is.
    const bool can_be_filled = !element.has_text() && element.memory_bytes() <= largest_fill;
    const bool is_unwritten = can_be_filled && H5Dget_storage_size(dataset) == 0 && dims.elements() != 0 &&
                              fill != H5D_FILL_VALUE_UNDEFINED && H5Pget_external_count(list) == 0 &&
                              H5Pget_layout(list) != H5D_VIRTUAL;
    if (!element.has_text() && !can_be_filled && fill == H5D_FILL_VALUE_USER_DEFINED)
        intake_.warn(path, "its fill value has " + std::to_string(element.memory_bytes()) + " bytes, and " +
                               std::to_string(largest_fill) +
                               " are the most; its elements are imported without");
    if (can_be_filled && (fill == H5D_FILL_VALUE_USER_DEFINED || is_unwritten)) {
        options.fill_value.resize(element.memory_bytes());
        at(path)(H5Pget_fill_value(list, element.memory_type(), options.fill_value.data()));
        if (fill != H5D_FILL_VALUE_USER_DEFINED) origin["fill"] = "default";
    }
    Dimensions shape = dims;
    if (const auto most = origin.find("maxdims"); most != origin.end() && (*most)[0].is_null())
        shape[0] = unlimited;
    const bool grows = !shape.empty() && shape[0] == unlimited;
    if (is_unwritten && grows) shape[0] = dims[0];  // as long as what is stored in it, which is nothing
    intake_.array(path, element.type(), shape, options);
    if (is_unwritten || !intake_.takes(path)) return;
    std::vector<std::byte> room;
    each_part([&](const Box& box, std::span<const std::byte> bytes) {
        intake_.store(path, element.type(), element.convert(bytes, room).data(), box);
    });
}

// Rows of different lengths become two arrays, in which each row can be viewed: values, one row after the other, and offsets,
// where each begins and the last one ends.
void Hdf5Reader::read_rows(const std::string& path, hid_t dataset, hid_t type, const Dimensions& dims,
                           nlohmann::json& origin) {
    const Handle inner(H5Tget_super(type), H5Tclose);
    const Hdf5Element element(inner);
    if (element.has_text()) throw Error(Code::unsupported, "its rows hold text of any length");
    const Handle memory(H5Tvlen_create(element.memory_type()), H5Tclose);
    intake_.warn(path, "rows of any length; they become the arrays values and offsets in the group " + path);
    intake_.group(path);
    const std::string values = path + "/values", offsets = path + "/offsets";
    intake_.array(values, element.type(), {unlimited});
    intake_.array(offsets, type_of<std::int64_t>(), {dims.elements() + 1});
    std::int64_t end = 0;
    Extent row = 0;
    std::vector<std::int64_t> ends{0};
    std::vector<std::byte> joined;
    const std::size_t size = element.memory_bytes();
    const auto put = [&] {
        intake_.store(offsets, type_of<std::int64_t>(), ends.data(), Box{{row}, {ends.size()}});
        if (!joined.empty()) {
            const Extent count = joined.size() / size;
            intake_.store(values, element.type(), joined.data(),
                          Box{{static_cast<Extent>(end) - count}, {count}});
        }
        row += ends.size();
        ends.clear();
        joined.clear();
    };
    each(path, dataset, memory, dims, nlohmann::json::object(),
         [&](const Box&, std::span<const std::byte> bytes) {
             for (std::size_t at = 0; at < bytes.size(); at += sizeof(hvl_t)) {
                 hvl_t one{};
                 std::memcpy(&one, bytes.data() + at, sizeof one);
                 const auto* from = static_cast<const std::byte*>(one.p);
                 joined.insert(joined.end(), from, from + one.len * size);
                 end += static_cast<std::int64_t>(one.len);
                 ends.push_back(end);
                 if (joined.size() >= intake_.piece_bytes()) put();
             }
         });
    if (!ends.empty()) put();
    origin["rows"] = std::vector<Extent>(dims.begin(), dims.end());
}

void Hdf5Reader::read_scalar(const std::string& path, hid_t dataset, Hdf5Element& element) {
    std::vector<std::byte> room;
    const auto each_part = [&](const Visit& visit) {
        each(path, dataset, element.memory_type(), {}, nlohmann::json::object(), visit);
    };
    if (element.is_text()) {
        return each_part([&](const Box&, std::span<const std::byte> bytes) {
            const char* text = nullptr;
            std::memcpy(&text, bytes.data(), sizeof text);
            const std::string_view all = text == nullptr ? "" : text;
            intake_.value(path, Type::string(), std::as_bytes(std::span(all)));
        });
    }
    if (element.has_text()) {
        each_part([&](const Box&, std::span<const std::byte> bytes) { element.measure(bytes); });
        element.settle();
    }
    each_part([&](const Box&, std::span<const std::byte> bytes) {
        intake_.value(path, element.type(), element.convert(bytes, room));
    });
}

// The names of dimensions are those of the scales that are attached to them, or their labels.
void Hdf5Reader::read_dimensions(const std::string& path, hid_t dataset, int dimensions,
                                 nlohmann::json& origin) {
    if (H5DSis_scale(dataset) > 0) {
        std::array<char, 256> name{};
        H5DSget_scale_name(dataset, name.data(), name.size());
        origin["scale"] = name.data();
    }
    std::vector<std::string> names;
    bool any = false;
    for (int d = 0; d < dimensions; ++d) {
        std::string name;
        const auto take = [](hid_t, unsigned, hid_t scale, void* into) -> herr_t {
            std::array<char, 4096> full{};
            const ssize_t length = H5Iget_name(scale, full.data(), full.size());
            const std::string text(
                full.data(),
                std::min<std::size_t>(length < 0 ? 0 : static_cast<std::size_t>(length), full.size() - 1));
            *static_cast<std::string*>(into) = text.substr(text.rfind('/') + 1);
            return 1;
        };
        const auto u = static_cast<unsigned>(d);
        if (origin.contains("scale")) {
            if (dimensions == 1) name = path.substr(path.rfind('/') + 1);
        } else if (H5DSget_num_scales(dataset, u) > 0) {
            H5DSiterate_scales(dataset, u, nullptr, take, &name);
        }
        if (name.empty()) {
            std::array<char, 256> label{};
            if (H5DSget_label(dataset, u, label.data(), label.size()) > 0) name = label.data();
        }
        any = any || !name.empty();
        names.push_back(name.empty() ? "dim_" + std::to_string(d) : name);
    }
    if (any) intake_.dimensions(path, names);
}

}  // namespace

void read_hdf5(const std::string& path, Intake& intake) {
    const QuietHdf5 quiet;
    Hdf5Reader(path, intake).read();
}

}  // namespace pmemcpy::exchange
