// How a pool's file comes to be: empty, or as a copy of a damaged one. It has no name before it is whole.

#include "base/checked.hpp"
#include "os/names.hpp"
#include "os/process.hpp"
#include "os/space.hpp"
#include "pool/geometry.hpp"
#include "pool/pool.hpp"

#include <pmemcpy/error.hpp>

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>

namespace pmemcpy::pool {
namespace {

std::array<std::uint8_t, 16> draw_uuid() {
    std::random_device random;
    std::array<std::uint8_t, 16> uuid{};
    for (std::uint8_t& byte : uuid) byte = static_cast<std::uint8_t>(random());
    return uuid;
}

Superblock describe(const Shape& shape, std::uint64_t max_bytes) {
    const Geometry g = lay_out(shape.chunk_bytes, max_bytes);
    Superblock super{};
    super.magic = pool_magic;
    super.version = format_version;
    super.endian = endian_mark;
    super.bytes = sizeof super;
    super.uuid = draw_uuid();
    super.origin = shape.origin;
    super.side_of = shape.side_of;
    super.chunk_bytes = g.chunk_bytes;
    super.max_bytes = g.max_bytes;
    super.chunk_count = g.chunk_count;
    super.table_offset = g.table_offset;
    super.bucket_offset = g.bucket_offset;
    super.bucket_count = g.bucket_count;
    super.first_chunk_offset = g.first_chunk_offset;
    super.created_ns = os::wall_ns();
    super.features = shape.features;
    super.default_serializer = shape.default_serializer;
    super.device_count = 1;
    super.devices[0] = {0, 1, g.max_bytes, {}};
    if ((shape.features & feature_directory_layout) != 0)
        super.devices[super.device_count++] = {1, 2, g.max_bytes, {}};
    super.checksum = checksum_of(super);
    return super;
}

// Of a pool whose user has named no limit. Too little for a pool is no mistake of that user's.
std::uint64_t limit_by_room(const os::File& file, std::uint64_t chunk_bytes) {
    const std::uint64_t room = std::min(os::default_limit_bytes(file), largest_pool_bytes);
    const std::uint64_t least = least_bytes(chunk_bytes, room);
    if (least <= room) return room;
    throw Error(Code::no_space, "there is no room for a pool in " + file.path() + ": with chunks of " +
                                    std::to_string(chunk_bytes) + " bytes it needs " + std::to_string(least) +
                                    ", and it could grow to " + std::to_string(room));
}

// Its files grow and shrink by whole huge pages alone.
void refuse_unfit_for_huge_pages(const os::File& file, const Superblock& super) {
    if (file.fs_kind() != os::FileSystem::hugetlbfs) return;
    const std::uint64_t page = file.block_bytes();
    if (super.chunk_bytes % page != 0 || page > os::huge_page_bytes) {
        throw Error(Code::unsupported,
                    file.path() + " has pages of " + std::to_string(page) +
                        " bytes; a pool there needs pages of 2 MiB and chunks of as much or a multiple");
    }
    if ((super.features & feature_directory_layout) != 0) {
        throw Error(Code::unsupported, file.path() +
                                           " is a hugetlbfs, whose files have whole huge pages; a pool there "
                                           "is one file, not a directory");
    }
}

// A pool's file while it has no name: of its full length, the first `allocated` bytes of which are promised.
void give_space(os::File& file, const Superblock& super, std::uint64_t allocated) {
    refuse_unfit_for_huge_pages(file, super);
    if (const std::uint64_t room = os::headroom_bytes(file); allocated > room) {
        throw Error(Code::no_space, "a pool in " + file.path() + " needs " + std::to_string(allocated) +
                                        " bytes at once, and there is room for " + std::to_string(room));
    }
    file.resize(super.max_bytes);
    file.allocate(0, allocated);
}

void name_when_whole(os::File& file, const std::string& path) {
    file.sync_data();
    file.link_as(path);
    os::File::open(os::folder_of(path), O_RDONLY | O_DIRECTORY).sync_all();
}

void write_empty_pool(os::File& file, const Superblock& super, std::uint64_t usable_chunks, bool is_clean) {
    PoolState state{};
    state.usable_chunks.value = usable_chunks;
    state.next_version.value = 1;
    if (is_clean) state.clean.value = clean_mark(state);
    const os::Mapping map(file, chunk_table_offset);  // hugetlbfs has no write()
    std::memcpy(map.base() + superblock_offset, &super, sizeof super);
    std::memcpy(map.base() + spare_offset, &super, sizeof super);
    std::memcpy(map.base() + state_offset, &state, sizeof state);
}

// Adds the pages that the medium did not give (SIGBUS); they are zeros in the copy.
void copy_readable(std::byte* to, const std::byte* from, std::uint64_t length,
                   std::vector<std::uint64_t>& unreadable) {
    constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;
    const auto copy = [&](std::uint64_t at, std::uint64_t bytes) {
        return os::guarded(from + at, bytes, [=] { std::memcpy(to + at, from + at, bytes); });
    };
    for (std::uint64_t at = 0; at < length; at += piece_bytes) {
        const std::uint64_t bytes = std::min(piece_bytes, length - at);
        if (copy(at, bytes)) continue;
        for (std::uint64_t page = at; page < at + bytes; page += page_bytes) {
            if (copy(page, page_bytes)) continue;
            std::memset(to + page, 0, page_bytes);
            unreadable.push_back(page);
        }
    }
}

}  // namespace

os::Identity Pool::create(const std::string& path, const Shape& shape) {
    os::File file = os::File::create_unnamed(path, shape.mode);
    refuse_unfit_file_system(file);
    std::uint64_t max_bytes = shape.max_bytes;
    if (max_bytes == 0) max_bytes = limit_by_room(file, shape.chunk_bytes);
    const Superblock super = describe(shape, max_bytes);
    const std::uint64_t wanted = std::max(shape.initial_bytes, super.first_chunk_offset + super.chunk_bytes);
    const std::uint64_t usable =
        std::min((base::align_up(wanted, super.chunk_bytes) - super.first_chunk_offset) / super.chunk_bytes,
                 super.chunk_count);
    give_space(file, super, super.first_chunk_offset + usable * super.chunk_bytes);
    write_empty_pool(file, super, usable, !shape.begins_unclean);
    name_when_whole(file, path);
    return file.identity();
}

// How many chunks may hold something, when the word that says how many are usable is damaged. The chunk table may be damaged
// too, and would have the new pool take any amount of space.
std::uint64_t Pool::count_chunks(const Pool& pool) {
    const Superblock& super = pool.super_;
    if (pool.file_.fs_kind() == os::FileSystem::devdax) return super.chunk_count;
    const std::uint64_t end = pool.file_.data_end();
    if (end <= super.first_chunk_offset) return 0;
    return std::min((end - super.first_chunk_offset + super.chunk_bytes - 1) / super.chunk_bytes,
                    super.chunk_count);
}

Copied Pool::copy_to_recover(const std::string& from, const std::string& to,
                             const std::function<void()>& copy_beside) {
    Pool old(from, false, MapSync::off);
    old.check_alone();
    Superblock super = old.super_;
    super.origin = old.origin();
    super.uuid = draw_uuid();
    super.checksum = checksum_of(super);
    Copied copied;
    PoolState state{};
    const PoolState* there = &old.state();
    const bool is_readable =
        os::guarded(there, sizeof state, [&] { std::memcpy(&state, there, sizeof state); });
    const bool is_kept = state.clean.value == kept_mark(state);
    const bool is_marked = state.clean.value != 0 && !is_kept;
    copied.state_was_damaged = !is_readable || (is_marked && state.clean.value != clean_mark(state)) ||
                               state.usable_chunks.value > super.chunk_count;
    copied.was_clean = is_marked || !is_readable;
    if (copied.state_was_damaged) {
        state = {};
        state.usable_chunks.value = count_chunks(old);
        state.committed_step.value = unknown_step;
    }
    state.clean.value = 0;
    state.failed.value = 0;
    const std::uint64_t end = super.first_chunk_offset + state.usable_chunks.value * super.chunk_bytes;
    os::File file = os::File::create_unnamed(to, old.file_.mode_bits() & 0777);
    refuse_unfit_file_system(file);
    give_space(file, super, end);
    {
        const os::Mapping map(file, super.max_bytes);
        copy_readable(map.base(), old.map_.base(), end, copied.unreadable_pages);
        std::memcpy(map.base() + superblock_offset, &super, sizeof super);
        std::memcpy(map.base() + spare_offset, &super, sizeof super);
        std::memcpy(map.base() + state_offset, &state, sizeof state);
    }
    copy_beside();
    name_when_whole(file, to);
    return copied;
}

void Pool::format_device(const std::string& path, const Shape& shape, bool replaces) {
    os::File file = os::File::open(path, O_RDWR);
    if (file.fs_kind() != os::FileSystem::devdax) {
        throw Error(Code::unsupported,
                    path + " is no devdax device, and no other kind of device can be a pool");
    }
    const Superblock super =
        describe(shape, shape.max_bytes == 0 ? file.size() : std::min(shape.max_bytes, file.size()));
    lock_alone(file);
    const os::Mapping map(file, super.max_bytes);
    const bool holds_pool =
        reinterpret_cast<const Superblock*>(map.base() + superblock_offset)->magic == pool_magic ||
        reinterpret_cast<const Superblock*>(map.base() + spare_offset)->magic == pool_magic;
    if (holds_pool && !replaces) {
        throw Error(Code::already_exists, path +
                                              " holds a pool already; open it, or replace it by a new one "
                                              "(mode w) and lose its content");
    }
    const persist::Medium medium(Durability::line);
    // First nothing is a pool here any more, then all is as it should be, and only then it is one again: links and chunk
    // words of what was here before must not outlive it.
    const auto set_magics = [&](const std::array<char, 8>& magic) {
        for (const std::uint64_t offset : {superblock_offset, spare_offset}) {
            auto* word = reinterpret_cast<std::uint64_t*>(map.base() + offset);
            medium.store(word, std::bit_cast<std::uint64_t>(magic));
            medium.flush(word, sizeof *word);
        }
        medium.fence();
    };
    set_magics({});
    PoolState state{};
    state.usable_chunks.value = super.chunk_count;
    state.next_version.value = 1;
    // In a pool that wipes the first to open it wipes what was on the device.
    if ((shape.features & feature_wipes) == 0) state.clean.value = clean_mark(state);
    Superblock body = super;
    body.magic = {};
    medium.fill(map.base(), 0, super.first_chunk_offset);
    medium.write(map.base() + superblock_offset, &body, sizeof body);
    medium.write(map.base() + spare_offset, &body, sizeof body);
    medium.write(map.base() + state_offset, &state, sizeof state);
    medium.persist(map.base(), super.first_chunk_offset);
    set_magics(pool_magic);
}

}  // namespace pmemcpy::pool
