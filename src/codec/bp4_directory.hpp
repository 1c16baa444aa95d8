#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "codec/bp4_writer.hpp"

namespace pmemcpy::codec::bp4 {

/// A Sink that is a file.
class FileSink final : public Sink {
public:
    explicit FileSink(std::filesystem::path path);  ///< Errors: io_error
    void write(std::span<const std::byte> bytes) override;
    void close();  ///< Errors: io_error, when the last bytes could not be written

private:
    std::filesystem::path path_;
    std::ofstream stream_;
};

/// A BP4 directory as ADIOS opens it: `path` with data.0, md.0 and md.idx. Not closed, it has no index and is
/// no file.
class Directory {
public:
    explicit Directory(const std::filesystem::path& path);  ///< Errors: already_exists, io_error

    Writer& writer() noexcept { return writer_; }
    void close();

private:
    FileSink data_;
    FileSink metadata_;
    FileSink index_;
    Writer writer_;
};

}  // namespace pmemcpy::codec::bp4
