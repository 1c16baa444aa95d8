#include "recycled.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace pmemcpy::python {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t most_pieces = 8;

struct Piece {
    void* memory;
    std::size_t bytes;  // whole huge pages
};

class Recycler {
public:
    Piece take(std::size_t bytes) {
        bytes = (bytes + huge_page - 1) / huge_page * huge_page;
        {
            const std::lock_guard lock(mutex_);
            // The newest that fits without wasting more than a half: its pages are the most likely to be still there.
            const auto fits = [bytes](const Piece& piece) {
                return piece.bytes >= bytes && piece.bytes / 2 <= bytes;
            };
            const auto found = std::find_if(unused_.rbegin(), unused_.rend(), fits);
            if (found != unused_.rend()) {
                const Piece piece = *found;
                unused_.erase(std::next(found).base());
                return piece;
            }
        }
        return map(bytes);
    }

    void give_back(Piece piece) noexcept {
        ::madvise(piece.memory, piece.bytes, MADV_FREE);
        Piece oldest{};
        {
            const std::lock_guard lock(mutex_);
            if (unused_.size() == most_pieces) {
                oldest = unused_.front();
                unused_.erase(unused_.begin());
            }
            unused_.push_back(piece);  // within the room that the constructor has taken
        }
        if (oldest.memory != nullptr) ::munmap(oldest.memory, oldest.bytes);
    }

    Recycler() { unused_.reserve(most_pieces); }

private:
    // At a multiple of a huge page, so that the kernel can use such.
    static Piece map(std::size_t bytes) {
        const std::size_t reserved = bytes + huge_page;
        void* const memory =
            ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        auto* const begin = static_cast<std::byte*>(memory);
        void* first = begin;
        std::size_t room = reserved;
        std::align(huge_page, bytes, first, room);
        auto* const aligned = static_cast<std::byte*>(first);
        if (aligned != begin) ::munmap(begin, static_cast<std::size_t>(aligned - begin));
        ::munmap(aligned + bytes, static_cast<std::size_t>(begin + reserved - (aligned + bytes)));
        ::madvise(aligned, bytes, MADV_HUGEPAGE);
        return {aligned, bytes};
    }

    std::mutex mutex_;
    std::vector<Piece> unused_;
};

Recycler& recycler() {
    static auto* const one = new Recycler;  // arrays may be dropped after the program's end has begun
    return *one;
}

}  // namespace

Pinned recycled(std::size_t bytes) {
    const Piece piece = recycler().take(bytes);
    const std::shared_ptr<const void> pin(piece.memory,
                                          [piece](const void*) { recycler().give_back(piece); });
    return {pin, static_cast<std::byte*>(piece.memory), bytes};
}

}  // namespace pmemcpy::python
