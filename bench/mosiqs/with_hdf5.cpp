// The stand-in for MIQS: HDF5 files, a dataset per object, and an index in memory that is made by reading the attributes of all
// files when a process starts. Sources: what the MOSIQS paper says of MIQS and MIQS+ (sections III-G and IV-A); what MIQS keeps, as its
// authors have published it (github.com/zhangwei217245/HDF5Meta); the HDF5 reference manual, and its page "Things that can affect
// performance".

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "bench/compare/hdf5_handle.hpp"
#include "findings.hpp"
#include "library.hpp"
#include "postings.hpp"

namespace mosiqs {
namespace {

using hdf5::checked;
using hdf5::Handle;

std::size_t elements_of(const Handle& attribute) {
    const Handle space(H5Aget_space(attribute.id()), H5Sclose, "H5Aget_space");
    return static_cast<std::size_t>(
        checked(H5Sget_simple_extent_npoints(space.id()), "H5Sget_simple_extent_npoints"));
}

/// The values of an attribute of so many bytes; none where it is neither numbers nor text.
std::vector<Value> values_of(const Handle& attribute, hsize_t bytes) {
    const Handle type(H5Aget_type(attribute.id()), H5Tclose, "H5Aget_type");
    // Most have one element; to ask each for its dataspace took a quarter of all the time.
    const std::size_t size = H5Tget_size(type.id());
    const std::size_t count = size == bytes ? 1 : elements_of(attribute);
    std::vector<Value> values;
    const auto read_numbers = [&](auto plain, hid_t native) {
        std::vector<decltype(plain)> numbers(count);
        checked(H5Aread(attribute.id(), native, numbers.data()), "H5Aread");
        values.assign(numbers.begin(), numbers.end());
    };
    if (count == 0) return values;
    const H5T_class_t kind = H5Tget_class(type.id());
    if (kind == H5T_INTEGER) {
        read_numbers(std::int64_t{}, H5T_NATIVE_INT64);
    } else if (kind == H5T_FLOAT) {
        read_numbers(double{}, H5T_NATIVE_DOUBLE);
    } else if (kind == H5T_STRING && checked(H5Tis_variable_str(type.id()), "H5Tis_variable_str") > 0) {
        std::vector<char*> texts(count);
        checked(H5Aread(attribute.id(), type.id(), texts.data()), "H5Aread");
        for (char* text : texts) {
            values.emplace_back(std::string(text == nullptr ? "" : text));
            H5free_memory(text);
        }
    } else if (kind == H5T_STRING) {
        std::string texts(size * count, '\0');
        checked(H5Aread(attribute.id(), type.id(), texts.data()), "H5Aread");
        for (std::size_t i = 0; i < count; ++i) {
            const char* text = texts.data() + i * size;
            values.emplace_back(std::string(text, ::strnlen(text, size)));
        }
    }
    return values;
}

/// One walk through a file: each dataset, by its path.
struct Walk {
    std::string path;  // of the group at hand, with a `/` at its end
    std::function<void(hid_t dataset, const std::string& path)> visit;
    std::exception_ptr error;  // must not pass through HDF5
};

herr_t walk_link(hid_t group, const char* name, const H5L_info_t* info, void* data) {
    if (info->type != H5L_TYPE_HARD) return 0;
    auto& walk = *static_cast<Walk*>(data);
    try {
        const Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose, name);
        const std::size_t length = walk.path.size();
        walk.path += name;
        if (H5Iget_type(object.id()) == H5I_DATASET) {
            walk.visit(object.id(), walk.path);
        } else if (H5Iget_type(object.id()) == H5I_GROUP) {
            walk.path += '/';
            const herr_t result =
                H5Literate(object.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, walk_link, data);
            if (walk.error) return -1;
            checked(result, name);
        }
        walk.path.resize(length);
        return 0;
    } catch (...) {
        walk.error = std::current_exception();
        return -1;
    }
}

void walk_file(const Handle& file, Walk walk) {
    const herr_t result = H5Literate(file.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, walk_link, &walk);
    if (walk.error) std::rethrow_exception(walk.error);
    checked(result, "H5Literate");
}

// Into the dataset's header go less than 64 KiB, the attributes included.
constexpr std::size_t most_compact_bytes = 48 << 10;
constexpr std::size_t most_open_files = 256;

enum class Index { none, as_published, made_for_it };

class Hdf5 : public Library {
public:
    Hdf5(bool compact, Index index)
        : compact_(compact), index_(index), postings_(index == Index::made_for_it) {
        checked(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "H5Eset_auto2");
    }

