// In the place of acl.cpp where libacl was not there.

#include <string>

#include <pmemcpy/error.hpp>

#include "os/access.hpp"

namespace pmemcpy::os {

namespace {

[[noreturn]] void throw_unknown(const File& file) {
    throw Error(Code::unsupported,
                "cannot let other users into '" + file.path() +
                    "': this pMEMCPY was built without libacl; build it where that is installed (on Debian: "
                    "apt-get install libacl1-dev)");
}

}  // namespace

std::optional<Acl> acl_of(const File&) { return std::nullopt; }
std::optional<Acl> default_acl_of(const File&) { return std::nullopt; }
void set_acl(const File& file, const Acl&) { throw_unknown(file); }
void set_default_acl(const File& directory, const Acl&) { throw_unknown(directory); }

}  // namespace pmemcpy::os
