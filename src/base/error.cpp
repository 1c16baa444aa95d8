#include <pmemcpy/error.hpp>

namespace pmemcpy {

namespace {

class Category final : public std::error_category {
public:
    const char* name() const noexcept override { return "pmemcpy"; }
    std::string message(int value) const override { return name_of(static_cast<Code>(value)); }
};

}  // namespace

const std::error_category& error_category() noexcept {
    static const Category category;
    return category;
}

Error::Error(Code code, const std::string& message)
    : std::system_error(make_error_code(code)), message_(std::make_shared<const std::string>(message)) {}

const char* name_of(Code code) noexcept {
    switch (code) {
        case Code::not_found:
            return "not_found";
        case Code::already_exists:
            return "already_exists";
        case Code::invalid_argument:
            return "invalid_argument";
        case Code::out_of_range:
            return "out_of_range";
        case Code::type_mismatch:
            return "type_mismatch";
        case Code::no_space:
            return "no_space";
        case Code::corrupt:
            return "corrupt";
        case Code::io_error:
            return "io_error";
        case Code::busy:
            return "busy";
        case Code::unsupported:
            return "unsupported";
        case Code::permission_denied:
            return "permission_denied";
    }
    return "unknown";
}

}  // namespace pmemcpy
