// A file that grows: no names, no types, no checksums, and half a row if the writer is killed.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "library.hpp"

namespace compare::series {
namespace {

void check(bool succeeded, const char* what) {
    if (!succeeded) throw std::system_error(errno, std::generic_category(), what);
}

class File {
public:
    void open(const std::string& path, int flags) {
        fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
        check(fd_ >= 0, "open");
    }
    int fd() const { return fd_; }
    void close() { check(::close(fd_) == 0, "close"); }

private:
    int fd_ = -1;
};

class PosixWriter : public Writer {
public:
    void create(const std::string& path, std::uint64_t) override {
        file_.open(path, O_WRONLY | O_CREAT | O_EXCL);
    }
    void append(std::span<const double> row) override {
        check(::write(file_.fd(), row.data(), row.size_bytes()) == static_cast<ssize_t>(row.size_bytes()),
              "write");
    }
    void close() override { file_.close(); }

private:
    File file_;
};

class PosixReader : public Reader {
public:
    void open(const std::string& path) override { file_.open(path, O_RDONLY); }
    void next(std::span<double> row) override {
        const auto bytes = static_cast<off_t>(row.size_bytes());
        poll([&] {
            struct stat status {};
            check(::fstat(file_.fd(), &status) == 0, "fstat");
            return status.st_size >= at_ + bytes;
        });
        check(::pread(file_.fd(), row.data(), row.size_bytes(), at_) == bytes, "pread");
        at_ += bytes;
    }
    void close() override { file_.close(); }

private:
    File file_;
    off_t at_ = 0;
};

}  // namespace

const std::vector<Variant> variants = {{"posix", "write, and a reader that asks for the file's size"}};

std::unique_ptr<Writer> make_writer() { return std::make_unique<PosixWriter>(); }
std::unique_ptr<Reader> make_reader() { return std::make_unique<PosixReader>(); }

}  // namespace compare::series
