#include "exchange/part.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <pmemcpy/error.hpp>
#include <system_error>

#include "exchange/formats.hpp"
#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view mark = ".part";
constexpr std::string_view letters = "XXXXXX";  // for mkdtemp

// No other program's folder has a file of this name.
std::string lock_in(const std::string& folder) { return folder + "/.pmemcpy-export"; }

bool try_lock(int file) {
    struct flock all {};
    all.l_type = F_WRLCK;
    all.l_whence = SEEK_SET;
    return ::fcntl(file, F_OFD_SETLK, &all) == 0;
}

bool leads_to(const std::string& path, int file) {
    struct stat named {};
    struct stat opened {};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(file, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

void remove_if_dead(const std::string& folder) {
    const int lock = ::open(lock_in(folder).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) return;
    std::error_code ignored;
    if (try_lock(lock)) fs::remove_all(folder, ignored);
    ::close(lock);
}

// What killed exports have left of any file in a directory.
void remove_those_of_the_dead(const fs::path& directory) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
        const std::string name = entry.path().filename();
        const auto dot = name.rfind(mark);
        if (dot != std::string::npos && name.size() - dot == mark.size() + letters.size())
            remove_if_dead(entry.path());
    }
}

}  // namespace

Part::Part(const std::string& file, bool overwrite)
    : file_(file.ends_with('/') ? file.substr(0, file.size() - 1) : file), overwrite_(overwrite) {
    check_free();
    const fs::path directory = fs::path(file_).parent_path();
    remove_those_of_the_dead(directory.empty() ? "." : directory);
    while (!make_folder()) {
    }
    path_ = folder_ + "/" + fs::path(file_).filename().string();
}

Part::~Part() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    ::close(lock_);
}

// False if another export took the folder for one that a dead process had left, before it had its lock.
bool Part::make_folder() {
    folder_ = file_ + std::string(mark) + std::string(letters);
    if (::mkdtemp(folder_.data()) == nullptr) fail_kernel("cannot make " + folder_, errno);
    lock_ = ::open(lock_in(folder_).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (lock_ < 0) {
        const int error = errno;
        ::rmdir(folder_.c_str());
        fail_kernel("cannot make " + lock_in(folder_), error);
    }
    if (try_lock(lock_) && leads_to(lock_in(folder_), lock_)) return true;
    ::close(lock_);
    return false;
}

void Part::become_whole(bool for_owner) {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail_kernel("cannot open " + path_, errno);
    const bool is_directory = fs::is_directory(path_);
    const auto write_back = [&] { return (is_directory ? ::syncfs(fd) : ::fsync(fd)) == 0; };
    const bool is_closed = !for_owner || ::fchmod(fd, is_directory ? 0700 : 0600) == 0;
    const int error = is_closed && write_back() ? 0 : errno;
    ::close(fd);
    if (error != 0) fail_kernel("cannot write " + path_, error);
    check_free();
    if (!overwrite_) return take_free_name();
    std::error_code failed;
    // A directory takes no other's place: the two change names at once, and the old one goes with the part. Where the
    // file system cannot do that, the old one first gets out of the way.
    const std::string old = folder_ + "/old";
    const bool is_replaced = is_directory && fs::exists(fs::symlink_status(file_));
    if (is_replaced) {
        if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, file_.c_str(), RENAME_EXCHANGE) == 0) return;
        fs::rename(file_, old, failed);
    }
    if (!failed) fs::rename(path_, file_, failed);
    if (failed) {
        std::error_code ignored;
        if (is_replaced && fs::exists(old, ignored)) fs::rename(old, file_, ignored);
        fail_rename(failed.value());
    }
}

// Whoever makes a file of that name in the last moment keeps it.
void Part::take_free_name() const {
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, file_.c_str(), RENAME_NOREPLACE) == 0) return;
    if (errno == EEXIST) fail_taken();
    if (errno != EINVAL) fail_rename(errno);  // which says that this file system (NFS) knows no such flag
    std::error_code failed;
    fs::rename(path_, file_, failed);
    if (failed) fail_rename(failed.value());
}

void Part::fail_taken() const {
    throw Error(Code::already_exists, file_ + " is there already; choose another name, or overwrite it");
}

void Part::fail_rename(int error) const { fail_kernel("cannot give " + path_ + " the name " + file_, error); }

void Part::check_free() const {
    if (!overwrite_ && fs::exists(fs::symlink_status(file_))) fail_taken();
    if (fs::is_directory(file_) && !is_zarr(file_) && !fs::is_empty(file_)) {
        throw Error(Code::already_exists,
                    file_ + " is a directory with something else in it; remove it yourself");
    }
}

}  // namespace pmemcpy::exchange
