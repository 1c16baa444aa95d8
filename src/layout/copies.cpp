// Copies of blocks, which are made while the block stays where it is. A copy is a hint: it is looked at, and compared with its block,
// whenever it is to be used; losing all of them loses nothing but time.

#include "base/crc32c.hpp"
#include "layout/payload_files.hpp"
#include "layout/payload_name.hpp"
#include "layout/trouble.hpp"
#include "os/access.hpp"
#include "os/directory.hpp"
#include "os/guard.hpp"
#include "os/lock.hpp"
#include "os/process.hpp"

#include <pmemcpy/error.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace pmemcpy::layout {

namespace {

constexpr std::uint64_t piece_bytes = 4 << 20;  // after which who waits for the copy is told
constexpr std::string_view torn_prefix = "copying-";

/// Behind the block's bytes.
struct Trailer {
    std::uint64_t magic;
    std::uint32_t format;
    std::uint32_t has_crc;
    std::uint64_t version;
    std::uint64_t bytes;
    std::uint64_t written_ns;
    std::uint32_t crc;
    std::uint32_t checksum;  // of all before it
};
static_assert(sizeof(Trailer) == 48);

constexpr std::uint64_t trailer_magic = 0x59504f432d4d5050;  // "PPM-COPY"
constexpr std::uint32_t trailer_format = 1;

Trailer trailer_of(const CopyMark& mark) {
    Trailer t{trailer_magic, trailer_format,  mark.has_crc ? 1U : 0U,      mark.version,
              mark.bytes,    mark.written_ns, mark.has_crc ? mark.crc : 0, 0};
    t.checksum = base::crc32c(0, reinterpret_cast<const std::byte*>(&t), offsetof(Trailer, checksum));
    return t;
}

std::string torn_name(std::uint64_t version) { return std::string(torn_prefix) + name_of_payload(version); }

/// Copies memory to a file, `bytes` in all by `at_once` in a call, and sums what was written.
class Writing {
public:
    Writing(os::File& file, std::uint64_t bytes, std::size_t at_once)
        : file_(file),
          room_(std::min(at_once, bytes)),
          buffer_(std::make_unique_for_overwrite<std::byte[]>(room_)) {}

    void write(const std::byte* from, std::uint64_t bytes) {
        for (const std::byte* const end = from + bytes; from < end;) {
            const auto length = std::min(room_, static_cast<std::size_t>(end - from));
            // What is summed is what is written, whatever happens to the memory meanwhile.
            if (!os::guarded(from, length, [&] { std::memcpy(buffer_.get(), from, length); }))
                throw SourceDamage(Code::io_error,
                                   "the memory of a block is damaged (SIGBUS); it cannot be copied");
            crc_ = base::crc32c(crc_, buffer_.get(), length);
            file_.write_exactly(buffer_.get(), length, at_);
            from += length;
            at_ += length;
        }
    }
    [[nodiscard]] std::uint32_t crc() const { return crc_; }

private:
    os::File& file_;
    std::size_t room_;
    std::unique_ptr<std::byte[]> buffer_;
    std::uint64_t at_ = 0;
    std::uint32_t crc_ = 0;
};

}  // namespace

bool PayloadFiles::make_copy(const CopyMark& mark, const std::byte* from,
                             const std::function<bool(std::uint64_t)>& written, IfBusy if_busy,
                             std::size_t write_bytes) {
    const std::string name = name_of_payload(copy_bit | mark.version);
    if (has_copy(mark)) return true;
    if (os::look_in(data_, name)) {
        // Of a block that a power loss took, whose version was drawn again; or, since we looked, of this one after all.
        const pool::Pool::CopiesLock lock(heap_.pool());
        if (has_copy(mark)) return true;
        remove_copy(mark.version);
    }
    const std::uint64_t total = mark.bytes + sizeof(Trailer);
    std::string torn = torn_name(mark.version);
    std::optional<pool::Pool::Uncounted> uncounted(std::in_place,
                                                   heap_.pool());  // until the file has its length
    reserve(total);
    bool is_there = false;
    bool is_counted = true;
    const auto take_back = [&] {
        if (!std::exchange(is_counted, false)) return;
        if (!uncounted) uncounted.emplace(heap_.pool());
        if (is_there) os::remove_in(data_, torn);
        release(total);
        uncounted.reset();
    };
    try {
        make_headroom(total);
        std::optional<BegunCopy> begun;
        std::optional<os::File> of_another;
        std::optional<pool::Patience> patience;
        while (!(begun = begin_copy(torn, of_another))) {
            if (if_busy == IfBusy::copy_too) {
                torn += "-" + name_of_payload(heap_.pool().draw_version());
                continue;
            }
            if (if_busy == IfBusy::wait) {
                if (!patience)
                    patience.emplace(data_.path(), "copying a block there", *of_another, 0, nullptr);
                patience->nap();
            }
            const bool is_made = has_copy(mark);
            if (!is_made && if_busy == IfBusy::wait && (!written || written(0))) continue;
            take_back();
            return is_made;
        }
        is_there = true;
        os::File* const file = &begun->file;
        os::share_like(*file, heap_.pool().file(), (heap_.pool().file().mode_bits() & 0666) | payload_mark);
        allocate(*file, total);
        uncounted.reset();
        Writing copy(*file, mark.bytes, std::min<std::size_t>(write_bytes, piece_bytes));
        for (std::uint64_t at = 0; at < mark.bytes; at += piece_bytes) {
            const std::uint64_t length = std::min(piece_bytes, mark.bytes - at);
            copy.write(from + at, length);
            if (written && !written(length)) {
                take_back();
                return false;
            }
        }
        if (mark.has_crc && copy.crc() != mark.crc)
            throw SourceDamage(Code::corrupt, "a block has another checksum than when it was stored");
        const Trailer trailer = trailer_of(mark);
        file->write_exactly(&trailer, sizeof trailer, mark.bytes);
        if (needs_sync_) file->sync_data();
        uncounted.emplace(heap_.pool());  // who lists the files might meet both names, or none
        const bool is_first = os::rename_new_in(data_, torn, data_, name);
        uncounted.reset();
        if (!is_first) take_back();
        is_counted = false;  // it is the copy's from here on
        if (needs_sync_) {
            if (auto data = os::File::open_in(data_, ".", O_RDONLY | O_DIRECTORY)) data->sync_all();
        }
        return is_first || has_copy(mark);
    } catch (...) {
        take_back();
        throw;
    }
}

