#include "layout/claim.hpp"

#include "os/directory.hpp"
#include "os/names.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>

namespace pmemcpy::layout {
namespace {

constexpr const char* claim_name = "claim";
constexpr std::uint64_t longest_claim = 8192;

struct Claim {
    os::Identity identity;
    std::string path;
};

std::optional<Claim> read_claim(const os::File& directory) {
    const auto file = os::File::open_in(directory, claim_name, O_RDONLY);
    if (!file || !file->is_regular()) return std::nullopt;
    std::string text(std::min(file->size(), longest_claim), '\0');
    file->read_exactly(text.data(), text.size(), 0);
    std::istringstream words(text);
    Claim claim;
    std::string what;
    if (!(words >> what >> claim.identity.device >> claim.identity.inode) || what != "pool")
        return std::nullopt;
    words.ignore();
    std::getline(words, claim.path);
    return claim;
}

void write_claim(const os::File& directory, pool::Pool& pool) {
    const os::Identity self = pool.file().identity();
    const std::string text = "pool " + std::to_string(self.device) + " " + std::to_string(self.inode) + "\n" +
                             os::real_path(pool.path()).value_or(pool.path()) + "\n";
    const std::string passing = std::string(claim_name) + "." + std::to_string(self.inode);
    os::remove_in(directory, passing);
    auto file = os::File::open_in(directory, passing, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (!file) throw Error(Code::io_error, directory.path() + " was removed while a pool was being opened");
    file->write_exactly(text.data(), text.size(), 0);
    file->sync_all();
    os::rename_in(directory, passing, directory, claim_name);
}

}  // namespace

std::string claimant_of(const std::string& directory) {
    try {
        const auto there = os::File::open_if_exists(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        const auto claim = there ? read_claim(*there) : std::nullopt;
        return claim ? claim->path : std::string();
    } catch (const Error&) {
        return {};
    }
}

std::string own_claimant_of(const std::string& directory) {
    try {
        const auto there = os::File::open_if_exists(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        const auto named = there ? os::look_in(*there, claim_name) : std::nullopt;
        const bool is_own = named && there->owner() == os::user_id() && named->owner == os::user_id();
        return is_own ? claimant_of(directory) : std::string();
    } catch (const Error&) {
        return {};
    }
}

std::string claimed_name(const pool::Pool& pool) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name = "pmemcpy-";
    for (const std::uint8_t byte : pool.super().uuid) {
        name += digits[byte >> 4];
        name += digits[byte & 15];
    }
    return name;
}

std::optional<std::string> claimant_of(const os::File& directory) {
    const auto there = read_claim(directory);
    if (!there) return std::nullopt;
    const auto pool = os::File::open_if_exists(there->path, O_RDONLY);
    if (!pool || !(pool->identity() == there->identity)) return std::nullopt;
    return there->path;
}

void claim(const os::File& directory, pool::Pool& pool) {
    const auto there = read_claim(directory);
    const bool is_own = there && there->identity == pool.file().identity();
    if (is_own && there->path == os::real_path(pool.path()).value_or(pool.path())) return;
    if (there && !is_own) {
        const auto other = os::File::open_if_exists(there->path, O_RDONLY);
        if (other && other->identity() == there->identity) {
            throw Error(Code::busy,
                        directory.path() + " holds blocks of the pool " + there->path + ", of which " +
                            pool.path() +
                            " is a copy of the file: it may be read, and not written. `pmemcpy cp` "
                            "makes a pool of its own with all blocks");
        }
    }
    write_claim(directory, pool);
}

}  // namespace pmemcpy::layout
