#include "layout/claim.hpp"

#include "os/directory.hpp"
#include "os/fork.hpp"
#include "os/lock.hpp"
#include "os/names.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

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

/// The right to change what a directory says of whose it is: the lock on the file that becomes the claim.
class Claiming {
public:
    Claiming(const os::File& directory, pool::Pool& pool) : directory_(directory) {
        std::optional<pool::Patience> patience;
        for (;;) {
            in_child_.reset();
            file_ = open(pool);
            in_child_.emplace(file_);
            const bool is_held = os::try_lock(file_, os::LockKind::exclusive, 0, 1);
            // The one that another process had locked may be the claim by now, or gone.
            const auto named = os::look_in(directory_, passing_name);
            if (is_held && named && named->identity == file_.identity()) return;
            if (is_held) continue;
            if (!patience) patience.emplace(directory_.path(), "claiming it for a pool", file_, 0, nullptr);
            patience->nap();
        }
    }
    ~Claiming() {
        try {
            if (!is_said_) os::remove_in(directory_, passing_name);
        } catch (const Error&) {
            // The next one takes it for its own.
        }
    }
    Claiming(const Claiming&) = delete;
    Claiming& operator=(const Claiming&) = delete;

    void say(const std::string& text) {
        file_.resize(0);
        file_.write_exactly(text.data(), text.size(), 0);
        file_.sync_all();
        is_said_ = os::rename_in(directory_, passing_name, directory_, claim_name);
        if (!is_said_) fail_removed();
    }

private:
    static constexpr const char* passing_name = "claiming";

    os::File open(pool::Pool& pool) const {
        if (auto left = os::File::open_in(directory_, passing_name, O_RDWR)) return std::move(*left);
        try {
            auto made = os::File::open_in(directory_, passing_name, O_RDWR | O_CREAT | O_EXCL, 0600);
            if (!made) fail_removed();
            made->set_mode_bits((pool.file().mode_bits() & 0666) | 0644);
            return std::move(*made);
        } catch (const Error& error) {
            if (error.kind() != Code::already_exists) throw;
            return open(pool);
        }
    }
    [[noreturn]] void fail_removed() const {
        throw Error(Code::io_error, directory_.path() + " was removed while a pool was being opened");
    }

    const os::File& directory_;
    os::File file_;
    std::optional<os::ClosedInChild> in_child_;
    bool is_said_ = false;
};

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

// Looked at again under the lock: of two pool files with the same identity one has the payloads.
void claim(const os::File& directory, pool::Pool& pool) {
    const os::Identity self = pool.file().identity();
    const std::string path = os::real_path(pool.path()).value_or(pool.path());
    const auto is_said = [&](const std::optional<Claim>& claim) {
        return claim && claim->identity == self && claim->path == path;
    };
    const auto seen = read_claim(directory);
    if (is_said(seen)) return;
    const auto refuse_copy = [&](const std::optional<Claim>& there) {
        if (!there || there->identity == self) return;
        const auto other = os::File::open_if_exists(there->path, O_RDONLY);
        if (!other || !(other->identity() == there->identity)) return;
        throw Error(Code::busy, directory.path() + " holds blocks of the pool " + there->path + "; " +
                                    pool.path() +
                                    " is a copy of that pool's file, and changes nothing there. `pmemcpy cp` "
                                    "makes a pool of its own with all blocks");
    };
    refuse_copy(seen);
    pool::check_in_place(pool.file());  // the claim names it, and is believed as long as it is there
    Claiming claiming(directory, pool);
    const auto there = read_claim(directory);
    if (is_said(there)) return;
    refuse_copy(there);
    claiming.say("pool " + std::to_string(self.device) + " " + std::to_string(self.inode) + "\n" + path +
                 "\n");
}

}  // namespace pmemcpy::layout
