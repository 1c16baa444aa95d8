// A new pool of what is whole in a damaged one: a copy, which recovery then judges as after a crash.

#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/repair.hpp>

#include "layout/payload_name.hpp"
#include "layout/place.hpp"
#include "os/directory.hpp"
#include "os/file.hpp"
#include "os/names.hpp"
#include "pool/pool.hpp"
#include "spaces/newcomer.hpp"
#include "store/side.hpp"
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
    to.sync_data();
}

// One that cannot be read is left out; the record that names it then tells.
void copy_payloads(const layout::Place& from, const layout::Place& to) {
    const os::File old_data = layout::open_data(from);
    os::File new_data = layout::open_data(to);
    for (const std::string& name : os::names_in(old_data)) {
        const auto there = os::look_in(old_data, name);
        if (!layout::is_payload_name(name) || !there || there->what != os::Named::regular) continue;
        const auto old_file = os::File::open_in(old_data, name, O_RDONLY);
        auto new_file = os::File::open_in(new_data, name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (!old_file || !new_file) continue;
        try {
            copy_file(*old_file, *new_file);
            // What the umask keeps from the new directory it keeps from the files too.
            new_file->set_mode_bits((old_file->mode_bits() & new_data.mode_bits() & 0666) |
                                    layout::payload_mark);
        } catch (const Error& error) {
            if (error.kind() != Code::io_error) throw;
            os::remove_in(new_data, name);
        }
    }
    // Before the pool has its name: where memory loses nothing no later sync takes the names of its payloads along.
    new_data.sync_all();
}

void salvage(const layout::Place& place, const pool::Copied& copied, Repair& result) {
    catalog::Salvage salvage{copied.was_clean, {}};
    if (copied.state_was_damaged) {
        salvage.losses.push_back(
            {{}, {}, "the page of the pool's state was damaged; it is made anew from the records"});
    }
    for (const std::uint64_t page : copied.unreadable_pages) {
        result.unreadable_bytes += pool::page_bytes;
        salvage.losses.push_back(
            {{}, {}, "the memory at offset " + std::to_string(page) + " could not be read (SIGBUS)"});
    }
    Options options;
    options.mode = Mode::update;
    const auto store = std::make_shared<store::Store>(place, options, &salvage);
    result.damages = std::move(salvage.losses);
    for (Damage& damage : store->discard_damaged()) result.damages.push_back(std::move(damage));
    result.variables = store->ids("", false).size();
    store->close();
}

}  // namespace

Repair repair(const std::string& from_name, const std::string& to_name) {
    if (from_name.empty() || to_name.empty())
        throw Error(Code::invalid_argument, "the path of a pool must not be empty");
    const std::string from = resolve_pool(from_name);
    const std::string to = resolve_pool(to_name, Mode::exclusive);
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
    result.private_files =
        store::sides_beside(old_place.is_directory() ? old_place.directory : old_place.records);
    const spaces::Newcomer newcomer(new_place.is_directory() ? new_place.directory : new_place.records);
    newcomer.admit(os::File::open(old_place.records, O_RDONLY).size());
    pool::Copied copied;
    if (!new_place.is_directory()) {
        copied = pool::Pool::copy_to_recover(old_place.records, new_place.records, [] {});
    } else {
        const unsigned permissions = os::File::open(old_place.records, O_RDONLY).mode_bits();
        layout::NewDirectories directories(new_place, permissions);
        if (directories.have_leftovers()) {
            throw Error(Code::already_exists, to + " holds what another pool has left; name a new directory");
        }
        try {
            copied = pool::Pool::copy_to_recover(old_place.records, new_place.records,
                                                 [&] { copy_payloads(old_place, new_place); });
        } catch (...) {
            layout::remove_payloads(new_place);
            throw;
        }
        directories.keep();
    }
    newcomer.settle();
    salvage(new_place, copied, result);
    return result;
}

}  // namespace pmemcpy
