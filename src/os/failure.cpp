#include "os/failure.hpp"

#include <cerrno>
#include <system_error>

namespace pmemcpy::os {

Code code_of_errno(int error) noexcept {
    switch (error) {
        case ENOENT:
        case ENOTDIR:
        case ENXIO:
        case ENODEV:
            return Code::not_found;
        case EEXIST:
            return Code::already_exists;
        case ENOSPC:
        case EDQUOT:
        case EFBIG:
        case ENOMEM:
        case ENFILE:
        case EMFILE:
            return Code::no_space;
        case EACCES:
        case EPERM:
        case EROFS:
            return Code::permission_denied;
        case EOPNOTSUPP:
        case ENOSYS:
        case ENOTTY:
            return Code::unsupported;
        case EBUSY:
        case EAGAIN:
        case ETXTBSY:
        case ENOTEMPTY:
            return Code::busy;
        case EINVAL:
        case EBADF:
        case EISDIR:
        case ELOOP:
        case ENAMETOOLONG:
            return Code::invalid_argument;
        default:
            return Code::io_error;
    }
}

void throw_failure(const char* what, const std::string& path, int error) {
    const std::string reason = std::system_category().message(error);
    throw Error(code_of_errno(error), std::string("cannot ") + what + " '" + path + "': " + reason);
}

}  // namespace pmemcpy::os
