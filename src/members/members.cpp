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
    allocate(file, request.body.file_bytes);
    os::Mapping map(file, request.body.file_bytes);
    fill(map.base());
    Header header{};
    header.magic = file_magic;
    header.version = version_of(request.kind);
    header.kind = request.kind;
    header.file_bytes = request.body.file_bytes;
    header.shape = request.shape;
    header.checksum = checksum_of(header);
    std::memcpy(map.base(), &header, sizeof header);
    file.link_as(request.path);
    return {std::move(file), std::move(map), request.shape, request.body};
}

Members Members::open(const std::string& path, Kind kind, const std::function<Body(const Shape&)>& body_of) {
    os::File file = os::File::open(path, O_RDWR);
    const Header header = read_header(file, kind);
    Body body;
    try {
        body = body_of(header.shape);
    } catch (const Error& error) {
        refuse(path, error.what());
    }
    if (body.file_bytes != header.file_bytes) refuse(path, "its size does not follow from its header");
    if (file.allocated_bytes() < body.file_bytes) allocate(file, body.file_bytes);
    os::Mapping map(file, body.file_bytes);
    if (!os::can_write(map.base(), body_offset)) {
        throw Error(Code::io_error, "cannot read '" + path + "': its first bytes are gone or poisoned");
    }
    return {std::move(file), std::move(map), header.shape, body};
}

Members::Members(os::File file, os::Mapping map, const Shape& shape, const Body& body)
    : file_(std::move(file)),
      closed_in_child_(file_),
      map_(std::move(map)),
      shape_(shape),
      generation_(os::fork_generation()) {
    sit_down(body);
}

std::atomic_ref<std::uint64_t> Members::life(std::uint64_t seat) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(map_.base() + lives_offset + seat * 8));
}

// Only the process that holds the seat's lock counts, so two owners of a seat never have the same life.
void Members::sit_down(const Body& body) {
    for (std::uint32_t seat = 0; seat < seat_count; ++seat) {
        if (!os::try_lock(file_, os::LockKind::exclusive, first_seat_byte + seat, 1)) continue;
        std::uint64_t lives = life(seat).load() + 1;
        const bool begins_anew = lives > 1 && Owner::life_of(lives - 1) == nobody.life;
        if (begins_anew || Owner::life_of(lives) == nobody.life) {
            // From here on the tags of this seat come again. The count stays at nobody's tag until no word names the seat, so a process that
            // dies before leaves that work to the next one.
            if (!begins_anew) life(seat).store(lives++);
            forget_lives(seat, body);
        }
        life(seat).store(lives);
        me_ = {seat, Owner::life_of(lives)};
        return;
    }
    throw Error(Code::busy, "cannot open '" + path() + "': all " + std::to_string(seat_count) +
                                " places for processes are taken");
}

/// Makes nobody the owner of all that the earlier lives of a seat left. The caller holds the seat, and no process writes another name than its own
/// into a word. So no word that this function has passed will name one of these lives again.
void Members::forget_lives(std::uint32_t seat, const Body& body) const {
    for (std::uint64_t i = 0; i < body.count; ++i) {
        const std::atomic_ref word(
            *reinterpret_cast<std::uint64_t*>(map_.base() + body.words + i * body.stride));
        std::uint64_t bits = word.load();
        Word named = Word::of(bits);
        if (named.state == 0 || named.owner.seat != seat || named.owner.life == nobody.life) continue;
        named.owner = nobody;
        // If the word was changed meanwhile, another process has made it its own.
        word.compare_exchange_strong(bits, named.packed());
    }
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
    if (owner.life == nobody.life || Owner::life_of(lives(owner.seat)) != owner.life) return true;
    return !os::conflicts(file_, os::LockKind::exclusive, first_seat_byte + owner.seat, 1);
}

void Members::throw_corrupt(const std::string& what) const {
    throw Error(Code::corrupt,
                "'" + path() + "' " + what +
                    "; somebody else has written to it: remove it when nobody has it open, and make it anew");
}

bool Roll::is_dead(Owner owner) {
    const std::uint64_t lives = members_.lives(owner.seat);
    if (owner.life == nobody.life || owner.life != Owner::life_of(lives)) return members_.is_dead(owner);
    std::uint64_t& known = known_.at(owner.seat);
    if (known >> 1 != lives) known = lives << 1 | (members_.is_dead(owner) ? 1U : 0U);
    return (known & 1) != 0;
}

constinit thread_local std::uint64_t known_thread_number __attribute__((tls_model("initial-exec"))) = 0;

std::uint64_t new_thread_number() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return known_thread_number = last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace pmemcpy::members
