// A file for each rank, written with pwrite: nothing shared, no names, no types. What all others are built upon.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "library.hpp"

namespace compare::arrays {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

class Posix : public Library {
public:
    explicit Posix(MPI_Comm comm) : comm_(comm) { MPI_Comm_rank(comm, &rank_); }
    ~Posix() override {
        if (file_ >= 0) ::close(file_);
    }

    void open(const std::string& path, Access access, const Content& content) override {
        content_ = &content;
        if (access == Access::create) {
            if (rank_ == 0 && ::mkdir(path.c_str(), 0777) != 0) fail(path);
            MPI_Barrier(comm_);
        }
        const std::string mine = path + "/" + std::to_string(rank_);
        const int flags = access == Access::read     ? O_RDONLY
                          : access == Access::create ? O_RDWR | O_CREAT | O_EXCL
                                                     : O_RDWR;
        file_ = ::open(mine.c_str(), flags | O_CLOEXEC, 0666);
        if (file_ < 0) fail(mine);
        at_ = 0;
    }
    void begin_step(std::uint64_t step) override {
        if (step == 0) at_ = 0;
    }
    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        transfer(array, where, const_cast<void*>(data), [](int file, void* from, std::size_t size, off_t at) {
            return ::pwrite(file, from, size, at);
        });
    }
    // Only the sizes of a program's own pieces say where they are.
    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        transfer(array, where, data,
                 [](int file, void* to, std::size_t size, off_t at) { return ::pread(file, to, size, at); });
    }
    bool shares() const override { return false; }
    void sync() override {
        if (::fdatasync(file_) != 0) fail("fdatasync");
    }
    void close() override {
        const int file = file_;
        file_ = -1;
        if (::close(file) != 0) fail("close");
    }

private:
    template <class Call>
    void transfer(std::size_t array, const pmemcpy::Selection& where, void* data, const Call& call) {
        std::size_t left = where.elements() * size_of(content_->arrays[array].element);
        for (auto* next = static_cast<std::byte*>(data); left > 0;) {
            const ssize_t done = call(file_, next, left, at_);
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) fail("transfer");
            next += done;
            left -= static_cast<std::size_t>(done);
            at_ += done;
        }
    }

    MPI_Comm comm_;
    int rank_ = 0;
    int file_ = -1;
    off_t at_ = 0;
    const Content* content_ = nullptr;
};

}  // namespace

const std::vector<Variant> variants = {{"posix", "a file for each rank, pwrite and pread"}};

std::unique_ptr<Library> make_library(const std::string& /*variant*/, MPI_Comm comm) {
    return std::make_unique<Posix>(comm);
}

}  // namespace compare::arrays
