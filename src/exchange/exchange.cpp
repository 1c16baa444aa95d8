#include <pmemcpy/exchange.hpp>

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
#include "exchange/part.hpp"

namespace pmemcpy {

bool exchange::is_zarr(const std::string& directory) {
    constexpr std::array documents = {"zarr.json", ".zgroup", ".zarray"};
    return std::any_of(documents.begin(), documents.end(), [&](const char* name) {
        return std::filesystem::exists(std::filesystem::path(directory) / name);
    });
}

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
        if (exchange::is_zarr(file)) return Format::zarr;
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

/// The pool to import into, made if it is missing; one that was made goes again unless it is kept, or others have put something into it.
class Target {
public:
    Target(const std::string& path, std::uint64_t max_bytes) {
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
        try {
            pool_.withdraw();
        } catch (const Error&) {
            // What failed is told; an empty pool stays.
        }
    }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    PMEM& pool() { return pool_; }
    void keep() {
        is_new_ = false;
        pool_.munmap();
    }

private:
    PMEM pool_;
    bool is_new_ = false;
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
                    "the name of " + file + " tells no format; give it an extension, or name one: " + known);
    }
    const Format format = options.format == Format::automatic ? *by_name : options.format;
    Options reading;
    reading.mode = Mode::read;
    reading.verify_loads = true;  // or damage would become a good-looking file
    PMEM pool;
    pool.mmap(pool_path, reading);
    ExchangeReport report;
    Holding holding(pool, options, report);
    exchange::Part part(file, options.overwrite);
    write(format, part.path(), holding);
    report.private_objects = holding.count_private();
    part.become_whole(report.private_objects > 0);
    return report;
}

}  // namespace pmemcpy
