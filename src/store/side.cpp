#include "store/side.hpp"

#include "os/directory.hpp"
#include "os/file.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "spaces/name.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <string_view>

namespace pmemcpy::store {
namespace {

constexpr std::array<std::uint8_t, 16> unsaid{};

}  // namespace

// Where an earlier version made it, which did not say whose side it is, its age tells: what is older than the pool was made beside an
// earlier one.
bool is_side_of(const std::string& path, const Store& shared) {
    try {
        const pool::Pool there(path, true, MapSync::off);
        if (there.super().side_of != unsaid) return there.super().side_of == shared.origin();
        return there.super().created_ns >= shared.super().created_ns;
    } catch (const Error&) {
        return true;
    }
}

std::string place_aside(const std::string& place, const std::array<std::uint8_t, 16>& origin) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string path = place + ".";
    for (const std::uint8_t byte : origin) {
        path += digits[byte >> 4];
        path += digits[byte & 15];
    }
    return path;
}

void move_side_aside(const std::string& place, const Store& shared) {
    pool::Pool there(place, false, MapSync::off);
    there.check_alone();
    const auto& its = there.super().side_of;
    const std::string aside = place_aside(place, its == unsaid ? there.super().uuid : its);
    if (os::exists(aside)) {
        throw Error(
            Code::already_exists,
            place + " and " + aside +
                " both hold private objects of another pool, which had the name of this one; give one "
                "of them another name, or remove it");
    }
    shared.check_in_place();
    os::rename_file(place, aside);
}

std::string private_ending() { return std::string(spaces::private_part) + std::to_string(os::user_id()); }

std::vector<std::string> sides_beside(const std::string& path) {
    const std::string real = os::real_path(path).value_or(path);
    const std::string folder = os::folder_of(real);
    const std::string file = real.substr(real.rfind('/') + 1);
    const std::string inside = folder + "/";
    std::vector<std::string> files;
    try {
        for (const std::string& name : os::names_in(os::File::open(folder, O_RDONLY | O_DIRECTORY))) {
            if (spaces::pool_of_private_file(name) == file) files.push_back(inside + name);
        }
    } catch (const Error& error) {
        if (error.kind() != Code::permission_denied) throw;
        if (os::exists(real + private_ending())) return {real + private_ending()};
        return {};
    }
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace pmemcpy::store
