#include "members/members.hpp"

#include <cstring>
#include <utility>

#include <fcntl.h>

#include "base/crc32c.hpp"
#include "os/guard.hpp"
#include "os/lock.hpp"
#include "os/names.hpp"
#include "os/space.hpp"

namespace pmemcpy::members {

namespace {

std::uint32_t checksum_of(const Header& header) {
    return base::crc32c(0, &header, offsetof(Header, checksum));
}

const char* name_of(Kind kind) {
    if (kind == Kind::buckets) return "buckets";
    return kind == Kind::messages ? "messages" : "something else";
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw Error(Code::corrupt, "cannot use '" + path + "': " + what);
}

Header read_header(const os::File& file, Kind kind) {
    const std::string& path = file.path();
    if (!file.is_regular()) refuse(path, "it is no regular file");
    if (file.size() < body_offset) {
        refuse(path, "it has " + std::to_string(file.size()) + " bytes, too few to hold " + name_of(kind));
    }
    Header header{};
    file.read_exactly(&header, sizeof header, 0);
    if (header.magic != file_magic) refuse(path, std::string("it does not hold ") + name_of(kind));
    if (header.kind != kind) {
        refuse(path, std::string("it holds ") + name_of(header.kind) + ", not " + name_of(kind));
    }
    if (header.version != version_of(kind)) {
        refuse(path, "it is of version " + std::to_string(header.version) + ", this library knows version " +
                         std::to_string(version_of(kind)));
    }
    if (header.checksum != checksum_of(header)) refuse(path, "its header was changed");
    if (header.file_bytes != file.size()) {
        refuse(path, "it has " + std::to_string(file.size()) + " bytes and was made with " +
                         std::to_string(header.file_bytes));
    }
    return header;
}

// What is not allocated yet would be a signal when it is touched on a full device.
void allocate(os::File& file, std::uint64_t bytes) {
    if (const std::uint64_t room = os::headroom_bytes(file); room < bytes - file.allocated_bytes()) {
        throw Error(Code::no_space, "cannot have the " + std::to_string(bytes) + " bytes of '" + file.path() +
                                        "': there is room for " + std::to_string(room));
    }
    file.allocate(0, bytes);
}

}  // namespace

Members Members::create(const Request& request, const std::function<void(std::byte*)>& fill) {
    os::File file = os::File::create_unnamed(request.path, static_cast<mode_t>(request.mode));
    allocate(file, request.file_bytes);
    os::Mapping map(file, request.file_bytes);
    fill(map.base());
    Header header{};
    header.magic = file_magic;
    header.version = version_of(request.kind);
    header.kind = request.kind;
    header.file_bytes = request.file_bytes;
    header.shape = request.shape;
    header.checksum = checksum_of(header);
    std::memcpy(map.base(), &header, sizeof header);
    file.link_as(request.path);
    return {std::move(file), std::move(map), request.shape};
}

Members Members::open(const std::string& path, Kind kind,
                      const std::function<std::uint64_t(const Shape&)>& bytes_of) {
    os::File file = os::File::open(path, O_RDWR);
    const Header header = read_header(file, kind);
    std::uint64_t bytes = 0;
    try {
        bytes = bytes_of(header.shape);
    } catch (const Error& error) {
        refuse(path, error.what());
    }
    if (bytes != header.file_bytes) refuse(path, "its size does not follow from its header");
    if (file.allocated_bytes() < bytes) allocate(file, bytes);
    os::Mapping map(file, bytes);
    if (!os::can_write(map.base(), body_offset)) {
        throw Error(Code::io_error, "cannot read '" + path + "': its first bytes are gone or poisoned");
    }
    return {std::move(file), std::move(map), header.shape};
}

Members::Members(os::File file, os::Mapping map, const Shape& shape)
    : file_(std::move(file)),
      closed_in_child_(file_),
      map_(std::move(map)),
      shape_(shape),
      generation_(os::fork_generation()) {
    sit_down();
}

std::atomic_ref<std::uint64_t> Members::life(std::uint64_t seat) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(map_.base() + lives_offset + seat * 8));
}

void Members::sit_down() {
    for (std::uint32_t seat = 0; seat < seat_count; ++seat) {
        if (!os::try_lock(file_, os::LockKind::exclusive, first_seat_byte + seat, 1)) continue;
        // Only who holds the lock counts, so that two owners of a seat never have the same life.
        const std::uint64_t lives = life(seat).fetch_add(1) + 1;
        me_ = {seat, static_cast<std::uint32_t>(lives & ((1U << life_bits) - 1))};
        return;
    }
    throw Error(Code::busy, "cannot open '" + path() + "': all " + std::to_string(seat_count) +
                                " places for processes are taken");
}

void Members::throw_forked() const {
    throw Error(Code::busy,
                "'" + path() + "' was opened before this process was forked; open it again in the child");
}

void Members::touch_all(std::uint64_t from) {
    const std::uint64_t bytes = map_.size() - from;
    map_.populate(from, bytes);
    map_.collapse(from, bytes);
    map_.populate(from, bytes);  // what was collapsed is mapped at its next use otherwise
}

bool Members::is_dead(Owner owner) const {
    if (owner == me_) return false;
    if ((life(owner.seat).load() & ((1U << life_bits) - 1)) != owner.life) return true;
    return !os::conflicts(file_, os::LockKind::exclusive, first_seat_byte + owner.seat, 1);
}

void Members::throw_corrupt(const std::string& what) const {
    throw Error(Code::corrupt,
                "'" + path() + "' " + what +
                    "; somebody else has written to it: remove it when nobody has it open, and make it anew");
}

bool Roll::is_dead(Owner owner) {
    auto& known = known_[owner.seat];
    if (!known || known->life != owner.life) known = Answer{owner.life, members_.is_dead(owner)};
    return known->is_dead;
}

constinit thread_local std::uint64_t known_thread_number __attribute__((tls_model("initial-exec"))) = 0;

std::uint64_t new_thread_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return known_thread_number = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace pmemcpy::members
