#pragma once

#include <optional>
#include <vector>

#include "os/file.hpp"

namespace pmemcpy::os {

// Who may do what to a file, user by user: POSIX access control lists. A build without libacl sees none and sets none.

// What an entry allows, as in mode bits.
inline constexpr unsigned may_read = 4;
inline constexpr unsigned may_write = 2;
inline constexpr unsigned may_enter = 1;

/// One line of a list. The order of the kinds is that in which the kernel looks for the one that counts.
struct AclEntry {
    enum class Who { owner, user, owning_group, group, mask, other } who;
    unsigned id = 0;  ///< of a user or group that is named
    unsigned bits = 0;
    friend auto operator<=>(const AclEntry&, const AclEntry&) = default;
};

/// The whole list, sorted. Without any named user, group or mask it says no more than the mode bits do.
class Acl {
public:
    Acl() = default;
    explicit Acl(std::vector<AclEntry> entries);

    const std::vector<AclEntry>& entries() const noexcept { return entries_; }
    bool is_extended() const noexcept;
    /// Nothing, if there is no such entry.
    std::optional<unsigned> bits_of(AclEntry::Who who, unsigned id = 0) const noexcept;
    /// What an entry comes to: but for the owner's and that of others it is no more than the mask allows.
    unsigned effective_bits(const AclEntry& entry) const noexcept;

    /// Adds the entry, or gives it these bits. The mask stays.
    void set(AclEntry::Who who, unsigned id, unsigned bits);
    void remove(AclEntry::Who who, unsigned id);
    /// The mask becomes what all the entries that it limits allow together.
    void widen_mask();

    friend bool operator==(const Acl&, const Acl&) = default;

private:
    std::vector<AclEntry> entries_;
};

/// For a file beside another one, whoever makes it: those who may write the other one read and write it, and nobody else can open it.
/// `owner` and `group` are those of the other one.
Acl writers_only(const Acl& acl, unsigned owner, unsigned group);

/// Nothing where lists are not known: to this build, or to the file system. The file may be open by O_PATH, here and below.
std::optional<Acl> acl_of(const File& file);
/// Of a directory: what is made in it begins with. Empty: nothing special.
std::optional<Acl> default_acl_of(const File& directory);

/// Errors: unsupported where lists are not known; permission_denied for who is not the file's owner.
void set_acl(const File& file, const Acl& acl);
void set_default_acl(const File& directory, const Acl& acl);

/// Gives a file or directory of this process's user the group of another one, and these bits, whatever the umask says and which
/// groups the process is in. What root has made becomes that of the other's owner. Where it may not give that group, the group that
/// the file has is let in as all others are. A list of users that the directory has given it stays.
void share_like(File& file, const File& model, unsigned bits);
/// The same of one that was made earlier, if that has another owner, group or bits since, and this process may change it.
void keep_like(File& file, const File& model, unsigned bits);

/// What the group's bits of a file are where its group is not the one that they are meant for.
constexpr unsigned bits_without_group(unsigned bits) { return (bits & ~070U) | (bits & 07U) << 3; }

/// Makes the group of a file that of another one. False where this process may not.
bool give_group_of(File& file, const File& model);

/// Whether this process may change the rights of a file: it is its user's, or the process is root.
bool is_mine_to_change(const File& file);

/// So the kernel shows users and groups that this process's user namespace does not know.
inline constexpr unsigned unknown_id = 65534;

}  // namespace pmemcpy::os
