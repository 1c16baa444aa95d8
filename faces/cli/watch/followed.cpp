#include "cli/watch/followed.hpp"

#include <sys/stat.h>

#include <pmemcpy/namespaces.hpp>

#include "cli/pool/open.hpp"

namespace pmemcpy::cli {

Followed::Followed(const std::string& path) : path_(resolve_pool(path)) { open(); }

// Of a pool in a directory it is the file of records that another pool has another one of.
Followed::File Followed::file_at(const std::string& path) {
    struct stat found {};
    if (stat(path.c_str(), &found) != 0) return {};
    if (S_ISDIR(found.st_mode) && stat((path + "/.pool").c_str(), &found) != 0) return {};
    return {found.st_dev, found.st_ino};
}

// The file is asked for before: if another takes its place meanwhile, that is noticed at the next look.
void Followed::open() {
    file_ = file_at(path_);
    pmem_ = open_to_follow(path_);
}

Followed::Fate Followed::look() {
    const File now = file_at(path_);
    if (is_there() && now == file_) return Fate::same;
    if (now == File{}) {
        if (!is_there()) return Fate::same;
        pmem_ = PMEM();
        return Fate::gone;
    }
    try {
        open();
        return Fate::replaced;
    } catch (const Error& error) {
        // Gone again, or its owner is still at it.
        if (error.kind() != Code::not_found && error.kind() != Code::busy) throw;
        const bool was_there = is_there();
        pmem_ = PMEM();
        return was_there ? Fate::gone : Fate::same;
    }
}

}  // namespace pmemcpy::cli
