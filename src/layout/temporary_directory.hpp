#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

namespace pmemcpy::layout {

/// For the tests of this room: removed with all that is in it when it goes.
class TemporaryDirectory {
public:
    explicit TemporaryDirectory(const std::filesystem::path& base = std::filesystem::temp_directory_path()) {
        std::string name = (base / "pmemcpy_layout_XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    std::filesystem::path path;
};

}  // namespace pmemcpy::layout
