#include "pool/runtime.hpp"

#include "os/access.hpp"
#include "os/lock.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "persist/medium.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <cstring>
#include <utility>

namespace pmemcpy::pool {

std::string path_beside(const os::File& pool, const std::string& ending) {
    if (pool.fs_kind() != os::FileSystem::devdax) return pool.path() + ending;
    // No file can lie beside a character device.
    os::make_directory("/run/pmemcpy", 0755);
    return "/run/pmemcpy/" + pool.path().substr(pool.path().rfind('/') + 1) + ending;
}

namespace {

// Whoever may write the pool may write its .rt; mere readers get no access, so that their locks on it
// cannot block a writer's slot.
unsigned runtime_mode(unsigned pool_mode) {
    unsigned mode = 0600;
    if ((pool_mode & 0020) != 0) mode |= 0060;
    if ((pool_mode & 0002) != 0) mode |= 0006;
    return mode;
}

[[noreturn]] void throw_planted(const os::File& file, const os::File& pool, const char* what) {
    throw Error(Code::permission_denied, file.path() + " " + what + ", so it does not belong to " +
                                             pool.path() + "; remove it while nobody has the pool open");
}

// Resetting the file empties it. So it must not be another name of something else.
void refuse_planted(const os::File& file, const os::File& pool) {
    if (!file.is_regular()) throw_planted(file, pool, "is no regular file");
    if (file.link_count() > 1) throw_planted(file, pool, "has another name too");
    refuse_foreign(file, pool);
}

bool has_write(const os::Acl& acl, const os::AclEntry& entry) {
    return (acl.effective_bits(entry) & os::may_write) != 0;
}

// Of a group nobody can tell who is in it; so one that may write vouches for everybody.
bool may_be_writer(unsigned user, const os::Acl& acl, const os::File& pool) {
    if (user == pool.owner() || user == 0 || user == os::user_id()) return true;
    bool others = false;
    for (const os::AclEntry& entry : acl.entries()) {
        if (entry.who == os::AclEntry::Who::owner) continue;
        if (entry.who == os::AclEntry::Who::user && entry.id == user) return has_write(acl, entry);
        if (entry.who != os::AclEntry::Who::user) others = others || has_write(acl, entry);
    }
    return others;
}

bool is_as_wanted(const std::string& path, const os::Acl& wanted, const os::Acl& of_pool,
                  const os::File& pool) {
    try {
        const os::File file = os::File::open(path, O_RDWR | O_NOFOLLOW);
        if (!file.is_regular() || file.link_count() != 1 || !may_be_writer(file.owner(), of_pool, pool))
            return false;
        if (os::acl_of(file) == wanted) return true;
        if (file.owner() != os::user_id()) return false;
        os::set_acl(file, wanted);
        return true;
    } catch (const Error&) {
        return false;  // missing, closed to us, or a link: it is made anew, which tells if that cannot be
    }
}

// Where users are let in one by one, the mode bits cannot say who is a mere reader: the file gets a list of its own. Whoever begins a
// session puts it right, by a new file if the old one is not his: it may be of somebody who has been shut out meanwhile, or from before
// another was let in. Nobody has it open.
void make_for_writers(const std::string& path, const os::File& pool, const os::Acl& of_pool) {
    const os::Acl wanted = os::writers_only(of_pool, pool.owner(), pool.owning_group());
    if (is_as_wanted(path, wanted, of_pool, pool)) return;
    os::remove_file(path);
    const auto slash = path.rfind('/');
    os::File file =
        os::File::create_unnamed(slash == std::string::npos ? "." : path.substr(0, slash + 1), 0600);
    os::set_acl(file, wanted);
    file.link_as(path);
}

// A directory may let users into whatever is made in it, while the pool came from elsewhere and does not know them.
void drop_inherited(const os::File& file, const os::File& pool, const os::Acl& of_pool) {
    const auto inherited = os::acl_of(file);
    if (!inherited || !inherited->is_extended() || file.owner() != os::user_id()) return;
    os::set_acl(file, os::writers_only(of_pool, pool.owner(), pool.owning_group()));
}

void enlarge(os::File& file) {
    file.resize(runtime_file_bytes);
    // Huge pages that are not there when they are touched are a SIGBUS.
    if (file.fs_kind() == os::FileSystem::hugetlbfs) file.allocate(0, runtime_file_bytes);
}

}  // namespace

void refuse_foreign(const os::File& file, const os::File& pool) {
    const bool only_owner_writes = (pool.mode_bits() & 0022) == 0;
    const bool is_foreign =
        file.owner() != pool.owner() && file.owner() != 0 && file.owner() != os::user_id();
    if (only_owner_writes && is_foreign)
        throw_planted(file, pool, "belongs to a user who may not write the pool");
}

Runtime::Runtime(os::File file, os::Mapping map)
    : file_(std::move(file)), map_(std::move(map)), inode_(file_.identity().inode) {}

Runtime Runtime::open(const os::File& pool, unsigned pool_mode, std::uint64_t expected_inode, bool create) {
    const std::string path = path_beside(pool, ".rt");
    const int flags = O_RDWR | O_NOFOLLOW | (create ? O_CREAT : 0);
    const auto acl = create && pool.fs_kind() != os::FileSystem::devdax ? os::acl_of(pool) : std::nullopt;
    if (acl && acl->is_extended()) make_for_writers(path, pool, *acl);
    try {
        os::File file = os::File::open(path, flags, runtime_mode(pool_mode));
        if (!acl || !acl->is_extended()) refuse_planted(file, pool);
        if (acl && !acl->is_extended()) drop_inherited(file, pool, *acl);
        if (expected_inode == 0 || file.identity().inode == expected_inode) {
            if (file.size() < runtime_file_bytes) enlarge(file);
            os::Mapping map(file, runtime_bytes);
            return {std::move(file), std::move(map)};
        }
    } catch (const Error& error) {
        if (error.kind() == Code::permission_denied && !create && os::acl_of(pool) &&
            os::acl_of(pool)->is_extended()) {
            throw Error(Code::permission_denied,
                        std::string(error.what()) + "; who was allowed to write " + pool.path() +
                            " while others have it open gets in when they have closed it");
        }
        if (error.kind() != Code::not_found || create) throw;
    }
    throw Error(Code::busy,
                pool.path() + " is in use, but " + path +
                    " is missing or belongs to something else: the pool was renamed, hard-linked or its .rt "
                    "deleted meanwhile. Close it everywhere, then open it again.");
}

void Runtime::reset() {
    // Dropping the pages zeroes all slots without touching them.
    file_.resize(0);
    enlarge(file_);
}

void Runtime::validate(const std::array<std::uint8_t, 16>& uuid) {
    header().uuid = uuid;
    persist::Medium(Durability::none).store(&header().valid, runtime_valid);
}

bool Runtime::is_valid(const std::array<std::uint8_t, 16>& uuid) const {
    return persist::Medium::load(&header().valid) == runtime_valid && header().uuid == uuid;
}

bool Runtime::is_dead(std::uint64_t i) const {
    return persist::Medium::load(&slot(i).attached) != 0 &&
           !os::conflicts(file_, os::LockKind::exclusive, owner_byte(i), 1);
}

}  // namespace pmemcpy::pool
