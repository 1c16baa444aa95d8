#include "exchange/hdf5/origin.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pmemcpy::exchange {

namespace {

constexpr std::size_t most_values = 64;    // of a filter
constexpr hsize_t chunk_bytes = 1U << 20;  // of a dataset that must have chunks and of which no more is known

nlohmann::json filters_of(hid_t list, const Hdf5Check& check) {
    auto filters = nlohmann::json::array();
    const int n = check(H5Pget_nfilters(list));
    for (int i = 0; i < n; ++i) {
        unsigned flags = 0, config = 0;
        std::array<unsigned, most_values> values{};
        std::size_t count = values.size();
        std::array<char, 64> name{};
        const H5Z_filter_t id = check(H5Pget_filter2(list, static_cast<unsigned>(i), &flags, &count,
                                                     values.data(), name.size(), name.data(), &config));
        if (H5Zfilter_avail(id) <= 0) {
            throw Error(Code::unsupported,
                        "it is compressed by HDF5's filter " + std::to_string(id) + " (" + name.data() +
                            "), whose plugin is not installed; HDF5_PLUGIN_PATH says where "
                            "HDF5 looks for it");
        }
        count = std::min(count, values.size());
        filters.push_back(
            {{"id", id},
             {"flags", flags},
             {"values", std::vector<unsigned>(values.begin(), values.begin() + static_cast<long>(count))}});
    }
    return filters;
}

}  // namespace

nlohmann::json hdf5_origin_of(hid_t dataset, const Hdf5Check& check) {
    nlohmann::json origin = nlohmann::json::object();
    const Handle list = check(H5Dget_create_plist(dataset), H5Pclose);
    std::array<hsize_t, H5S_MAX_RANK> extents{}, most{};
    if (H5Pget_layout(list) == H5D_CHUNKED) {
        const int n = check(H5Pget_chunk(list, H5S_MAX_RANK, extents.data()));
        origin["chunks"] = std::vector<hsize_t>(extents.begin(), extents.begin() + n);
        if (nlohmann::json filters = filters_of(list, check); !filters.empty())
            origin["filters"] = std::move(filters);
    }
    const Handle space = check(H5Dget_space(dataset), H5Sclose);
    if (H5Sget_simple_extent_type(space) == H5S_NULL) {
        origin["space"] = "null";
    } else {
        const int n = check(H5Sget_simple_extent_dims(space, extents.data(), most.data()));
        if (!std::equal(extents.begin(), extents.begin() + n, most.begin())) {
            for (int d = 0; d < n; ++d) {
                const hsize_t extent = most[static_cast<std::size_t>(d)];
                origin["maxdims"].push_back(extent == H5S_UNLIMITED ? nlohmann::json()
                                                                    : nlohmann::json(extent));
            }
        }
    }
    const Handle type = check(H5Dget_type(dataset), H5Tclose);
    if (H5Tget_class(type) == H5T_STRING) {
        if (H5Tis_variable_str(type) > 0) {
            origin["text"] = "any length";
        } else if (H5Tget_strpad(type) != H5T_STR_NULLPAD) {
            origin["strpad"] = H5Tget_strpad(type) == H5T_STR_SPACEPAD ? "space" : "nullterm";
        }
    }
    return origin;
}

Handle hdf5_creation_list(const nlohmann::json& origin, int dimensions, std::size_t element_bytes,
                          bool must_chunk, const hsize_t* dims) {
    Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    if (dimensions == 0) return list;
    const auto n = static_cast<std::size_t>(dimensions);
    std::vector<hsize_t> chunk;
    if (const auto given = origin.find("chunks");
        given != origin.end() && given->is_array() && given->size() == n) {
        for (const auto& extent : *given)
            chunk.push_back(extent.is_number_unsigned() ? extent.get<hsize_t>() : 0);
    }
    if (chunk.empty() || std::find(chunk.begin(), chunk.end(), 0) != chunk.end()) {
        if (!must_chunk) return list;
        chunk.assign(n, 1);
        hsize_t room = std::max<hsize_t>(chunk_bytes / std::max<std::size_t>(element_bytes, 1), 1);
        for (std::size_t d = n; d-- > 0;) {
            chunk[d] = std::clamp<hsize_t>(dims[d], 1, room);
            room = std::max<hsize_t>(room / chunk[d], 1);
        }
    }
    if (H5Pset_chunk(list, dimensions, chunk.data()) < 0) return {H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
    for (const auto& filter : origin.value("filters", nlohmann::json::array())) {
        const auto id = filter.value("id", 0);
        const auto values = filter.value("values", std::vector<unsigned>());
        if (H5Zfilter_avail(id) > 0)
            H5Pset_filter(list, id, filter.value("flags", 0U), values.size(), values.data());
    }
    return list;
}

}  // namespace pmemcpy::exchange
