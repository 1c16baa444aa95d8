#include "profiler/scratch.hpp"

#include <array>
#include <optional>

#include <fcntl.h>
#include <pmemcpy/error.hpp>

#include "os/names.hpp"
#include "os/process.hpp"

namespace pmemcpy::profiler {

namespace {

constexpr mode_t only_mine = 0600;

/// Where files without a name cannot be made: one that loses it at once, while it is empty.
os::File open_named(const std::string& directory, int flags) {
    const std::string path = directory + "/.pmemcpy-profile-" + std::to_string(os::process_id()) + "-" +
                             std::to_string(os::monotonic_ns());
    os::File file = os::File::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | flags, only_mine);
    os::remove_file(path);
    return file;
}

os::File open_unnamed(const std::string& directory, int flags) {
    return os::File::open(directory, O_RDWR | O_TMPFILE | flags, only_mine);
}

/// Some file systems refuse O_DIRECT when the file is opened, and some only when it is written to.
bool takes_direct(os::File& file) {
    alignas(alignment) static const std::array<char, alignment> block{};
    try {
        file.write_exactly(block.data(), block.size(), 0);
        return true;
    } catch (const Error& error) {
        if (error.kind() != Code::invalid_argument && error.kind() != Code::unsupported) throw;
        return false;
    }
}

void allocate(os::File& file, std::uint64_t bytes) {
    try {
        file.allocate(0, bytes);
    } catch (const Error& error) {
        if (error.kind() != Code::unsupported)
            throw;  // NFS before 4.2 and others: they find room as they write
    }
}

}  // namespace

Scratch make_scratch(const std::string& directory, std::uint64_t bytes, bool wants_direct) {
    std::optional<Error> refusal;
    for (const bool is_direct : {true, false}) {
        if (is_direct && !wants_direct) continue;
        for (const auto open : {open_unnamed, open_named}) {
            try {
                Scratch scratch{open(directory, is_direct ? O_DIRECT : 0), is_direct};
                if (is_direct && !takes_direct(scratch.file)) break;
                allocate(scratch.file, bytes);
                return scratch;
            } catch (const Error& error) {
                if (error.kind() == Code::no_space || error.kind() == Code::io_error) throw;
                refusal = error;
            }
        }
    }
    throw Error(*refusal);
}

}  // namespace pmemcpy::profiler
