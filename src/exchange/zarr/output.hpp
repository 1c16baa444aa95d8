#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pmemcpy::exchange {

/// Makes a folder and those above it that are missing. Errors: what the kernel says.
void make_zarr_folder(const std::string& path);

/// A new file, in folders that are made for it. Errors: no_space, io_error, naming it.
class ZarrOutput {
public:
    explicit ZarrOutput(std::string path);
    ~ZarrOutput();
    ZarrOutput(const ZarrOutput&) = delete;
    ZarrOutput& operator=(const ZarrOutput&) = delete;

    void write(std::uint64_t offset, std::span<const std::byte> bytes);

private:
    std::string path_;
    int fd_ = -1;
};

}  // namespace pmemcpy::exchange
