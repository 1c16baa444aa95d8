#include "pool/runtime.hpp"

#include "os/access.hpp"
#include "os/failure.hpp"
#include "os/lock.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "os/user.hpp"
#include "persist/medium.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace pmemcpy::pool {

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

// What a run-time file of the pool is to be: the pool's own group and no more than these bits; or a list of users, where bits cannot say
// who may write the pool: users are let into it one by one, or the file is somebody's who cannot give it to the pool's owner and group.
class Rights {
public:
    explicit Rights(const os::File& pool)
        : pool_(pool), bits_(runtime_mode(pool.mode_bits())), is_for_all_((bits_ & 0006) != 0) {
        if (pool.fs_kind() != os::FileSystem::devdax) of_pool_ = os::acl_of(pool);
    }

    bool is_by_list() const { return of_pool_ && of_pool_->is_extended(); }
    const os::Acl& of_pool() const { return *of_pool_; }

    bool are_of(const os::File& file) const {
        const auto acl = os::acl_of(file);
        const bool is_same_group = file.owning_group() == pool_.owning_group();
        if (of_pool_ && !bits_suffice_for(file.owner(), is_same_group)) {
            if (acl == list()) return true;
            // Its owner gives it the pool's group, or the list, or learns that it can have neither. To others bits are the most that
            // there is.
            if (os::is_mine_to_change(file)) return false;
            if (is_by_list() || !acl || acl->is_extended()) return false;
        }
        if (acl && acl->is_extended()) return false;
        return (file.mode_bits() & 0777) == (is_same_group ? bits_ : os::bits_without_group(bits_));
    }

    /// Of a file of this process's user, or if that is root.
    void give_to(os::File& file) const {
        const auto acl = os::acl_of(file);
        const bool has_list = acl && acl->is_extended();  // which the directory gives to what is made in it
        if (os::user_id() == 0 && file.owner() != pool_.owner() && pool_.owner() != os::unknown_id)
            file.try_give_to(pool_.owner(), pool_.owning_group());
        const bool is_same_group = os::give_group_of(file, pool_);
        if (of_pool_ && (has_list || !bits_suffice_for(file.owner(), is_same_group))) {
            try {
                return os::set_acl(file, list());
            } catch (const Error&) {
                // The file system keeps no lists, or the user namespace does not know somebody in this one.
                if (is_by_list() || has_list) throw;
            }
        }
        file.set_mode_bits(is_same_group ? bits_ : os::bits_without_group(bits_));
    }

private:
    os::Acl list() const { return os::writers_only(*of_pool_, pool_.owner(), pool_.owning_group()); }
    bool bits_suffice_for(unsigned owner, bool is_same_group) const {
        if (is_by_list()) return false;
        return is_for_all_ || (owner == pool_.owner() && (is_same_group || (bits_ & 0060) == 0));
    }

    const os::File& pool_;
    unsigned bits_;
    bool is_for_all_;
    std::optional<os::Acl> of_pool_;
};

// It has no name before it is as it should be, so that a death leaves none that keeps others out.
os::File make_new(const std::string& path, const Rights& rights) {
    std::optional<os::File> file;
    try {
        file = os::File::create_unnamed(path, 0600);
        rights.give_to(*file);
        file->link_as(path);
        return std::move(*file);
    } catch (const Error& error) {
        // Some file systems know no file without a name, and without /proc it can get none.
        if (error.kind() == Code::permission_denied) os::throw_failure("create", path, EACCES);
        const bool has_no_way = error.kind() == Code::unsupported || error.kind() == Code::not_found ||
                                error.kind() == Code::invalid_argument;
        if (!has_no_way) throw;
    }
    file = os::File::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    rights.give_to(*file);
    return std::move(*file);
}

[[noreturn]] void throw_closed_to_us(const std::string& path, const os::File& pool, const std::string& why) {
    const auto there = os::File::open_if_exists(path, O_PATH | O_NOFOLLOW);
    const std::string owner = there ? os::name_of_user(there->owner()) : "another user";
    throw Error(Code::permission_denied,
                path + ", which all share that write " + pool.path() + ", does not let this user in (" + why +
                    "); user " + owner +
                    " sets it right by opening the pool, or removes it while nobody has the pool open");
}

// Of who is alone in the pool: nobody has the run-time file open, so one that does not let in those who may write the pool, or lets in
// others, gives way to a new one if its owner is not here to put it right.
os::File open_for_first(const std::string& path, const os::File& pool) {
    const Rights rights(pool);
    std::optional<os::File> there;
    std::string why = "it was made by somebody who may not write the pool now";
    bool is_there = true;
    try {
        // Never with O_CREAT: the kernel may forbid that for another's file in a directory with the sticky bit (fs.protected_regular).
        there = os::File::open_if_exists(path, O_RDWR | O_NOFOLLOW);
        is_there = there.has_value();
    } catch (const Error& error) {
        const bool is_closed = error.kind() == Code::permission_denied;
        if (!is_closed && !rights.is_by_list()) throw;
        why = error.what();
    }
    if (!is_there) return make_new(path, rights);
    bool is_usable = there.has_value();
    if (is_usable && !is_runtime_file(*there)) throw_something_else(*there);
    if (is_usable && rights.is_by_list()) {
        // It may be of somebody who has been shut out meanwhile.
        is_usable = there->is_regular() && there->link_count() == 1 &&
                    may_be_writer(there->owner(), rights.of_pool(), pool);
    } else if (is_usable) {
        refuse_planted(*there, pool);
    }
    if (is_usable && rights.are_of(*there)) return std::move(*there);
    try {
        if (is_usable && os::is_mine_to_change(*there)) {
            rights.give_to(*there);
            return std::move(*there);
        }
        os::remove_file(path);
        return make_new(path, rights);
    } catch (const Error& error) {
        if (error.kind() != Code::permission_denied) throw;
        // Not ours to remove. As long as it lets us in, it is good enough for us.
        if (is_usable) return std::move(*there);
        throw_closed_to_us(path, pool, why);
    }
}

