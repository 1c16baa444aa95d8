#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

namespace pmemcpy {

/// A new folder for a test, removed with all that is in it when it goes. Tests leave its place open, in memory where there is
/// such a place, so that PMEMCPY_TEST_FOLDER can try them on another medium; who needs a certain medium names the place.
class Folder {
public:
    Folder() : Folder(usual_place()) {}
    explicit Folder(const std::filesystem::path& place) {
        std::string name = place / "pmemcpy-test-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) {
            const int error = errno;
            throw std::system_error(error, std::generic_category(),
                                    "no folder for a test in '" + place.string() + "'");
        }
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path& path() const noexcept { return path_; }
    /// A path in it, as pools are named.
    std::string operator/(const std::string& name) const { return path_ / name; }

private:
    static std::filesystem::path usual_place() {
        if (const char* wanted = std::getenv("PMEMCPY_TEST_FOLDER")) return wanted;
        const std::filesystem::path memory = "/dev/shm";
        return std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    }

    std::filesystem::path path_;
};

}  // namespace pmemcpy
