// Opens a pool that somebody wishes ill, and does with it all that a user can. An input is
//
//     seed, what is done, medium, then a Mutation    or    255, what is done, medium, then the bytes of a file

#include <filesystem>

#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/repair.hpp>

#include "fenced_kernel.hpp"
#include "pool_mutation.hpp"
#include "pool_seed.hpp"
#include "pool_use.hpp"
#include "target.hpp"

namespace pmemcpy::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t raw_bytes = 255;

/// Where the pools of one layout are.
struct Paths {
    explicit Paths(bool directory)
        : pool(folder() + (directory ? "/pool/" : "/pool")),
          fresh(folder() + (directory ? "/fresh/" : "/fresh")),
          records(directory ? pool + ".pool" : pool),
          data(directory ? pool + ".data" : "") {}
    void clear() const {
        for (const char* name : {"/pool", "/fresh"}) {
            fs::remove_all(folder() + name);
            fs::remove(folder() + name + ".rt");
        }
    }
    std::string pool;
    std::string fresh;  // where a repair goes
    std::string records;
    std::string data;
};

template <class Work>
void with(const std::string& path, Mode mode, bool checks, Work&& work) {
    PMEM pmem;
    try {
        Options options;
        options.mode = mode;
        options.verify_loads = checks;
        pmem.mmap(path, options);
        work(pmem);
        pmem.munmap();
    } catch (const Error& error) {
        expect(*error.what() != '\0', "an error without words");
    }
}

void use(const Paths& paths, std::uint8_t what) {
    const bool checks = (what & 8) != 0;
    switch (what % 4) {
        case 0:
            return with(paths.pool, Mode::read, checks, look_at);
        case 1:
            with(paths.pool, Mode::update, checks, [](PMEM& pmem) {
                look_at(pmem);
                change_all(pmem);
            });
            return;
        case 2:
            with(paths.pool, Mode::update, checks, change_all);
            with(paths.pool, Mode::update, checks, look_at);
            return;
        default:
            try {
                repair(paths.pool, paths.fresh);
            } catch (const Error&) {
                return;
            }
            with(paths.fresh, Mode::update, checks, look_at);
    }
}

void open(Input input, bool directory) {
    const std::vector<Seed>& all = seeds(directory);
    const FencedKernel kernel;
    Bytes bytes(input);
    const auto seed = bytes.take<std::uint8_t>();
    const auto what = bytes.take<std::uint8_t>();
    const bool page_cache = bytes.take<std::uint8_t>() % 2 == 1;
    const Paths paths(directory);
    paths.clear();
    fs::create_directories(fs::path(paths.records).parent_path());
    if (seed == raw_bytes) {
        Mutation(bytes.rest()).write(paths.records, paths.data);
    } else {
        Mutation(all[seed % all.size()], bytes).write(paths.records, paths.data);
    }
    FencedKernel::behind_page_cache(page_cache);
    use(paths, what);
    expect(FencedKernel::mapped() == 0, "a mapping is left");
    paths.clear();
}

}  // namespace

void open_pool(Input input) { open(input, false); }
void open_directory(Input input) { open(input, true); }

}  // namespace pmemcpy::fuzz
