#include <pmemcpy/exchange.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <pmemcpy/namespaces.hpp>
#include <system_error>

#include "exchange/formats.hpp"
#include "exchange/kernel_error.hpp"

namespace pmemcpy {

namespace {

namespace fs = std::filesystem;
using exchange::Holding;
using exchange::Intake;

struct Name {
    Format format;
    std::string_view text;
    std::array<std::string_view, 3> extensions;
};

constexpr std::array names{Name{Format::hdf5, "hdf5", {".h5", ".hdf5", ".he5"}},
                           Name{Format::netcdf, "netcdf", {".nc", ".cdf", ".nc4"}},
                           Name{Format::netcdf3, "netcdf3", {}},
                           Name{Format::zarr, "zarr", {".zarr"}},
                           Name{Format::npy, "npy", {".npy"}},
                           Name{Format::npz, "npz", {".npz"}}};

constexpr const char* known =
    "hdf5 (.h5 .hdf5 .he5), netcdf (.nc .cdf .nc4), netcdf3, zarr (.zarr), npy, npz";
constexpr std::array zarr_documents = {"zarr.json", ".zgroup", ".zarray"};

bool is_zarr(const fs::path& directory) {
    return std::any_of(zarr_documents.begin(), zarr_documents.end(),
                       [&](const char* name) { return fs::exists(directory / name); });
}

std::optional<Format> format_by_extension(const std::string& file) {
    std::string extension =
        fs::path(file.ends_with('/') ? file.substr(0, file.size() - 1) : file).extension();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (extension.empty()) return {};
    for (const Name& name : names) {
        if (std::find(name.extensions.begin(), name.extensions.end(), extension) != name.extensions.end())
            return name.format;
    }
    return {};
}

// Some HDF5 files begin with a block of their user's own, of 512 bytes or a power of two of that.
bool is_hdf5(std::ifstream& in) {
    constexpr std::string_view magic("\x89HDF\r\n\x1a\n", 8);
    for (std::streamoff at = 0; at <= 1 << 20; at = at == 0 ? 512 : at * 2) {
        std::array<char, 8> found{};
        in.clear();
        if (!in.seekg(at).read(found.data(), found.size())) return false;
        if (std::string_view(found.data(), found.size()) == magic) return true;
    }
    return false;
}

// What is in a file says more than its name; only NetCDF-4 has no other way to be told from the HDF5 that it is.
Format format_of_existing(const std::string& file) {
    if (fs::is_directory(file)) {
        if (is_zarr(file)) return Format::zarr;
        throw Error(Code::unsupported,
                    file +
                        " is a directory without zarr.json, so no Zarr; nothing else that can be "
                        "imported is a directory");
    }
    std::ifstream in(file, std::ios::binary);
    if (!in) exchange::fail_kernel("cannot read " + file, errno);
    std::array<char, 8> head{};
    in.read(head.data(), head.size());
    const std::string_view start(head.data(), static_cast<std::size_t>(in.gcount()));
    if (start.starts_with("\x93NUMPY")) return Format::npy;
    if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) return Format::npz;
    if (start.starts_with("CDF\x01") || start.starts_with("CDF\x02") || start.starts_with("CDF\x05"))
        return Format::netcdf;
    if (is_hdf5(in)) return format_by_extension(file) == Format::netcdf ? Format::netcdf : Format::hdf5;
    throw Error(Code::unsupported, file + " is none of the formats that can be imported: " + known);
}

void read(Format format, const std::string& file, Intake& intake) {
    switch (format) {
        case Format::hdf5:
            return exchange::read_hdf5(file, intake);
        case Format::netcdf:
        case Format::netcdf3:
            return exchange::read_netcdf(file, intake);
        case Format::zarr:
            return exchange::read_zarr(file, intake);
        case Format::npy:
            return exchange::read_npy(file, intake);
        case Format::npz:
            return exchange::read_npz(file, intake);
        case Format::automatic:
            break;
    }
}

void write(Format format, const std::string& file, Holding& holding) {
    switch (format) {
        case Format::hdf5:
            return exchange::write_hdf5(file, holding);
        case Format::netcdf:
        case Format::netcdf3:
            return exchange::write_netcdf(file, holding, format == Format::netcdf3);
        case Format::zarr:
            return exchange::write_zarr(file, holding);
        case Format::npy:
            return exchange::write_npy(file, holding);
        case Format::npz:
            return exchange::write_npz(file, holding);
        case Format::automatic:
            break;
    }
}

/// The pool to import into, made if it is missing; one that was made goes again unless it is kept.
class Target {
public:
    Target(const std::string& path, std::uint64_t max_bytes) : path_(path) {
        Options options;
        options.mode = Mode::update;
        try {
            pool_.mmap(path, options);
            return;
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
        options.mode = Mode::exclusive;
        options.max_bytes = max_bytes;
        pool_.mmap(path, options);
        is_new_ = true;
    }
    ~Target() {
        if (!is_new_) return;
        pool_ = PMEM();
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        fs::remove(path_ + ".rt", ignored);
    }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    PMEM& pool() { return pool_; }
    void keep() {
        is_new_ = false;
        pool_.munmap();
    }

private:
    std::string path_;
    PMEM pool_;
    bool is_new_ = false;
};

/// What is written under another name until it is whole.
class Part {
public:
    Part(const std::string& file, bool overwrite)
        : file_(file.ends_with('/') ? file.substr(0, file.size() - 1) : file),
          overwrite_(overwrite),
          part_(file_ + ".part" + std::to_string(::getpid())) {
        check_free();
        std::error_code ignored;
        fs::remove_all(part_, ignored);
    }
    ~Part() {
        std::error_code ignored;
        fs::remove_all(part_, ignored);
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    const std::string& path() const { return part_; }

    /// The bytes come to the medium before the name does.
    void become_whole() {
        const int fd = ::open(part_.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) exchange::fail_kernel("cannot open " + part_, errno);
        const bool is_directory = fs::is_directory(part_);
        const int error = (is_directory ? ::syncfs(fd) : ::fsync(fd)) == 0 ? 0 : errno;
        ::close(fd);
        if (error != 0) exchange::fail_kernel("cannot write " + part_, error);
        check_free();
        if (!overwrite_) return take_free_name();
        std::error_code failed;
        // A directory takes no other's place: the two change names at once, and the old one goes with the part. Where the
        // file system cannot do that, the old one first gets out of the way.
        const std::string old = part_ + ".old";
        const bool is_replaced = is_directory && fs::exists(fs::symlink_status(file_));
        if (is_replaced) {
            if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, file_.c_str(), RENAME_EXCHANGE) == 0) return;
            fs::rename(file_, old, failed);
        }
        if (!failed) fs::rename(part_, file_, failed);
        if (failed) {
            std::error_code ignored;
            if (is_replaced && fs::exists(old, ignored)) fs::rename(old, file_, ignored);
            fail_rename(failed.value());
        }
        if (is_replaced) fs::remove_all(old, failed);
    }

private:
    /// Whoever makes a file of that name in the last moment keeps it.
    void take_free_name() const {
        if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, file_.c_str(), RENAME_NOREPLACE) == 0) return;
        if (errno == EEXIST) fail_taken();
        if (errno != EINVAL) fail_rename(errno);  // which says that this file system (NFS) knows no such flag
        std::error_code failed;
        fs::rename(part_, file_, failed);
        if (failed) fail_rename(failed.value());
    }
    [[noreturn]] void fail_taken() const {
        throw Error(Code::already_exists, file_ + " is there already; choose another name, or overwrite it");
    }
    [[noreturn]] void fail_rename(int error) const {
        exchange::fail_kernel("cannot give " + part_ + " the name " + file_, error);
    }
    void check_free() const {
        if (!overwrite_ && fs::exists(fs::symlink_status(file_))) fail_taken();
        if (fs::is_directory(file_) && !is_zarr(file_) && !fs::is_empty(file_)) {
            throw Error(Code::already_exists,
                        file_ + " is a directory with something else in it; remove it yourself");
        }
    }

    std::string file_;
    bool overwrite_;
    std::string part_;
};

}  // namespace

