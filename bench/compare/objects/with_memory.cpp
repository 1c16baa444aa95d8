// The limit: plain copies between a process's memory and places in a shared mapping that is warm. Nothing is looked up, for
// an object's number is read out of its name; what is there is not told from what is not.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "library.hpp"
#include "persist/copy.hpp"

namespace compare::objects {
namespace {

constexpr std::size_t room_bytes = std::size_t{64}
                                   << 30;  // of addresses; the file is as long as what was stored

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

class Memory : public Library {
public:
    explicit Memory(bool streams) : streams_(streams) {}
    ~Memory() override { unmap(); }

    void open(const std::string& path, Access access) override {
        file_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (access == Access::create ? O_CREAT | O_EXCL : 0),
                       0666);
        if (file_ < 0) fail(path);
        if (access == Access::create && ::ftruncate(file_, static_cast<off_t>(room_bytes)) != 0)
            fail("ftruncate");
        void* memory =
            ::mmap(nullptr, room_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
        if (memory == MAP_FAILED) fail("mmap");
        memory_ = static_cast<std::byte*>(memory);
        // Opening is not timed, so whoever comes to objects that are there has them warm.
        struct stat status {};
        if (::fstat(file_, &status) != 0) fail("fstat");
        const auto there = static_cast<std::size_t>(status.st_blocks) * 512;
        if (there > 0 && ::madvise(memory_, there, MADV_POPULATE_WRITE) != 0) fail("madvise");
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        if (streams_)
            pmemcpy::persist::copy_to_medium(pmemcpy::persist::Medium(pmemcpy::Durability::none),
                                             place(name, bytes.size()), bytes.data(), bytes.size());
        else
            std::memcpy(place(name, bytes.size()), bytes.data(), bytes.size());
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        if (streams_)
            pmemcpy::persist::copy_from_medium(bytes.data(), place(name, bytes.size()), bytes.size());
        else
            std::memcpy(bytes.data(), place(name, bytes.size()), bytes.size());
    }

    void erase(std::string_view /*name*/) override { throw Unsupported("memory has no names to erase"); }
    std::uint64_t list() override { throw Unsupported("memory has no names"); }
    void close() override { unmap(); }

private:
    std::byte* place(std::string_view name, std::size_t size) const {
        std::size_t number = 0;
        std::from_chars(name.data() + name.rfind('-') + 1, name.data() + name.size(), number);
        if ((number + 1) * size > room_bytes) throw std::runtime_error("no room for " + std::string(name));
        return memory_ + number * size;
    }
    void unmap() {
        if (memory_ != nullptr) ::munmap(memory_, room_bytes);
        if (file_ >= 0) ::close(file_);
        memory_ = nullptr;
        file_ = -1;
    }

    bool streams_;
    int file_ = -1;
    std::byte* memory_ = nullptr;
};

}  // namespace

const std::vector<Variant> variants = {
    {"memcpy", "memcpy to and from its place in a mapping, which is warm from the first load on", any_number,
     any_number},
    {"streaming", "the same by pMEMCPY's copy kernels, without checksums", any_number, any_number},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Memory>(variant == "streaming");
}

}  // namespace compare::objects
