#include "index/generations.hpp"

#include <fcntl.h>

#include <pmemcpy/error.hpp>

#include "index/fact.hpp"
#include "os/directory.hpp"
#include "os/names.hpp"

namespace pmemcpy::index {

namespace {

constexpr int most_tries = 8;

// Whoever may read a directory may also enter it.
unsigned directory_mode(unsigned pool_mode) { return (pool_mode & 0666) | 0700 | (pool_mode & 0444) >> 2; }

}  // namespace

std::optional<os::File> Generations::root() const {
    const std::string directory = this->directory();
    if (!os::is_directory(directory)) return {};
    auto root = os::File::open_if_exists(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (root) store_->refuse_foreign(*root);
    store_->check_in_place();  // else it is another pool's
    return root;
}

std::optional<std::uint64_t> Generations::newest() const {
    std::optional<std::uint64_t> newest;
    const auto root = this->root();
    if (!root) return newest;
    for (const std::string& name : os::names_in(*root)) {
        const auto number = index_of(name);
        if (number && (!newest || *number > *newest)) newest = number;
    }
    return newest;
}

std::string Generations::path(std::uint64_t generation) const {
    return directory() + "/" + std::to_string(generation);
}

// Others may remove it at any moment: then it is made again.
void Generations::make(std::uint64_t generation) const {
    for (int tries = 1;; ++tries) {
        try {
            for (const std::string& path : {directory(), this->path(generation)}) make_one(path);
            return;
        } catch (const Error& error) {
            const bool was_removed = error.kind() == Code::not_found || error.kind() == Code::already_exists;
            if (!was_removed || tries == most_tries) throw;
        }
    }
}

void Generations::make_one(const std::string& path) const {
    os::make_directory(path, 0700);
    os::File made = os::File::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    store_->refuse_foreign(made);
    store_->keep_like(made, directory_mode(store_->permissions()));
}

void Generations::remove_all_before(std::uint64_t generation) const {
    const auto root = this->root();
    if (!root) return;
    for (const std::string& name : os::names_in(*root)) {
        const auto number = index_of(name);
        if (!number || *number >= generation) continue;
        if (const auto old = os::File::open_in(*root, name, O_RDONLY | O_DIRECTORY)) {
            for (const std::string& file : os::names_in(*old)) os::remove_in(*old, file);
        }
        os::remove_directory_in(*root, name);
    }
}

// What is none of the index's stays: a user may have called something of their own so.
void Generations::remove_all() const {
    remove_all_before(~std::uint64_t{0});
    const auto root = this->root();
    if (!root) return;
    os::remove_in(*root, "lock");
    if (os::names_in(*root).empty()) os::remove_directory(directory());
}

}  // namespace pmemcpy::index
