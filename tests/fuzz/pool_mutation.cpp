#include "pool_mutation.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.hpp"
#include "heap/record.hpp"
#include "pool/geometry.hpp"

namespace pmemcpy::fuzz {
namespace {

namespace fs = std::filesystem;
using heap::Link;
using heap::RecordHeader;

enum Flag : std::uint8_t { unclean = 1, wrong_checksums = 2, stale_clean_mark = 4 };

constexpr std::uint64_t longest_file = 4 << 20;

}  // namespace

Mutation::Mutation(const Seed& seed, Bytes& input) : seed_(seed) {
    for (const auto& [name, bytes] : seed.payloads) payloads_.push_back({name, bytes});
    const auto flags = input.take<std::uint8_t>();
    while (!input.empty()) change(input);
    if ((flags & wrong_checksums) == 0) seal_records();
    if ((flags & stale_clean_mark) == 0) seal_state();
    if ((flags & unclean) != 0) put<std::uint64_t>(pool::state_offset, 0);
}

Mutation::Mutation(Input raw) {
    seed_.bytes.assign(raw.begin(), raw.end());
    seed_.length = raw.size();
    pool::Superblock super{};
    if (raw.size() >= sizeof super) std::memcpy(&super, raw.data(), sizeof super);
    if (super.magic == pool::pool_magic && super.max_bytes <= longest_file) seed_.length = super.max_bytes;
}

// Whatever an input says, there is something at `at`.
template <class T>
T Mutation::get(std::uint64_t at) const {
    T value{};
    if (at + sizeof value <= seed_.bytes.size()) std::memcpy(&value, seed_.bytes.data() + at, sizeof value);
    return value;
}

template <class T>
void Mutation::put(std::uint64_t at, T value) {
    if (at + sizeof value > seed_.bytes.size()) return;
    std::memcpy(seed_.bytes.data() + at, &value, sizeof value);
    touch(at);
}

std::uint64_t Mutation::record(Bytes& input) const {
    return seed_.records[input.take<std::uint8_t>() % seed_.records.size()];
}

std::uint64_t Mutation::length_of(std::uint64_t record) const {
    const auto header = get<RecordHeader>(record);
    return std::clamp<std::uint64_t>(header.length, sizeof header, seed_.chunk_bytes / 2);
}

std::uint64_t Mutation::tag_of(std::uint64_t record) const { return get<RecordHeader>(record).version; }

std::uint64_t Mutation::take_value(Bytes& input) const {
    const auto how = input.take<std::uint8_t>();
    switch (how % 8) {
        case 0:
            return input.take_number();
        case 1: {
            const std::uint64_t to = record(input);
            return Link::to(to, tag_of(to)).word;
        }
        case 2: {
            const std::uint64_t to = record(input);
            return Link::to(to, tag_of(to)).dead().word;
        }
        case 3:
            return Link::mark(how / 8 % 3, tag_of(record(input))).word;
        case 4: {  // to any place, with the tag that is there
            const std::uint64_t to =
                input.take<std::uint16_t>() * heap::record_alignment % seed_.bytes.size();
            return Link::to(to, tag_of(to)).word;
        }
        case 5:  // where something is
            return record(input) + std::uint64_t{input.take<std::uint8_t>()} - 64;
        case 6: {  // what another record says
            const std::uint64_t from = record(input);
            return get<std::uint64_t>(from + input.take<std::uint8_t>() % (length_of(from) / 8) * 8);
        }
        default:
            return seed_.bytes.size() + input.take<std::uint8_t>() - 128;
    }
}

void Mutation::touch(std::uint64_t at) {
    const auto after = std::upper_bound(seed_.records.begin(), seed_.records.end(), at);
    if (after != seed_.records.begin()) touched_.insert(*std::prev(after));
}

void Mutation::change(Bytes& input) {
    switch (input.take<std::uint8_t>() % 14) {
        case 0:
        case 1:
        case 2: {
            const std::uint64_t at = record(input);
            const std::uint64_t word = input.take<std::uint8_t>() % (length_of(at) / 8);
            return put(at + 8 * word, take_value(input));
        }
        case 3: {
            const std::uint64_t at = record(input);
            const std::uint64_t byte = input.take<std::uint16_t>() % length_of(at);
            return put(at + byte, input.take<std::uint8_t>());
        }
        case 4: {  // half words: counts, lengths, kinds
            const std::uint64_t at = record(input);
            const std::uint64_t word = input.take<std::uint8_t>() % (length_of(at) / 4);
            return put(at + 4 * word, static_cast<std::uint32_t>(input.take_number()));
        }
        case 5:
            return change_header(input);
        case 6:
            return copy_record(input);
        case 7:
            return change_superblock(input);
        case 8: {
            const std::uint64_t word = input.take<std::uint8_t>() % (sizeof(pool::PoolState) / 64);
            return put(pool::state_offset + 64 * word, input.take_number());
        }
        case 9: {  // chunk table and buckets
            const std::uint64_t words = (seed_.chunks_at - pool::chunk_table_offset) / 8;
            const std::uint64_t at = pool::chunk_table_offset + input.take<std::uint16_t>() % words * 8;
            const auto how = input.take<std::uint8_t>();
            const auto kind = static_cast<heap::ChunkKind>(how % 8);
            const bool is_chunk = how < 128;
            return put(at, is_chunk ? heap::ChunkWord::make(kind, how & 64U, input.take<std::uint8_t>()).word
                                    : take_value(input));
        }
        case 10:
            return change_slab(input);
        case 11: {
            const std::uint64_t at = input.take<std::uint32_t>() % seed_.bytes.size();
            std::uint64_t i = 0;
            for (const std::uint8_t byte : input.take_bytes(input.take<std::uint8_t>() % 32))
                put(at + i++, byte);
            return;
        }
        case 12:
            seed_.length = input.take_number() % longest_file;
            return;
        default:
            return change_payload(input);
    }
}

void Mutation::change_superblock(Bytes& input) {
    const std::uint64_t at = std::uint64_t{input.take<std::uint8_t>()} * 4 % sizeof(pool::Superblock);
    const std::uint64_t value = input.take_number();
    auto super = get<pool::Superblock>(0);
    auto* field = reinterpret_cast<std::uint8_t*>(&super) + at;
    std::memcpy(field, &value, std::min<std::uint64_t>(sizeof super - at, at < 40 ? 4 : 8));
    super.checksum = checksum_of(super);
    put(pool::superblock_offset, super);
    put(pool::spare_offset, super);
}

void Mutation::change_slab(Bytes& input) {
    const std::uint64_t at = seed_.slabs[input.take<std::uint8_t>() % seed_.slabs.size()];
    const std::uint64_t field = 8 + 4 * (input.take<std::uint8_t>() % 6U);
    put(at + field, static_cast<std::uint32_t>(input.take_number()));
    auto slab = get<heap::SlabHeader>(at);
    slab.checksum = base::crc32c(0, &slab.kind, sizeof slab - offsetof(heap::SlabHeader, kind));
    put(at, slab);
}

void Mutation::change_header(Bytes& input) {
    const std::uint64_t at = record(input);
    auto header = get<RecordHeader>(at);
    const auto which = input.take<std::uint8_t>();
    const std::uint64_t value = input.take_number();
    switch (which % 6) {
        case 0:
            header.kind = static_cast<std::uint8_t>(value % 8);
            break;
        case 1:
            header.mutable_words = static_cast<std::uint8_t>(value);
            break;
        case 2:
            header.length = static_cast<std::uint32_t>(value);
            break;
        case 3:
            header.version = value;
            break;
        case 4:
            header.incarnation = value;
            break;
        default:
            header.incarnation = get<RecordHeader>(record(input)).incarnation;
    }
    put(at, header);
}

// Also onto places where no record was.
void Mutation::copy_record(Bytes& input) {
    const std::uint64_t from = record(input);
    const std::uint64_t to = record(input) + 64 * (input.take<std::uint8_t>() % 4U);
    const std::uint64_t length = length_of(from);
    if (std::max(from, to) + length > seed_.bytes.size()) return;
    std::memmove(seed_.bytes.data() + to, seed_.bytes.data() + from, length);
    touched_.insert(to);
}

void Mutation::change_payload(Bytes& input) {
    if (payloads_.empty()) return;
    Payload& payload = payloads_[input.take<std::uint8_t>() % payloads_.size()];
    payload.fate = static_cast<Fate>(input.take<std::uint8_t>() % 7);
    if (payload.fate == Fate::shorter)
        payload.bytes.resize(input.take<std::uint16_t>() % (payload.bytes.size() + 1));
    if (payload.fate == Fate::longer)
        payload.bytes.resize(payload.bytes.size() + input.take<std::uint16_t>());
    if (payload.fate != Fate::whole || payload.bytes.empty()) return;
    payload.bytes[input.take<std::uint16_t>() % payload.bytes.size()] = input.take<char>();
}

void Mutation::seal_records() {
    for (const std::uint64_t at : touched_) {
        if (at + seed_.chunk_bytes > seed_.bytes.size()) continue;
        auto* header = reinterpret_cast<RecordHeader*>(seed_.bytes.data() + at);
        if (heap::has_sane_length(*header, seed_.chunk_bytes - at % seed_.chunk_bytes))
            header->checksum = heap::checksum_of(*header, at);
    }
}

void Mutation::seal_state() {
    const auto state = get<pool::PoolState>(pool::state_offset);
    if (state.clean.value != 0) put(pool::state_offset, clean_mark(state));
}

void Mutation::write(const std::string& records, const std::string& data) const {
    const int file = ::open(records.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::uint64_t written = std::min<std::uint64_t>(seed_.bytes.size(), seed_.length);
    const bool done = file >= 0 &&
                      ::pwrite(file, seed_.bytes.data(), written, 0) == static_cast<ssize_t>(written) &&
                      ::ftruncate(file, static_cast<off_t>(seed_.length)) == 0;
    ::close(file);
    if (!done) throw std::runtime_error("cannot write the pool to be opened");
    if (data.empty()) return;
    fs::create_directory(data);
    for (const Payload& payload : payloads_) {
        const std::string path = data + "/" + payload.name;
        if (payload.fate == Fate::gone) continue;
        if (payload.fate == Fate::folder) {
            fs::create_directory(path);
        } else if (payload.fate == Fate::link) {
            fs::create_symlink("/etc/passwd", path);
        } else if (payload.fate == Fate::fifo) {
            if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("cannot make a fifo");
        } else {
            const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 01600);
            const ssize_t all = ::write(fd, payload.bytes.data(), payload.bytes.size());
            ::close(fd);
            if (all != static_cast<ssize_t>(payload.bytes.size()))
                throw std::runtime_error("cannot write a payload");
        }
    }
}

}  // namespace pmemcpy::fuzz
