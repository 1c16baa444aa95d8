// The file system itself: a folder with a file per object.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "library.hpp"

namespace compare::objects {
namespace {

/// Errors: std::system_error, which is a std::runtime_error
template <class Result>
Result checked(Result result, std::string_view what) {
    if (result < 0) throw std::system_error(errno, std::generic_category(), std::string(what));
    return result;
}

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    int number() const { return number_; }
    void close() { checked(::close(std::exchange(number_, -1)), "close"); }

private:
    int number_;
};

class Posix : public Library {
public:
    explicit Posix(bool atomic) : atomic_(atomic) {}

    void open(const std::string& path, Access access) override {
        if (access == Access::create) checked(::mkdir(path.c_str(), 0777), path);
        folder_ = Descriptor(checked(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), path));
        temporary_ = ".new-" + std::to_string(::getpid());
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        name_ = name;
        const std::string& written = atomic_ ? temporary_ : name_;
        Descriptor file(checked(
            ::openat(folder_.number(), written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666),
            written));
        for (std::span<const std::byte> rest = bytes; !rest.empty();) {
            rest = rest.subspan(
                static_cast<std::size_t>(checked(::write(file.number(), rest.data(), rest.size()), written)));
        }
        file.close();
        // rename(2): "If newpath already exists, it will be atomically replaced, so that there is no point at which
        // another process attempting to access newpath will find it missing."
        if (atomic_) {
            checked(::renameat(folder_.number(), temporary_.c_str(), folder_.number(), name_.c_str()), name_);
        }
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        name_ = name;
        Descriptor file(checked(::openat(folder_.number(), name_.c_str(), O_RDONLY | O_CLOEXEC), name_));
        // A byte more than there should be, which tells a longer object without another call.
        std::byte more{};
        std::size_t done = 0;
        while (true) {
            const std::array<iovec, 2> room{iovec{bytes.data() + done, bytes.size() - done}, iovec{&more, 1}};
            const auto got = static_cast<std::size_t>(checked(::readv(file.number(), room.data(), 2), name_));
            done += got;
            if (done > bytes.size() || (got == 0 && done < bytes.size())) {
                throw std::runtime_error(name_ + " has another size");
            }
            if (got == 0 || done == bytes.size()) break;
        }
        file.close();
    }

    void erase(std::string_view name) override {
        name_ = name;
        checked(::unlinkat(folder_.number(), name_.c_str(), 0), name_);
    }

    std::uint64_t list() override {
        const int again =
            checked(::openat(folder_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "the folder");
        const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(again), ::closedir);
        if (!folder) throw std::system_error(errno, std::generic_category(), "fdopendir");
        std::uint64_t names = 0;
        errno = 0;
        while (const dirent* entry = ::readdir(folder.get())) names += entry->d_name[0] != '.';
        if (errno != 0) throw std::system_error(errno, std::generic_category(), "readdir");
        return names;
    }

    void close() override { folder_.close(); }

private:
    bool atomic_;
    Descriptor folder_;
    std::string temporary_;  // each process has its own
    std::string name_;       // with a zero at its end, as system calls want it
};

}  // namespace

const std::vector<Variant> variants = {
    {"posix", "a file per object: written beside, then renamed over the name", any_number, any_number},
    {"posix-in-place", "a file per object, written under its name: a reader may see half of it", any_number,
     any_number},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Posix>(variant == "posix");
}

}  // namespace compare::objects
