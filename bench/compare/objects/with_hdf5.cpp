// HDF5: a file with a dataset per object, all in the root group. Sources: the HDF5 reference manual, and its pages "Group
// implementations in HDF5" and "Things that can affect performance".

#include <hdf5.h>

#include <utility>

#include "bench/compare/hdf5_handle.hpp"
#include "library.hpp"

namespace compare::objects {
namespace {

using hdf5::checked;
using hdf5::Handle;

herr_t count_name(hid_t /*group*/, const char* name, const H5L_info_t* /*info*/, void* names) {
    *static_cast<std::uint64_t*>(names) += *name != '\0';
    return 0;
}

// The message that holds the data of a compact dataset has less than 64 KiB, with its own head.
constexpr std::size_t most_compact_bytes = 65'500;

class Hdf5 : public Library {
public:
    explicit Hdf5(bool compact) : compact_(compact) {
        checked(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "H5Eset_auto2");
    }

    void open(const std::string& path, Access access) override {
        Handle properties(checked(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"), H5Pclose);
        // "The compact-or-indexed format offers performance improvements that will be most notable ... in groups with
        // tens of thousands of members"; it comes with the latest version as low bound.
        checked(H5Pset_libver_bounds(properties.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST),
                "H5Pset_libver_bounds");
        // H5Pset_meta_block_size: "potentially significantly improving library and application performance". 10,000
        // contiguous datasets were stored a tenth faster than with the default of 2 KiB, compact ones no faster.
        if (!compact_) {
            checked(H5Pset_meta_block_size(properties.id(), hsize_t{1} << 20), "H5Pset_meta_block_size");
        }
        file_ = Handle(access == Access::create
                           ? H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, properties.id())
                           : H5Fopen(path.c_str(), access == Access::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR,
                                     properties.id()),
                       H5Fclose);
        checked(file_.id(), path);
        creation_ = Handle(checked(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"), H5Pclose);
        checked(H5Pset_layout(creation_.id(), compact_ ? H5D_COMPACT : H5D_CONTIGUOUS), "H5Pset_layout");
        // All of a dataset is written, so no fill value has to be; and nobody asks when.
        checked(H5Pset_fill_time(creation_.id(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
        checked(H5Pset_obj_track_times(creation_.id(), false), "H5Pset_obj_track_times");
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        if (compact_ && bytes.size() > most_compact_bytes)
            throw Unsupported("compact datasets have less than 64 KiB");
        name_ = name;
        Handle dataset = existing_or_new(bytes.size());
        checked(H5Dwrite(dataset.id(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), name);
        dataset.close(name);
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        name_ = name;
        Handle dataset(checked(H5Dopen2(file_.id(), name_.c_str(), H5P_DEFAULT), name), H5Dclose);
        if (size_of(dataset) != bytes.size()) throw std::runtime_error(name_ + " has another size");
        checked(H5Dread(dataset.id(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), name);
        dataset.close(name);
    }

    void erase(std::string_view name) override {
        name_ = name;
        checked(H5Ldelete(file_.id(), name_.c_str(), H5P_DEFAULT), name);
    }

    // Until then, the file's metadata is in this process only.
    void settle() override { checked(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "H5Fflush"); }

    std::uint64_t list() override {
        std::uint64_t names = 0;
        hsize_t from = 0;
        checked(H5Literate(file_.id(), H5_INDEX_NAME, H5_ITER_NATIVE, &from, count_name, &names),
                "H5Literate");
        return names;
    }

    void close() override {
        creation_.close("H5Pclose");
        space_.close("H5Sclose");
        file_.close("H5Fclose");
    }

private:
    Handle existing_or_new(hsize_t bytes) {
        if (checked(H5Lexists(file_.id(), name_.c_str(), H5P_DEFAULT), name_) > 0) {
            Handle dataset(checked(H5Dopen2(file_.id(), name_.c_str(), H5P_DEFAULT), name_), H5Dclose);
            if (size_of(dataset) == bytes) return dataset;
            dataset.close(name_);
            checked(H5Ldelete(file_.id(), name_.c_str(), H5P_DEFAULT), name_);
        }
        if (space_.id() < 0 || space_bytes_ != bytes) {
            space_ = Handle(checked(H5Screate_simple(1, &bytes, nullptr), "H5Screate_simple"), H5Sclose);
            space_bytes_ = bytes;
        }
        return {checked(H5Dcreate2(file_.id(), name_.c_str(), H5T_STD_U8LE, space_.id(), H5P_DEFAULT,
                                   creation_.id(), H5P_DEFAULT),
                        name_),
                H5Dclose};
    }

    static hsize_t size_of(const Handle& dataset) {
        const Handle space(checked(H5Dget_space(dataset.id()), "H5Dget_space"), H5Sclose);
        return static_cast<hsize_t>(
            checked(H5Sget_simple_extent_npoints(space.id()), "H5Sget_simple_extent_npoints"));
    }

    bool compact_;
    Handle file_;
    Handle creation_;
    Handle space_;  // of objects of `space_bytes_`
    hsize_t space_bytes_ = 0;
    std::string name_;  // with a zero at its end
};

}  // namespace

// One writer: it keeps the file's metadata in its own cache, and locks the file. SWMR is for existing datasets only.
const std::vector<Variant> variants = {
    {"hdf5", "a contiguous dataset per object, latest format", 1, any_number},
    {"hdf5-compact", "the same with the data in the dataset's header; less than 64 KiB", 1, any_number},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Hdf5>(variant == "hdf5-compact");
}

}  // namespace compare::objects