    void open(const std::string& path, Access access) override {
        folder_ = path;
        access_ = access;
        if (access == Access::create) std::filesystem::create_directory(folder_);
        file_access_ = Handle(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "H5Pcreate");
        // "The compact-or-indexed format offers performance improvements"; it comes with the latest version as low bound.
        checked(H5Pset_libver_bounds(file_access_.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST),
                "H5Pset_libver_bounds");
        // H5Pset_meta_block_size: "potentially significantly improving library and application performance".
        checked(H5Pset_meta_block_size(file_access_.id(), hsize_t{1} << 20), "H5Pset_meta_block_size");
        creation_ = Handle(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "H5Pcreate");
        checked(H5Pset_layout(creation_.id(), compact_ ? H5D_COMPACT : H5D_CONTIGUOUS), "H5Pset_layout");
        // All of a dataset is written, so no fill value has to be; and nobody asks when.
        checked(H5Pset_fill_time(creation_.id(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
        checked(H5Pset_obj_track_times(creation_.id(), false), "H5Pset_obj_track_times");
        // In the header: with more than eight they would go to a heap and a B-tree of their own, for each dataset.
        checked(H5Pset_attr_phase_change(creation_.id(), 64, 0), "H5Pset_attr_phase_change");
        links_ = Handle(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "H5Pcreate");
        checked(H5Pset_create_intermediate_group(links_.id(), 1), "H5Pset_create_intermediate_group");
        scalar_ = Handle(H5Screate(H5S_SCALAR), H5Sclose, "H5Screate");
    }

    void close() override {
        files_.clear();
        for (Handle* handle : {&file_access_, &creation_, &links_, &scalar_, &space_}) *handle = Handle();
        text_types_.clear();
    }

    /// Reads names and attributes of all files, by as many processes as there are cores: HDF5 lets only one thread in.
    void make_ready() override {
        if (index_ == Index::none) return;
        postings_ = Postings(index_ == Index::made_for_it);
        const std::vector<std::string> all = groups();
        const std::size_t processes =
            std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, all.size());
        find_in_processes(
            processes,
            [&](std::size_t process, Findings& findings) {
                for (std::size_t i = process; i < all.size(); i += processes) read_file(all[i], findings);
            },
            postings_);
    }

    /// Nothing in the file changes: its pages are there when HDF5 writes to them.
    void prepare(std::string_view group, std::uint64_t bytes, std::uint64_t /*bytes_in_all*/) override {
        files_.clear();
        { const Handle made(create(path_of(group)), H5Fclose, "H5Fcreate"); }
        const int file = ::open(path_of(group).c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0 || ::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) != 0)
            throw std::runtime_error("no memory ahead for " + path_of(group));
        ::close(file);
    }

    void store(const Object& object) override {
        if (compact_ && object.data.size() > most_compact_bytes)
            throw Unsupported("compact datasets have less than 64 KiB, with their attributes");
        const Handle& file = file_of(object.group);
        name_ = object.name;
        {
            const hsize_t elements = object.data.size() / sizeof(float);
            if (space_.id() < 0 || space_elements_ != elements) {
                space_ = Handle(H5Screate_simple(1, &elements, nullptr), H5Sclose, "H5Screate_simple");
                space_elements_ = elements;
            }
            const Handle dataset(H5Dcreate2(file.id(), name_.c_str(), H5T_IEEE_F32LE, space_.id(),
                                            links_.id(), creation_.id(), H5P_DEFAULT),
                                 H5Dclose, name_);
            checked(
                H5Dwrite(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, object.data.data()),
                name_);
            annotate(dataset.id(), object.attributes);
        }
        // Section IV-A of MOSIQS: "The metadata indexing is conducted after the data is written successfully."
        if (index_ == Index::none) return;
        const std::uint32_t number = postings_.add_object(object.group, object.name);
        for (const auto& [key, value] : object.attributes) postings_.add(number, key, value);
    }
    void annotate_group(std::string_view group, std::span<const Attribute> attributes) override {
        annotate(file_of(group).id(), attributes);
        if (index_ != Index::none) postings_.add_group(group, attributes.size());
    }
    // Until then a file's metadata is in this process only.
    void publish() override {
        for (auto& [group, file] : files_) checked(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), "H5Fflush");
    }

