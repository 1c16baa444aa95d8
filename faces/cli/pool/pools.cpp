#include "cli/pool/pools.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <pmemcpy/namespaces.hpp>
#include <system_error>

#include "cli/call/exit_code.hpp"
#include "cli/pool/open.hpp"
#include "cli/pool/place.hpp"
#include "cli/terminal/note.hpp"

namespace pmemcpy::cli {

namespace {

namespace fs = std::filesystem;

/// What the file of a pool begins with: docs/format.md.
constexpr std::string_view pool_begin = "pMEMCPY\n";

bool is_directory(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

}  // namespace

bool is_pool(const std::string& path) {
    std::error_code ignored;
    if (is_directory(path)) return fs::exists(fs::path(path) / ".pool", ignored);
    if (!fs::is_regular_file(path, ignored)) return false;  // of a pipe nobody may read
    std::array<char, pool_begin.size()> begin{};
    std::ifstream file(path, std::ios::binary);
    file.read(begin.data(), begin.size());
    return file && std::string_view(begin.data(), begin.size()) == pool_begin;
}

bool is_folder(const std::string& path) { return is_directory(path) && !is_pool(path); }

std::vector<std::string> pools_in(const std::string& folder) {
    std::vector<std::string> pools;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (is_pool(at->path().string())) pools.push_back(at->path().string());
    }
    if (error)
        throw Error(error == std::errc::permission_denied ? Code::permission_denied : Code::io_error,
                    folder + ": " + error.message());
    std::sort(pools.begin(), pools.end());
    return pools;
}

bool is_place(const std::string& word) {
    std::error_code ignored;
    if (fs::exists(word, ignored)) return true;
    if (word.find(':') == std::string::npos) return false;
    try {
        const std::string path = resolve_pool(word);
        return path != word && fs::exists(path, ignored);
    } catch (const Error&) {
        return false;
    }
}

std::vector<PoolOfMany> pools_named(const std::vector<std::string>& words) {
    if (words.size() == 1 && !is_folder(words.front()))
        return {{words.front(), words.front(), [](const std::string& id) { return id; },
                 nlohmann::ordered_json::object(), true}};
    std::vector<PoolOfMany> pools;
    for (const std::string& word : words) {
        const bool is_many = is_folder(word);
        for (const std::string& path : is_many ? pools_in(word) : std::vector<std::string>{word})
            pools.push_back({path,
                             path,
                             [before = path.ends_with(':') ? path : path + ":"](const std::string& id) {
                                 return before + id;
                             },
                             {{"pool", path}},
                             !is_many});
    }
    return pools;
}

std::vector<PoolOfMany> pools_everywhere() {
    std::vector<PoolOfMany> pools;
    for (const Namespace& space : namespaces()) {
        for (const NamespacePool& pool : space.pools)
            pools.push_back(
                {pool.path,
                 space.name + ":" + pool.name,
                 [space, pool](const std::string& id) { return name_everywhere(space, pool, id); },
                 {{"namespace", space.name}, {"pool", pool.name}},
                 false});
    }
    return pools;
}

int look_into(const std::vector<PoolOfMany>& pools,
              const std::function<bool(const PoolOfMany&, const PMEM&)>& look) {
    int status = exit_ok;
    const bool is_alone = pools.size() == 1 && pools.front().is_named;
    for (const PoolOfMany& pool : pools) {
        try {
            if (!look(pool, open_for_reading(pool.path))) break;
        } catch (const Error& error) {
            if (is_alone || error.kind() == Code::invalid_argument) throw;
            note("{} was left out: {}", pool.shown, error.what());
            if (pool.is_named) status = exit_code(error.kind());
        }
    }
    return status;
}

}  // namespace pmemcpy::cli
