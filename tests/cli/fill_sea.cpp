// Makes a pool as CF's conventions have it: a sea with land in it, on a grid of latitudes and longitudes, and packed numbers.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <pmemcpy/json.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace {

template <class T>
void store_array(pmemcpy::PMEM& pmem, const std::string& id, const pmemcpy::Dimensions& dims,
                 const std::vector<T>& elements, const nlohmann::json& dimensions) {
    pmem.alloc<T>(id, dims);
    pmem.store(id, elements.data(), pmemcpy::Box::whole(dims));
    pmem.set_attribute(id, "_ARRAY_DIMENSIONS", dimensions);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    pmemcpy::Options options;
    options.max_bytes = 64 << 20;
    pmemcpy::PMEM pmem;
    pmem.mmap(argv[1], options);

    store_array<float>(pmem, "lat", {4}, {-60, -20, 20, 60}, {"lat"});
    pmem.set_attribute("lat", "units", "degrees_north");
    store_array<float>(pmem, "lon", {6}, {0, 60, 120, 180, 240, 300}, {"lon"});
    pmem.set_attribute("lon", "units", "degrees_east");
    store_array<std::int32_t>(pmem, "depth", {3}, {0, 10, 100}, {"depth"});
    pmem.set_attribute("depth", "units", "m");
    pmem.set_attribute("depth", "positive", "down");

    // Warm at the south end, colder with the depth; land where both indices are 0. Element (d, i, j) is 30 - 10 i - d.
    std::vector<double> temperatures;
    for (int d = 0; d < 3; ++d) {
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 6; ++j) temperatures.push_back(i == 0 && j == 0 ? -1e10 : 30 - 10 * i - d);
        }
    }
    store_array<double>(pmem, "sea/TEMP", {3, 4, 6}, temperatures, {"depth", "lat", "lon"});
    pmem.set_attribute("sea/TEMP", "units", "degC");
    pmem.set_attribute("sea/TEMP", "_FillValue", -1e10);

    store_array<std::int16_t>(pmem, "packed", {4}, {0, 100, -32768, 60}, {"x"});
    pmem.set_attribute("packed", "units", "K");
    pmem.set_attribute("packed", "_FillValue", std::int16_t{-32768});
    pmem.set_attribute("packed", "scale_factor", 0.5);
    pmem.set_attribute("packed", "add_offset", 10.0);

    // A year of months without leap days, of which one is missing.
    store_array<double>(pmem, "time", {4}, {0, 31, 59, 90.5}, {"time"});
    pmem.set_attribute("time", "units", "days since 2000-01-01");
    pmem.set_attribute("time", "calendar", "noleap");
    store_array<float>(pmem, "level", {4}, {1, 3, 2, 4}, {"time"});
    store_array<std::int32_t>(pmem, "events", {3}, {60, -1, 0}, {"event"});
    pmem.set_attribute("events", "units", "minutes since 2026-07-01 12:00");
    pmem.set_attribute("events", "_FillValue", std::int32_t{-1});
    pmem.store("start", std::int32_t{1});
    pmem.set_attribute("start", "units", "days since 2026-01-01");

    // 20 x 20 numbers from 0 to 99, and one far away.
    std::vector<double> outliers(400);
    for (std::size_t i = 0; i < outliers.size(); ++i) outliers[i] = static_cast<double>(i % 100);
    outliers[210] = 1e10;
    store_array<double>(pmem, "outliers", {20, 20}, outliers, {"i", "j"});
    pmem.munmap();
    return 0;
}