bool PayloadFiles::has_copy(const CopyMark& mark) const {
    return is_copy_with(mark, data_, name_of_payload(copy_bit | mark.version));
}

bool is_copy_with(const CopyMark& mark, const os::File& directory, const std::string& name) {
    const auto named = os::look_in(directory, name);
    if (!named || named->what != os::Named::regular || named->size != mark.bytes + sizeof(Trailer))
        return false;
    const auto file = os::File::open_in(directory, name, O_RDONLY);
    if (!file) return false;
    Trailer found{};
    file->read_exactly(&found, sizeof found, mark.bytes);
    const Trailer expected = trailer_of(mark);
    return std::memcmp(&found, &expected, sizeof found) == 0;
}

std::vector<std::uint64_t> PayloadFiles::copies() const {
    std::vector<std::uint64_t> versions;
    for (const std::string& name : os::names_in(data_)) {
        const auto number = number_of_payload(name);
        if (number && is_copy(*number)) versions.push_back(*number & ~copy_bit);
    }
    return versions;
}

void PayloadFiles::remove_copy(std::uint64_t version) {
    const std::string name = name_of_payload(copy_bit | version);
    const auto named = os::look_in(data_, name);
    const pool::Pool::Uncounted uncounted(heap_.pool());
    if (!named || named->what != os::Named::regular || !give_up(version, name)) return;
    cache_.drop(copy_bit | version);
    release(named->size);
}

void PayloadFiles::remove_torn_copies() {
    {
        const pool::Pool::CopiesLock lock(heap_.pool());
        for (const std::string& name : os::names_in(data_)) {
            if (!is_torn_copy(name)) continue;
            auto file = os::File::open_in(data_, name, O_RDWR);
            if (!file || !os::try_lock(*file, os::LockKind::exclusive, 0, 1)) continue;
            const pool::Pool::Uncounted uncounted(heap_.pool());
            if (os::remove_in(data_, name)) release(file->size());
        }
    }
    count_anew();  // the dead may have counted what they did not come to make, or to say that it is gone
}

bool PayloadFiles::is_torn_copy(const std::string& name) { return name.starts_with(torn_prefix); }

// While it is locked nobody takes it for what a killed process has left; and a forked child that lives on does not keep the lock. Nothing,
// if another has it, and then that one's file.
std::optional<PayloadFiles::BegunCopy> PayloadFiles::begin_copy(const std::string& name,
                                                                std::optional<os::File>& of_another) {
    const pool::Pool::CopiesLock lock(heap_.pool());
    if (auto left = os::File::open_in(data_, name, O_RDWR)) {
        if (!os::try_lock(*left, os::LockKind::exclusive, 0, 1)) {
            of_another.emplace(std::move(*left));
            return std::nullopt;
        }
        if (os::remove_in(data_, name)) subtract(left->size());
    }
    auto file = os::File::open_in(data_, name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (!file) throw Error(Code::io_error, data_.path() + " was removed while the pool was open");
    os::ClosedInChild in_child(*file);
    if (!os::try_lock(*file, os::LockKind::exclusive, 0, 1)) {
        os::remove_in(data_, name);
        throw Error(Code::busy,
                    data_.path() + ": another process locks a file that is being made; try again");
    }
    return BegunCopy{std::move(*file), std::move(in_child)};
}

}  // namespace pmemcpy::layout
