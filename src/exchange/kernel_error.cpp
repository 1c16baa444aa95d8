#include "exchange/kernel_error.hpp"

#include <cerrno>
#include <pmemcpy/error.hpp>

namespace pmemcpy::exchange {

void fail_kernel(const std::string& what, int error) {
    const auto code = [error] {
        switch (error) {
            case ENOENT:
            case ENOTDIR:
                return Code::not_found;
            case EACCES:
            case EPERM:
            case EROFS:
                return Code::permission_denied;
            case ENOSPC:
            case EDQUOT:
                return Code::no_space;
            case EEXIST:
                return Code::already_exists;
            default:
                return Code::io_error;
        }
    };
    throw Error(code(), what + ": " + std::generic_category().message(error));
}

}  // namespace pmemcpy::exchange
