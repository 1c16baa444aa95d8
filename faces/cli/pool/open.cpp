#include "cli/pool/open.hpp"
#include "cli/terminal/note.hpp"

#include <fmt/core.h>

#include <cstdio>

namespace pmemcpy::cli {

namespace {

PMEM opened(const std::string& path, Mode mode, bool checks) {
    Options options;
    options.mode = mode;
    options.verify_loads = checks;
    PMEM pmem;
    pmem.mmap(path, options);
    return pmem;
}

}  // namespace

PMEM open_for_reading(const std::string& path, bool checks) {
    try {
        return opened(path, Mode::read, checks);
    } catch (const Error& reading) {
        if (reading.kind() != Code::busy) throw;
        try {
            PMEM pmem = opened(path, Mode::update, checks);
            note("{} was not closed cleanly; it has been recovered", path);
            return pmem;
        } catch (const Error& writing) {
            if (writing.kind() != Code::permission_denied) throw;
        }
        throw;  // the reader's message says who can recover the pool
    }
}

PMEM open_to_follow(const std::string& path) {
    open_for_reading(path).munmap();
    return open_for_reading(path);
}

PMEM open_for_writing(const std::string& path, bool checks) { return opened(path, Mode::update, checks); }

}  // namespace pmemcpy::cli
