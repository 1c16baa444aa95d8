#include "store/store.hpp"

#include "os/names.hpp"
#include "os/process.hpp"
#include "pool/runtime.hpp"
#include "spaces/newcomer.hpp"

#include <algorithm>

#include <fcntl.h>

namespace pmemcpy::store {

namespace {

constexpr int most_tries = 64;

pool::Shape shape_of(const layout::Place& place, const Options& options, const Which& which) {
    pool::Shape shape;
    shape.side_of = which.side_of;
    shape.origin = which.origin;
    if (place.is_directory()) shape.features |= pool::feature_directory_layout;
    if (options.wipe) shape.features |= pool::feature_wipes;
    shape.max_bytes = options.max_bytes;
    shape.initial_bytes = options.initial_bytes;
    if (options.chunk_bytes != 0) shape.chunk_bytes = options.chunk_bytes;
    if (options.serializer != SerializerType::Default) {
        shape.default_serializer = static_cast<std::uint32_t>(options.serializer);
    }
    shape.mode = options.permissions;
    return shape;
}

spaces::Newcomer newcomer_at(const layout::Place& place) {
    return spaces::Newcomer(place.is_directory() ? place.directory : place.records);
}

void check_layout(const pool::Pool& pool, const layout::Place& place) {
    const bool is_directory = (pool.super().features & pool::feature_directory_layout) != 0;
    if (is_directory == place.is_directory()) return;
    if (is_directory) {
        throw Error(Code::unsupported,
                    pool.path() +
                        " holds the records of a pool in a directory; open the directory that it "
                        "lies in, not this file");
    }
    throw Error(Code::unsupported,
                pool.path() + " is a whole pool of one file; open it by its own name, not as a directory");
}

// A device is there before it is a pool. It becomes one only for who insists on a new pool: what else is on it would be
// lost.
bool format_if_asked(const layout::Place& place, const Options& options, const Which& which) {
    const bool replaces = options.mode == Mode::replace;
    if (!replaces && options.mode != Mode::exclusive) return false;
    // What is no pool is not replaced by one.
    if (replaces) check_layout(pool::Pool(place.records, true, MapSync::off), place);
    pool::Pool::format_device(place.records, shape_of(place, options, which), replaces);
    return true;
}

// A user may have given the name of a run-time file to something else. One that this process may not read gives way, too.
bool is_something_else(const std::string& runtime_file) {
    try {
        const auto there = os::File::open_if_exists(runtime_file, O_RDONLY | O_NOFOLLOW);
        return there && !pool::is_runtime_file(*there);
    } catch (const Error&) {
        return false;
    }
}

// Under the lock of a process that is alone in the pool. Another pool may have its name by now.
void remove_alone(const layout::Place& place, const os::File& file) {
    if (os::identity_at(place.records) != file.identity()) return;
    if (place.is_directory()) layout::remove_payloads(place, file.identity());
    // First: once the name is free, another pool may have it, and what lies beside it is that one's.
    const std::string beside = pool::path_beside_name(file, ".rt");
    if (!is_something_else(beside)) os::remove_file(beside);
    os::remove_file(place.records);
}

// Removes a pool that nobody uses; opening it alone tells. Where another process has done so, or put one of its own there, this one finds out
// when it makes its own.
void make_way(const layout::Place& place) {
    const std::string& path = place.records;
    std::optional<pool::Pool> old;
    try {
        old.emplace(path, false, MapSync::off);
    } catch (const Error& error) {
        if (error.kind() != Code::not_found) throw;
        return;
    }
    check_layout(*old, place);
    old->check_alone();
    remove_alone(place, old->file());
}

// Makes the pool if the mode allows it. Says what it made.
std::optional<Made> create_if_asked(const layout::Place& place, const Options& options, const Which& which) {
    const std::string& path = place.records;
    if (os::is_character_device(path)) {
        const auto device = format_if_asked(place, options, which) ? os::identity_at(path) : std::nullopt;
        return device ? std::optional(Made{*device}) : std::nullopt;
    }
    const bool there = os::exists(path);
    switch (options.mode) {
        case Mode::read:
        case Mode::update:
            if (!there) {
                throw Error(Code::not_found, "there is no pool at " + path +
                                                 "; open it with a mode that creates it, or run "
                                                 "pmemcpy create " +
                                                 path);
            }
            return std::nullopt;
        case Mode::exclusive:
            break;
        case Mode::create_or_update:
            if (there) return std::nullopt;
            break;
        case Mode::replace:
            if (!there) break;
            newcomer_at(place).admit(options.max_bytes);  // before the old one is gone
            make_way(place);
            break;
    }
    try {
        const spaces::Newcomer newcomer = newcomer_at(place);
        pool::Shape shape = shape_of(place, options, which);
        shape.max_bytes = newcomer.admit(options.max_bytes);
        Made made;
        if (place.is_directory()) {
            made.directories = std::make_shared<layout::NewDirectories>(place, options.permissions);
            shape.begins_unclean = made.directories->have_leftovers();
        }
        made.file = pool::Pool::create(path, shape);
        if (made.directories) made.directories->keep();
        newcomer.settle();
        return made;
    } catch (const Error& error) {
        // Somebody was faster, which is as good unless a new pool was insisted on.
        if (error.kind() != Code::already_exists || options.mode != Mode::create_or_update) throw;
        return std::nullopt;
    }
}

[[noreturn]] void throw_replaced(const std::string& path) {
    throw Error(Code::busy,
                path + " was replaced by another process while it was being opened; open it again");
}

// Of the pool's file as it is open now, before anything is done with it.
void check_which(const pool::Pool& pool, const Which& which) {
    if (which.again && !(pool.itself() == *which.again)) pool::throw_out_of_place(pool.path());
    constexpr std::array<std::uint8_t, 16> none{};
    const auto& belongs_to = pool.super().side_of;
    if (which.side_of != none && belongs_to != none && belongs_to != which.side_of) {
        throw Error(Code::busy, pool.path() +
                                    " holds private objects of another pool, which has come there just now; "
                                    "try again");
    }
}

bool may_look_again(Code kind, Mode mode) {
    if (mode == Mode::replace) return kind == Code::not_found || kind == Code::already_exists;
    return mode == Mode::create_or_update && kind == Code::not_found;
}

catalog::Origin origin_of(const Options& options) {
    catalog::Origin origin;
    origin.user = os::user_id();
    origin.ranks = static_cast<std::uint32_t>(std::max(options.ranks, 0));
    origin.host = os::host_name();
    origin.program = options.program.empty() ? os::program_name() : options.program;
    return origin;
}

}  // namespace

std::shared_ptr<Store> Store::open(const std::string& path, const Options& options, bool* is_new,
                                   const Which& which) {
    if (path.empty()) throw Error(Code::invalid_argument, "the path of a pool must not be empty");
    // By one name, whatever it was called by: what lies beside the pool is found by it, and it leads there from other directories, too.
    const layout::Place place = layout::place_of(os::settled_path(path), options.layout);
    for (int tries = 1;; ++tries) {
        std::optional<os::Identity> seen = os::identity_at(place.records);
        if (which.again && seen != which.again->file) pool::throw_out_of_place(path);
        bool was_there = seen.has_value();
        try {
            const auto made = create_if_asked(place, options, which);
            was_there = true;
            if (made) seen = made->file;
            auto store = std::make_shared<Store>(place, options, nullptr, which);
            if (made && options.mode != Mode::create_or_update &&
                store->pool_.file().identity() != made->file)
                throw_replaced(place.records);
            store->made_ = made;
            if (made && options.prepare) store->prepare(0);
            if (is_new != nullptr) *is_new = made.has_value();
            return store;
        } catch (const Error& error) {
            if (!may_look_again(error.kind(), options.mode)) throw;
            // Another process has made a pool just now, or removed what was there, to replace it. Else what is missing is something else.
            const bool is_gone = was_there && (!seen || os::identity_at(place.records) != seen);
            if (error.kind() == Code::not_found && !is_gone) throw;
            if (tries == most_tries) throw_replaced(place.records);
        }
    }
}

Store::Store(const layout::Place& place, const Options& options, catalog::Salvage* salvage,
             const Which& which)
    : options_(options),
      pool_(place.records, options.mode == Mode::read, options.map_sync),
      heap_(pool_),
      catalog_(pool_, heap_),
      targets_(heap_, [this] { return mounts(); }) {
    check_layout(pool_, place);
    check_which(pool_, which);
    if (place.is_directory()) {
        directory_layout_ = std::make_unique<layout::DirectoryLayout>(
            heap_, targets_, place, [this](std::string_view id) { return payload_to_read(id); });
        // The directory and the records in it were opened one after the other, each by its name.
        if (!is_in_place()) throw_replaced(place.records);
    }
    if (salvage != nullptr) catalog_.salvage_into(*salvage);
    if (!pool_.read_only()) catalog_.set_origin(origin_of(options));
    pool_.know_committed(which.committed);
    // What a job has left that ended by a death is gone before others get in.
    pool_.attach(catalog_, [this] {
        targets_.finish_recovery();
        erase_scratch();
    });
    try {
        if (pool_.file().link_count() == 0) throw_replaced(pool_.path());
        heal_names();
        if (pool_.read_only()) return;
        targets_.finish_recovery();
        finish_hierarchy();
    } catch (...) {
        // No destructor will: a pool that could not be opened would look like one whose process has died.
        try {
            pool_.detach(catalog_);
        } catch (const Error&) {
            // Then it looks so, and the next one recovers it.
        }
        throw;
    }
}

Store::~Store() {
    try {
        close();
    } catch (const Error&) {
        // A destructor has nobody to tell; the pool is as after a crash at this point, which loses nothing.
    }
}

void Store::close() {
    if (std::exchange(closed_, true) || pool_.is_forked()) return;
    pool_.check_length();
    settle_names();
    heal_names();
    pool_.detach(catalog_, at_end_of_job());
}

bool Store::is_unused() const {
    bool is_used = scopes() != 0;
    catalog_.for_each([&](const std::string& id, Link entry) {
        if (id != "/" && catalog_.definition(entry)) is_used = true;
        catalog_.for_each_attribute(entry, [&](const std::string& name, Link) {
            if (!name.starts_with(reserved_prefix)) is_used = true;
        });
    });
    return !is_used;
}

// By the last one in, while others wait to get in: nobody has put anything into it behind the look, and nobody has it open.
void Store::take_pool_away() noexcept try {
    if (pool_.file().identity() != made_->file || !pool_.file().is_regular()) return;
    if (leaves_ == Leaves::nothing) {
        for (const std::string& id : ids("", false)) erase(id);
        if (hierarchy()) set_hierarchy(nullptr);
    } else if (!is_unused()) {
        return;
    }
    pool_.feed().settle();  // while its file lies beside the pool
    remove_alone({pool_.path(), directory_layout_ ? directory_layout_->path() : ""}, pool_.file());
    if (made_->directories) made_->directories->take_back();
} catch (const std::exception&) {
    // It stays, with what is in it.
}

void Store::sync() {
    check_writable();
    settle_names();
    pool_.sync();
    heap_.reclaim(heap::Heap::Effort::thorough);
}

SerializerType Store::default_serializer() const {
    return static_cast<SerializerType>(pool_.super().default_serializer);
}

bool Store::take_back_space() {
    pool_.scavenge_dead(catalog_);
    if (pool_.probe().needs_sync) {
        pool_.sync();  // what the last sync kept may be freed after this one (law 10)
        pool_.scavenge_dead(catalog_);
    }
    heap_.reclaim(heap::Heap::Effort::thorough);
    heap_.give_back_slabs();
    heal_names();
    return true;
}

PoolInfo Store::info() const {
    check_readable();
    PoolInfo info;
    info.path = directory_layout_ ? directory_layout_->path() : pool_.path();
    info.layout = directory_layout_ ? "directory" : "file";
    info.uuid = pool_.super().uuid;
    info.durability = pool_.durability();
    info.durability_reason = pool_.probe().reason;
    info.map_sync = pool_.probe().map_sync;
    info.created_ns = pool_.super().created_ns;
    info.chunk_bytes = pool_.super().chunk_bytes;
    info.max_bytes = pool_.super().max_bytes;
    const heap::Usage usage = heap_.usage();
    info.allocated_bytes = pool_.super().first_chunk_offset + usage.usable_bytes;
    info.free_bytes = usage.free_bytes;
    info.metadata_bytes = usage.record_bytes;
    info.data_bytes = usage.extent_bytes;
    info.retired_records = usage.retired_records;
    if (directory_layout_) {
        info.allocated_bytes += directory_layout_->payload_bytes();
        info.data_bytes += directory_layout_->payload_bytes();
    }
    info.wipes = heap_.wipes();
    info.attached = pool_.count_attached();
    info.committed_step = pool_.committed_step();
    info.others_in_step = !read_only() && pool_.others_in_step();
    catalog_.for_each([&](const std::string& id, Link entry) {
        if (id == "/") return;
        const auto definition = catalog_.definition(entry);
        if (!definition) return;
        ++(catalog::Catalog::is_group(pool_, *definition) ? info.groups : info.variables);
    });
    return info;
}

}  // namespace pmemcpy::store