// Others have it open, so it is only put right, and only by its owner.
std::optional<os::File> open_for_another(const std::string& path, const os::File& pool) {
    std::optional<os::File> there;
    try {
        there = os::File::open_if_exists(path, O_RDWR | O_NOFOLLOW);
    } catch (const Error& error) {
        if (error.kind() != Code::permission_denied) throw;
        throw_closed_to_us(path, pool,
                           std::string(error.what()) +
                               "; who was allowed to write the pool while others have it open gets in when "
                               "they have closed it, too");
    }
    if (!there) return there;
    refuse_planted(*there, pool);
    const Rights rights(pool);
    if (os::is_mine_to_change(*there) && !rights.are_of(*there)) {
        try {
            rights.give_to(*there);
        } catch (const Error&) {
            // It is good enough for us.
        }
    }
    return there;
}

}  // namespace

bool is_runtime_file(const os::File& file) {
    if (!file.is_regular() || file.size() == 0) return true;
    std::uint64_t mark = 0;
    if (file.size() >= sizeof mark) file.read_exactly(&mark, sizeof mark, 0);
    return mark >> 32U == runtime_valid >> 32U || (mark == 0 && file.size() == runtime_file_bytes);
}

Runtime::Runtime(os::File file, os::Mapping map)
    : file_(std::move(file)), map_(std::move(map)), inode_(file_.identity().inode), kind_(file_.fs_kind()) {}

Runtime Runtime::open(const os::File& pool, std::uint64_t expected_inode, bool is_first) {
    const std::string path = path_beside_name(pool, ".rt");
    std::optional<os::File> file = is_first ? open_for_first(path, pool) : open_for_another(path, pool);
    if (file && (is_first || file->identity().inode == expected_inode)) {
        if (file->size() < runtime_file_bytes) file->resize(runtime_file_bytes);
        os::Mapping map(*file, runtime_bytes);
        Runtime runtime(std::move(*file), std::move(map));
        if (!is_first) runtime.allocate(0, page_bytes);  // the first may have died before it came to that
        return runtime;
    }
    throw Error(Code::busy,
                pool.path() + " is in use, but " + path +
                    " is missing or belongs to something else: the pool was renamed, hard-linked or its .rt "
                    "deleted meanwhile, or it is mounted here without the directory that it lies in. Close "
                    "it everywhere, then open it again.");
}

// A page of the file that has no space is a SIGBUS where it is touched on a full file system, on tmpfs also where it is read. So each gets its
// space before.
void Runtime::allocate(std::uint64_t offset, std::uint64_t bytes) {
    if (kind_ == os::FileSystem::hugetlbfs) {  // all of it lies in a few huge pages
        offset = 0;
        bytes = runtime_file_bytes;
    }
    try {
        file_.allocate(offset, bytes);
    } catch (const Error& error) {
        // Of a device the file lies in /run, which may be of a kind that promises nothing.
        if (error.kind() != Code::unsupported || kind_ != os::FileSystem::other) throw;
    }
}

void Runtime::allocate_slot(std::uint64_t i) { allocate(owner_byte(i), sizeof(Slot)); }

bool Runtime::has_owners() const { return os::conflicts(file_, os::LockKind::exclusive, 0, runtime_bytes); }

void Runtime::reset() {
    // Dropping the pages zeroes all slots without touching them. The file keeps its length, which a limit (ulimit -f) may not let it
    // get again.
    if (file_.size() == runtime_file_bytes && kind_ != os::FileSystem::other) {
        file_.punch(0, runtime_file_bytes);
    } else {
        file_.resize(0);
        file_.resize(runtime_file_bytes);
    }
    allocate(0, page_bytes + sizeof(Slot));  // slot 0 is that of who recovers the pool, too
}

void Runtime::validate(const std::array<std::uint8_t, 16>& uuid) {
    header().uuid = uuid;
    header().boot = os::boot_id();
    persist::Medium(Durability::none).store(&header().valid, runtime_valid);
}

bool Runtime::is_valid(const std::array<std::uint8_t, 16>& uuid) const {
    return persist::Medium::load(&header().valid) == runtime_valid && header().uuid == uuid &&
           is_of_this_boot();
}

// On a disk the file outlives a power loss with its mark, and the session that the mark vouches for does not.
bool Runtime::is_of_this_boot() const {
    const std::uint64_t boot = os::boot_id();
    return boot == 0 || header().boot == 0 || header().boot == boot;
}

bool Runtime::is_dead(std::uint64_t i) const {
    return persist::Medium::load(&slot(i).attached) != 0 &&
           !os::conflicts(file_, os::LockKind::exclusive, owner_byte(i), 1);
}

}  // namespace pmemcpy::pool
