// A new pool of what is whole in a damaged one: a copy, which recovery then judges as after a crash.

#include <pmemcpy/repair.hpp>

#include "layout/payload_name.hpp"
#include "layout/place.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "os/names.hpp"
#include "pool/pool.hpp"
#include "store/store.hpp"

#include <fcntl.h>

#include <algorithm>
#include <vector>

namespace pmemcpy {

namespace {

void copy_file(const os::File& from, os::File& to) {
    std::vector<std::byte> buffer(std::size_t{1} << 20);
    const std::uint64_t size = from.size();
    for (std::uint64_t at = 0; at < size; at += buffer.size()) {
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - at));
        from.read_exactly(buffer.data(), piece, at);
        to.write_exactly(buffer.data(), piece, at);
    }
    to.set_mode_bits(from.mode_bits());
    to.sync_data();
}

// One that cannot be read is left out; the record that names it then tells.
void copy_payloads(const layout::Place& from, const layout::Place& to) {
    const os::File old_data =
        os::File::open(from.directory + "/" + layout::data_name, O_RDONLY | O_DIRECTORY);
    const os::File new_data = os::File::open(to.directory + "/" + layout::data_name, O_RDONLY | O_DIRECTORY);
    for (const std::string& name : os::names_in(old_data)) {
        const auto there = os::look_in(old_data, name);
        if (!layout::is_payload_name(name) || !there || there->what != os::Named::regular) continue;
        const auto old_file = os::File::open_in(old_data, name, O_RDONLY);
        auto new_file = os::File::open_in(new_data, name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (!old_file || !new_file) continue;
        try {
            copy_file(*old_file, *new_file);
        } catch (const Error& error) {
            if (error.kind() != Code::io_error) throw;
            os::remove_in(new_data, name);
        }
    }
}

}  // namespace

Repair repair(const std::string& from, const std::string& to) {
    if (from.empty() || to.empty())
        throw Error(Code::invalid_argument, "the path of a pool must not be empty");
    const layout::Place old_place = layout::place_of(from, Layout::automatic);
    const layout::Place new_place =
        layout::place_of(to, old_place.is_directory() ? Layout::directory : Layout::file);
    if (!os::exists(old_place.records))
        throw Error(Code::not_found, "there is no pool at " + old_place.records);
    if (os::exists(new_place.records)) {
        throw Error(Code::already_exists,
                    "there is a pool at " + new_place.records + " already; name a new one");
    }
    Repair result;
    if (!new_place.is_directory()) {
        result.unreadable_bytes = pool::Pool::copy_to_recover(old_place.records, new_place.records, [] {});
    } else {
        const unsigned permissions = os::File::open(old_place.records, O_RDONLY).mode_bits();
        layout::NewDirectories directories(new_place, permissions);
        if (directories.have_leftovers()) {
            throw Error(Code::already_exists, to + " holds what another pool has left; name a new directory");
        }
        try {
            result.unreadable_bytes = pool::Pool::copy_to_recover(
                old_place.records, new_place.records, [&] { copy_payloads(old_place, new_place); });
        } catch (...) {
            layout::remove_payloads(new_place);
            throw;
        }
        directories.keep();
    }
    Options options;
    options.mode = Mode::update;
    options.layout = old_place.is_directory() ? Layout::directory : Layout::file;
    const auto store = store::Store::open(to, options);
    result.variables = store->ids("", false).size();
    result.damages = store->verify({});
    store->close();
    return result;
}

}  // namespace pmemcpy
