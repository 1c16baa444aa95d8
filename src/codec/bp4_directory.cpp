#include "codec/bp4_directory.hpp"

#include <pmemcpy/error.hpp>
#include <system_error>
#include <utility>

namespace pmemcpy::codec::bp4 {

namespace {

/// Makes the directory, and returns it: the members of Directory are initialised in this order.
std::filesystem::path fresh(const std::filesystem::path& path) {
    std::error_code failure;
    if (std::filesystem::create_directory(path, failure)) return path;
    if (!failure)
        throw Error(Code::already_exists,
                    "BP4: " + path.string() + " exists; remove it or choose another name");
    throw Error(Code::io_error, "BP4: cannot make the directory " + path.string() + ": " + failure.message());
}

}  // namespace

FileSink::FileSink(std::filesystem::path path)
    : path_(std::move(path)), stream_(path_, std::ios::binary | std::ios::trunc) {
    if (!stream_) throw Error(Code::io_error, "BP4: cannot create " + path_.string());
}

void FileSink::write(std::span<const std::byte> bytes) {
    stream_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!stream_)
        throw Error(Code::io_error, "BP4: cannot write " + std::to_string(bytes.size()) + " bytes to " +
                                        path_.string() + "; is the file system full?");
}

void FileSink::close() {
    stream_.close();
    if (!stream_)
        throw Error(Code::io_error, "BP4: cannot finish " + path_.string() + "; is the file system full?");
}

Directory::Directory(const std::filesystem::path& path)
    : data_(fresh(path) / "data.0"),
      metadata_(path / "md.0"),
      index_(path / "md.idx"),
      writer_(data_, metadata_, index_) {}

void Directory::close() {
    writer_.close();
    data_.close();
    metadata_.close();
    index_.close();
}

}  // namespace pmemcpy::codec::bp4