    void load(std::string_view group, std::string_view name, std::span<std::byte> bytes) override {
        name_ = name;
        const Handle dataset(H5Dopen2(file_of(group).id(), name_.c_str(), H5P_DEFAULT), H5Dclose, name_);
        checked(H5Dread(dataset.id(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), name_);
    }
    Value attribute(std::string_view group, std::string_view name, const std::string& key) override {
        name_ = name;
        const Handle attribute(
            H5Aopen_by_name(file_of(group).id(), name_.c_str(), key.c_str(), H5P_DEFAULT, H5P_DEFAULT),
            H5Aclose, key);
        return values_of(attribute, H5Aget_storage_size(attribute.id())).at(0);
    }

    void equal(const std::string& key, const Value& value, std::vector<std::string>& ids) override {
        need_index();
        postings_.equal(key, value, ids);
    }
    void between(const std::string& key, double first, double last, std::vector<std::string>& ids) override {
        need_index();
        postings_.between(key, first, last, ids);
    }
    void containing(std::string_view text, std::vector<std::string>& ids) override {
        if (index_ != Index::none) return postings_.containing(text, ids);
        for (const std::string& group : groups()) {
            walk_file(file_of(group), {{},
                                       [&](hid_t, const std::string& name) {
                                           std::string id = group;
                                           (id += '/') += name;
                                           if (id.find(text) != std::string::npos)
                                               ids.push_back(std::move(id));
                                       },
                                       {}});
        }
    }
    void members(std::string_view group, std::vector<std::string>& ids) override {
        if (index_ != Index::none) return postings_.members(group, ids);
        walk_file(file_of(group),
                  {{},
                   [&](hid_t, const std::string& name) { ids.push_back(std::string(group) + '/' + name); },
                   {}});
    }
    std::uint64_t count_attributes(std::string_view group) override {
        if (const auto counted = postings_.count_attributes(group)) return *counted;
        return attributes_of(file_of(group));
    }

private:
    using UseAttribute = std::function<void(const char* key, const Handle& attribute, hsize_t bytes)>;
    struct AttributeWalk {
        const UseAttribute& use;
        std::exception_ptr error;
    };
    static herr_t walk_attribute(hid_t object, const char* key, const H5A_info_t* info, void* data) {
        auto& walk = *static_cast<AttributeWalk*>(data);
        try {
            walk.use(key, Handle(H5Aopen(object, key, H5P_DEFAULT), H5Aclose, key), info->data_size);
            return 0;
        } catch (...) {
            walk.error = std::current_exception();
            return -1;
        }
    }
    static void each_attribute(hid_t object, const UseAttribute& use) {
        AttributeWalk walk{use, {}};
        const herr_t result =
            H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, walk_attribute, &walk);
        if (walk.error) std::rethrow_exception(walk.error);
        checked(result, "H5Aiterate2");
    }

    static std::uint64_t attributes_of(const Handle& object) {
        H5O_info_t info{};
        checked(H5Oget_info2(object.id(), &info, H5O_INFO_NUM_ATTRS), "H5Oget_info2");
        return info.num_attrs;
    }