Format parse_format(std::string_view text) {
    for (const Name& name : names) {
        if (name.text == text) return name.format;
    }
    throw Error(Code::invalid_argument,
                "there is no format '" + std::string(text) + "'; there are: " + known);
}

ExchangeReport import_file(const std::string& pool_path, const std::string& file,
                           const ImportOptions& options) {
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (!fs::exists(status)) exchange::fail_kernel("cannot read " + file, error ? error.value() : ENOENT);
    const Format format = options.format == Format::automatic ? format_of_existing(file) : options.format;
    ExchangeReport report;
    Target target(resolve_pool(pool_path, Mode::create_or_update), options.max_bytes);
    PMEM& pool = target.pool();
    const PoolInfo info = pool.info();
    if (info.others_in_step) {
        throw Error(Code::busy, pool_path +
                                    ": another process is in a step, which would be committed with the "
                                    "import; import when it has "
                                    "committed, or into another pool");
    }
    Intake intake(pool, options, report);
    pool.begin(info.committed_step + 1);
    try {
        read(format, file, intake);
    } catch (...) {
        pool.abandon();
        intake.take_back_groups();
        throw;
    }
    pool.commit(info.committed_step + 1);
    target.keep();
    return report;
}

ExchangeReport export_file(const std::string& pool_path, const std::string& file,
                           const ExportOptions& options) {
    const std::optional<Format> by_name = format_by_extension(file);
    if (options.format == Format::automatic && !by_name) {
        throw Error(Code::invalid_argument,
                    "what format is " + file + " to have? Give it an extension, or name one: " + known);
    }
    const Format format = options.format == Format::automatic ? *by_name : options.format;
    Options reading;
    reading.mode = Mode::read;
    PMEM pool;
    pool.mmap(pool_path, reading);
    ExchangeReport report;
    Holding holding(pool, options, report);
    Part part(file, options.overwrite);
    write(format, part.path(), holding);
    part.become_whole();
    return report;
}

}  // namespace pmemcpy
