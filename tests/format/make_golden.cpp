// Makes the golden pools of the format version that this build writes: make_golden FOLDER. Once for each version, when it is
// released; what has been made is never made again, for it is there to be what an older release has left.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "golden_listing.hpp"
#include "pool/format.hpp"
#include "tests/faults/sample.hpp"

namespace pmemcpy::format {
namespace {

namespace fs = std::filesystem;

struct Form {
    const char* name;
    Layout layout;
    std::uint64_t chunk_bytes;  // 0: by default
    bool is_closed;
};
constexpr Form forms[] = {{"file", Layout::file, 0, true},
                          {"file_small_chunks", Layout::file, 4096, true},
                          {"file_crashed", Layout::file, 16384, false},
                          {"directory", Layout::directory, 4096, true},
                          {"directory_crashed", Layout::directory, 16384, false}};

void fill(const Form& form, const fs::path& folder) {
    Options options;
    options.layout = form.layout;
    options.max_bytes = form.chunk_bytes == 0 ? 64 << 20 : 2 << 20;
    if (form.chunk_bytes != 0) options.chunk_bytes = form.chunk_bytes;
    PMEM pmem;
    pmem.mmap((folder / "pool").string() + (form.layout == Layout::directory ? "/" : ""), options);
    faults::fill_sample(pmem);
    std::ofstream(folder / "listing") << listing_of(pmem);
    if (!form.is_closed) {  // in a step that is lost with the process
        pmem.begin(3);
        pmem.store("s", 3);
    }
    if (form.is_closed) pmem.munmap();
    std::fflush(nullptr);
    ::_exit(0);  // without an orderly end where it is not closed
}

void make(const Form& form, const fs::path& folder) {
    const fs::path here = folder / form.name;
    fs::create_directories(here);
    const pid_t child = ::fork();
    if (child == 0) fill(form, here);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) throw Error(Code::io_error, std::string("no golden pool ") + form.name);
    for (const auto& entry : fs::recursive_directory_iterator(here)) {
        if (entry.path().extension() == ".rt") fs::remove(entry.path());  // goes with the machine
    }
    const std::string version = "v" + std::to_string(pool::format_version) + "_";
    fs::copy_file(here / "listing", folder / (version + form.name + ".txt"));
    fs::remove(here / "listing");
    const std::string archive = (folder / (version + form.name + ".tar.xz")).string();
    const std::string command =
        "tar --sparse --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C '" + here.string() +
        "' -cJf '" + archive + "' .";
    if (std::system(command.c_str()) != 0) throw Error(Code::io_error, "tar failed: " + command);
    fs::remove_all(here);
}

}  // namespace
}  // namespace pmemcpy::format

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "make_golden FOLDER\n");
        return 2;
    }
    try {
        for (const auto& form : pmemcpy::format::forms) pmemcpy::format::make(form, argv[1]);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