    void read_file(const std::string& group, Findings& findings) {
        const Handle& file = file_of(group);
        findings.begin_group(group);
        walk_file(file, {{},
                         [&](hid_t dataset, const std::string& name) {
                             findings.begin_object(name);
                             each_attribute(dataset,
                                            [&](const char* key, const Handle& attribute, hsize_t bytes) {
                                                for (const Value& value : values_of(attribute, bytes))
                                                    findings.add(key, value);
                                            });
                         },
                         {}});
        findings.end_group(attributes_of(file));
    }

    void need_index() const {
        if (index_ == Index::none) throw Unsupported("HDF5 finds nothing by its attributes");
    }
    std::string path_of(std::string_view group) const { return folder_ + '/' + std::string(group) + ".h5"; }
    std::vector<std::string> groups() const {
        std::vector<std::string> groups;
        for (const auto& entry : std::filesystem::directory_iterator(folder_))
            if (entry.path().extension() == ".h5") groups.push_back(entry.path().stem());
        std::sort(groups.begin(), groups.end());
        return groups;
    }

    hid_t create(const std::string& path) const {
        return H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, file_access_.id());
    }
    /// Open from its first use on.
    const Handle& file_of(std::string_view group) {
        const auto found = std::find_if(files_.rbegin(), files_.rend(),
                                        [&](const auto& entry) { return entry.first == group; });
        if (found != files_.rend()) return found->second;
        if (files_.size() == most_open_files) files_.clear();
        const std::string path = path_of(group);
        const bool is_new = access_ != Access::read && !std::filesystem::exists(path);
        files_.emplace_back(
            group,
            Handle(is_new ? create(path)
                          : H5Fopen(path.c_str(), access_ == Access::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR,
                                    file_access_.id()),
                   H5Fclose, path));
        return files_.back().second;
    }

    void annotate(hid_t object, std::span<const Attribute> attributes) {
        for (const auto& [key, value] : attributes) {
            hid_t type = H5T_NATIVE_INT64;
            const void* data = std::get_if<std::int64_t>(&value);
            if (const auto* number = std::get_if<double>(&value)) {
                type = H5T_NATIVE_DOUBLE;
                data = number;
            } else if (const auto* text = std::get_if<std::string>(&value)) {
                type = text_type(text->size());
                data = text->c_str();
            }
            const Handle attribute(
                H5Acreate2(object, key.c_str(), type, scalar_.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, key);
            checked(H5Awrite(attribute.id(), type, data), key);
        }
    }
    /// Text of that length, made once.
    hid_t text_type(std::size_t size) {
        if (text_types_.size() <= size) text_types_.resize(size + 1);
        Handle& type = text_types_[size];
        if (type.id() < 0) {
            type = Handle(H5Tcopy(H5T_C_S1), H5Tclose, "H5Tcopy");
            checked(H5Tset_size(type.id(), std::max<std::size_t>(size, 1)), "H5Tset_size");
            checked(H5Tset_strpad(type.id(), H5T_STR_NULLPAD), "H5Tset_strpad");
        }
        return type.id();
    }

    bool compact_;
    Index index_;
    std::string folder_;
    Access access_ = Access::read;
    Handle file_access_;
    Handle creation_;
    Handle links_;
    Handle scalar_;
    Handle space_;  // of objects of so many elements
    hsize_t space_elements_ = 0;
    std::vector<Handle> text_types_;                     // by length
    std::vector<std::pair<std::string, Handle>> files_;  // open ones, by group
    std::string name_;                                   // with a zero at its end
    Postings postings_;
};

}  // namespace

const std::vector<Variant> variants = {
    {"miqs", "HDF5 files and an index in memory; contiguous datasets"},
    {"miqs-compact", "the same with the data in the dataset's header; less than 64 KiB"},
    {"miqs-made", "the same files, and an index with lists that were made for the questions of Table I"},
    {"hdf5", "compact datasets without any index: who asks walks through the files"},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    const Index index = variant == "hdf5"        ? Index::none
                        : variant == "miqs-made" ? Index::made_for_it
                                                 : Index::as_published;
    return std::make_unique<Hdf5>(variant != "miqs", index);
}

}  // namespace mosiqs
