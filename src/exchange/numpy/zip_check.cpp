#include "exchange/numpy/zip_check.hpp"

#include "exchange/kernel_error.hpp"

namespace pmemcpy::exchange {

void fail_zip(const std::string& what, zip_error_t error, Code otherwise) {
    if (zip_error_system_type(&error) == ZIP_ET_SYS && zip_error_code_system(&error) != 0)
        fail_kernel(what, zip_error_code_system(&error));
    const auto code = [&] {
        switch (zip_error_code_zip(&error)) {
            case ZIP_ER_COMPNOTSUPP:
            case ZIP_ER_ENCRNOTSUPP:
            case ZIP_ER_NOPASSWD:
            case ZIP_ER_MULTIDISK:
                return Code::unsupported;
            case ZIP_ER_MEMORY:
                return Code::no_space;
            default:
                return otherwise;
        }
    };
    const std::string said = zip_error_strerror(&error);
    throw Error(code(), what + ": libzip says: " + said);
}

}  // namespace pmemcpy::exchange
