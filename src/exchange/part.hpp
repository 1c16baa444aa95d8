#pragma once

#include <string>

namespace pmemcpy::exchange {

/// What is written elsewhere until it is whole: in a folder beside the file, called as the file with `.part` and six letters behind it.
/// A lock says that the folder is in use, so the next export to that directory removes what a killed one has left.
class Part {
public:
    /// Errors: already_exists.
    Part(const std::string& file, bool overwrite);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    const std::string& path() const { return path_; }

    /// The bytes come to the medium before the name does. Nobody but its owner may open it `for_owner`, as nobody else may before.
    /// Errors: already_exists, io_error, no_space.
    void become_whole(bool for_owner = false);

private:
    bool make_folder();
    void check_free() const;
    void take_free_name() const;
    [[noreturn]] void fail_taken() const;
    [[noreturn]] void fail_rename(int error) const;

    std::string file_;
    bool overwrite_;
    std::string folder_;
    std::string path_;
    int lock_ = -1;
};

}  // namespace pmemcpy::exchange
