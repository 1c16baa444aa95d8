// Stores into a pool whose lowest target is a directory of a shared file system, until somebody says stop, from when STOP.may_come is there; then everything has to be
// there, flushed, and readable from there alone. Of the shared file system nobody knows anything here: it may be away at any moment.
//
//     flusher POOL DIRECTORY STOP

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <pmemcpy/tiers.hpp>

namespace {

using namespace pmemcpy;
using Words = std::vector<std::uint64_t>;

constexpr std::uint64_t words = 1 << 16;  // of a block: 512 KiB
constexpr std::uint64_t blocks = 64;

Words content(std::uint64_t block, std::uint64_t state) {
    Words all(words);
    for (std::uint64_t i = 0; i < words; ++i) all[i] = (block << 48) ^ (state << 24) ^ i;
    return all;
}

void check(const PMEM& pool, const std::map<std::uint64_t, std::uint64_t>& acknowledged) {
    for (const auto& [block, state] : acknowledged) {
        Words found(words);
        pool.load("u", found.data(), Box{{block, 0}, {1, words}});
        if (found != content(block, state))
            throw Error(Code::corrupt, "block " + std::to_string(block) + " has another content");
    }
}

// What the file system refuses now it may not refuse later.
template <class F>
void until_it_is_done(F&& f) {
    for (int attempt = 0;; ++attempt) {
        try {
            return f();
        } catch (const Error& error) {
            if (attempt == 300) throw;
            std::this_thread::sleep_for(std::chrono::seconds(1));
        }
    }
}

int run(const std::string& path, const std::string& directory, const std::string& stop) {
    Options options;
    options.max_bytes = 64 << 20;
    options.chunk_bytes = 64 << 10;
    PMEM pool;
    pool.mmap(path, options);
    Hierarchy h;
    h.targets = {{.name = "pool", .write = {8e9, 1e-6}, .read = {8e9, 1e-6}},
                 {.name = "shared",
                  .kind = TargetKind::shared,
                  .path = directory,
                  .write = {1e8, 1e-2},
                  .read = {1e8, 1e-2}}};
    h.flush.on = {Trigger::store};
    h.promotion = Promotion::never;
    set_hierarchy(pool, h);
    pool.alloc<std::uint64_t>("u", {blocks, words});
    std::map<std::uint64_t, std::uint64_t> acknowledged;
    std::uint64_t stores = 0;
    for (; !std::filesystem::exists(stop); ++stores) {
        const std::uint64_t block = stores * 7 % blocks;
        pool.store("u", content(block, stores).data(), Box{{block, 0}, {1, words}});
        acknowledged[block] = stores;
        if (stores == blocks) std::ofstream(stop + ".may_come");
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    check(pool, acknowledged);
    until_it_is_done([&] { flush(pool); });
    std::size_t flushed = 0;
    for (const Receipt& receipt : receipts(pool, "u")) flushed += receipt.is_flushed ? 1U : 0U;
    if (flushed != acknowledged.size()) throw Error(Code::io_error, "blocks are not flushed");
    until_it_is_done([&] { move(pool, "u", "shared"); });
    for (const BlockInfo& block : pool.blocks("u")) {
        if (block.target != "shared") throw Error(Code::io_error, "a block is not where it was moved to");
    }
    pool.munmap();
    pool.mmap(path);
    check(pool, acknowledged);
    for (const Damage& damage : pool.verify()) throw Error(Code::corrupt, damage.what);
    std::printf("%llu stores, %zu blocks read from the shared file system alone\n",
                static_cast<unsigned long long>(stores), acknowledged.size());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    try {
        return run(argv[1], argv[2], argv[3]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "flusher: %s\n", error.what());
        return 1;
    }
}
