// The promise, in terms of the pool.

#include <pmemcpy/buckets.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include "buckets/pool.hpp"
#include "persist/copy.hpp"

namespace pmemcpy {

namespace {

// Nothing here survives the machine, so nothing is flushed.
constexpr persist::Medium medium(Durability::none);

// As long as all that a process has written to and holds has room in half of a usual cache (32 MiB), it is written through that, where it is written next to, and
// read from, three times as fast as in memory.
constexpr std::uint64_t most_cached_bytes = std::uint64_t{16} << 20;

[[noreturn]] void throw_beyond(std::uint64_t end, std::uint64_t bytes) {
    throw Error(Code::out_of_range, "byte " + std::to_string(end) +
                                        " was asked for, and these buckets hold " + std::to_string(bytes));
}

[[noreturn]] void throw_available() {
    throw Error(
        Code::invalid_argument,
        "a bucket that is held is in the region ram, nvme or burst-buffer; release() makes it available");
}

void refuse_available(Region region) {
    if (region == Region::available || region > Region::burst_buffer) throw_available();
}

void check_acquiring(const buckets::Pool& pool, Region region) {
    refuse_available(region);
    pool.members().check();
}

}  // namespace

const char* name_of(Region region) noexcept {
    constexpr const char* names[] = {"available", "ram", "nvme", "burst-buffer"};
    return names[static_cast<unsigned>(region) & 3];
}

const char* name_of(BucketState state) noexcept {
    constexpr const char* names[] = {"available", "filling", "full", "offered"};
    return names[static_cast<unsigned>(state) & 3];
}

std::size_t Buckets::count() const noexcept {
    if (!pool_ || pool_->members().is_forked()) return 0;
    std::size_t n = first_.count;
    if (more_) {
        for (const Piece& piece : *more_) n += piece.count;
    }
    return n;
}

std::size_t Buckets::pieces() const noexcept { return empty() ? 0 : 1 + (more_ ? more_->size() : 0); }

std::uint64_t Buckets::bytes() const noexcept { return empty() ? 0 : count() * pool_->layout().bucket_bytes; }

std::span<std::byte> Buckets::piece(std::size_t i) const {
    if (i >= pieces())
        throw Error(Code::out_of_range, "piece " + std::to_string(i) + " was asked for, and there are " +
                                            std::to_string(pieces()));
    const Piece& piece = at(i);
    return {piece.begin, piece.count * pool_->layout().bucket_bytes};
}

std::vector<BucketId> Buckets::ids() const {
    std::vector<BucketId> all;
    for (std::size_t i = 0; i < pieces(); ++i) {
        const Piece& piece = at(i);
        for (std::uint32_t n = 0; n < piece.count; ++n) all.push_back(pool_->id_of(piece.first + n));
    }
    return all;
}

void Buckets::write(const void* from, std::uint64_t size, std::uint64_t offset) {
    if (size > bytes() || offset > bytes() - size) throw_beyond(offset + size, bytes());
    const auto* source = static_cast<const std::byte*>(from);
    if (size != 0 && !std::exchange(is_written_, true))
        pool_->count_written(static_cast<std::int64_t>(count()));
    const bool is_cached = size != 0 && pool_->written_bytes() <= most_cached_bytes;
    for (std::size_t i = 0; i < pieces() && size > 0; ++i) {
        const std::span<std::byte> all = piece(i);
        if (offset >= all.size()) {
            offset -= all.size();
            continue;
        }
        const std::uint64_t part = std::min<std::uint64_t>(size, all.size() - offset);
        if (is_cached) {
            std::memcpy(all.data() + offset, source, part);
        } else {
            persist::copy_to_medium(medium, all.data() + offset, source, part);
        }
        source += part;
        size -= part;
        offset = 0;
    }
    // For who takes the buckets, or is told of them by a message: stores that pass the cache are in no order with others.
    medium.fence();
}

void Buckets::read(void* to, std::uint64_t size, std::uint64_t offset) const {
    if (size > bytes() || offset > bytes() - size) throw_beyond(offset + size, bytes());
    auto* target = static_cast<std::byte*>(to);
    for (std::size_t i = 0; i < pieces() && size > 0; ++i) {
        const std::span<std::byte> all = piece(i);
        if (offset >= all.size()) {
            offset -= all.size();
            continue;
        }
        const std::uint64_t part = std::min<std::uint64_t>(size, all.size() - offset);
        persist::copy_from_medium(target, all.data() + offset, part);
        target += part;
        size -= part;
        offset = 0;
    }
}

void Buckets::set_full(std::uint64_t tag, std::uint64_t bytes) {
    if (bytes > this->bytes()) throw_beyond(bytes, this->bytes());
    const auto parts = static_cast<std::uint32_t>(count());
    const std::uint64_t of_each = empty() ? 0 : pool_->layout().bucket_bytes;
    std::uint32_t part = 0;
    is_run_ = false;
    for (std::size_t i = 0; i < pieces(); ++i) {
        const Piece& piece = at(i);
        pool_->cut(piece.first, piece.count);
        for (std::uint32_t n = 0; n < piece.count; ++n, ++part) {
            const std::uint64_t here = std::min(bytes, of_each);
            bytes -= here;
            pool_->fill(piece.first + n, {tag, here, part, parts, 0});
        }
    }
}

void Buckets::move(Region to) {
    refuse_available(to);
    for (std::size_t i = 0; i < pieces(); ++i) {
        const Piece& piece = at(i);
        pool_->set_region(piece.first, piece.count, to);
    }
}

std::vector<BucketId> Buckets::offer(std::uint64_t tag, std::uint64_t bytes) {
    set_full(tag, bytes);
    std::vector<BucketId> all = ids();
    for (const BucketId& id : all) pool_->offer(id.index);
    forget();
    return all;
}

void Buckets::give_back() noexcept {
    if (!pool_->members().is_forked()) {
        if (is_run_) {
            pool_->release_run(first_.first, first_.count);
        } else {
            give_back_pieces();
        }
    }
    forget();
}

// So that nothing fails once they are taken.
void Buckets::make_room(std::size_t pieces) {
    if (pieces < 2) return;
    more_ = std::make_unique<std::vector<Piece>>();
    more_->reserve(pieces - 1);
}

// Buckets behind each other are one piece.
void Buckets::hold(const Piece& next) noexcept {
    Piece& last = !more_ || more_->empty() ? first_ : more_->back();
    if (last.count == 0) {
        last = next;
    } else if (last.first + last.count == next.first) {
        last.count += next.count;
    } else {
        more_->push_back(next);
    }
}

[[gnu::noinline]] void Buckets::give_back_pieces() noexcept {
    for (std::size_t i = 0; i < pieces(); ++i) pool_->release(at(i).first, at(i).count);
}

void Buckets::forget() noexcept {
    if (is_written_) forget_written();
    more_.reset();
    pool_.reset();
}

[[gnu::noinline]] void Buckets::forget_written() noexcept {
    pool_->count_written(-static_cast<std::int64_t>(count()));
    is_written_ = false;
}

BucketPool BucketPool::create(const std::string& path, const BucketOptions& options) {
    return BucketPool(buckets::Pool::create(path, options));
}

BucketPool BucketPool::open(const std::string& path) { return BucketPool(buckets::Pool::open(path)); }

BucketPool BucketPool::open_or_create(const std::string& path, const BucketOptions& options) {
    const buckets::Layout wanted = buckets::lay_out(options.bucket_bytes, options.count);
    for (;;) {
        try {
            BucketPool pool = open(path);
            if (pool.bucket_bytes() != wanted.bucket_bytes || pool.count() != wanted.count) {
                throw Error(Code::invalid_argument, "'" + path + "' has " + std::to_string(pool.count()) +
                                                        " buckets of " + std::to_string(pool.bucket_bytes()) +
                                                        " bytes, not " + std::to_string(wanted.count) +
                                                        " of " + std::to_string(wanted.bucket_bytes));
            }
            return pool;
        } catch (const Error& error) {
            if (error.kind() != Code::not_found) throw;
        }
        try {
            return create(path, options);
        } catch (const Error& error) {
            if (error.kind() != Code::already_exists) throw;  // else somebody was faster
        }
    }
}

std::optional<Buckets> BucketPool::try_acquire(std::uint64_t bytes, Region region) {
    check_acquiring(*pool_, region);
    std::optional<Buckets> held(Buckets{pool_});
    if (!pool_->acquire(bytes, region, *held)) held.reset();
    return held;
}

Buckets BucketPool::acquire(std::uint64_t bytes, Region region) {
    check_acquiring(*pool_, region);
    Buckets held(pool_);
    if (!pool_->acquire(bytes, region, held)) throw_no_space(bytes);
    return held;
}

void BucketPool::throw_no_space(std::uint64_t bytes) const {
    throw Error(Code::no_space, "there are no buckets for " + std::to_string(bytes) + " bytes in '" + path() +
                                    "': " + std::to_string(count(Region::available)) + " of " +
                                    std::to_string(count()) + " buckets of " +
                                    std::to_string(bucket_bytes()) + " bytes are free");
}

Buckets BucketPool::take(std::span<const BucketId> ids) {
    pool_->members().check();
    Buckets held(pool_);
    pool_->take(ids, held);
    return held;
}

std::vector<BucketInfo> BucketPool::list() const {
    return pool_->list([](const BucketInfo&) { return true; });
}

std::vector<BucketInfo> BucketPool::left_behind() const {
    return pool_->list([](const BucketInfo& info) { return info.is_left_behind; });
}

std::uint64_t BucketPool::count(Region region) const {
    return pool_->count([region](BucketState, Region of) { return of == region; });
}

std::uint64_t BucketPool::count(BucketState state) const {
    return pool_->count([state](BucketState of, Region) { return of == state; });
}

std::uint64_t BucketPool::reclaim() {
    pool_->members().check();
    return pool_->reclaim();
}

bool BucketPool::discard(BucketId id) {
    pool_->members().check();
    return pool_->discard(id);
}

void BucketPool::prepare() { pool_->prepare(); }

const std::string& BucketPool::path() const noexcept { return pool_->members().path(); }
std::uint64_t BucketPool::bucket_bytes() const noexcept { return pool_->layout().bucket_bytes; }
std::uint64_t BucketPool::count() const noexcept { return pool_->layout().count; }

}  // namespace pmemcpy
