#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "index/engine/format.hpp"
#include "index/engine/page.hpp"
#include "os/file.hpp"
#include "os/fork.hpp"
#include "os/map.hpp"

namespace pmemcpy::index {

/// The file of an index as a process has it mapped: its pages, and which of them this process has found to be what their links say.
///
/// Nothing is believed unless a checksum that is believed already says so: the word that publishes has its own, it names a meta, which has
/// one, and from there each link has the checksum of the page behind it. A page that a committed link leads to never changes for as long as
/// anybody may read it, so each process looks at the checksum of a page once, and then remembers it by the sum.
/// Sharing: threads may share one.
class Pages {
public:
    enum class How { make, write, read };
    /// Errors: corrupt, not_found, permission_denied, no_space, io_error.
    Pages(const std::string& path, How how, std::uint64_t at_most, unsigned mode);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    const std::string& path() const { return file_.path(); }
    os::File& file() { return file_; }
    const os::File& file() const { return file_; }
    bool is_of_this_process() const { return fork_generation_ == os::fork_generation(); }
    std::uint64_t most_pages() const { return most_pages_; }

    /// What is published now. Errors: corrupt.
    std::uint64_t published() const;
    /// What was published as this commit; false if it has been written over meanwhile. Errors: corrupt.
    bool read_meta(std::uint64_t commit, Meta& meta) const;
    /// The newest. Errors: corrupt.
    Meta newest_meta() const;
    void publish(Meta& meta);
    /// The same in a file that nobody has mapped.
    static void write_head(os::File& file, Meta meta);

    const char* bytes(std::uint32_t page) const { return base() + page * page_bytes; }
    /// The page that a link leads to. Errors: corrupt, where it is not what the link says.
    const char* trusted(const Link& link) const {
        if (link.page >= most_pages_) throw_damaged("a link");
        const Known* const known = known_[link.page / known_at_once].load(std::memory_order_acquire);
        if (known != nullptr && link.sum != 0 &&
            (*known)[link.page % known_at_once].load(std::memory_order_relaxed) == link.sum)
            return bytes(link.page);
        return looked_at(link);
    }
    /// Its bytes in memory that nobody else can change, whatever becomes of the file. Errors: corrupt, where they are not what the link says.
    void copy(const Link& link, char* to) const;
    /// Of a page that nobody can come to yet.
    void write(std::uint32_t page, const char* bytes) { std::memcpy(this->bytes(page), bytes, page_bytes); }
    static std::uint64_t sum_of(const char* page);
    /// This process has just written it so.
    void remember(const Link& link) const;
    /// There is memory for so many pages. Errors: no_space.
    void make_room(std::uint64_t pages);

    /// One at a time among all processes and threads.
    void lock_writing();
    void unlock_writing();

    /// Where a reader says what it reads: nobody uses the space of what was replaced after that.
    std::uint32_t take_slot();
    void leave_slot(std::uint32_t slot);
    /// Returns the commit that is read from now on. Errors: corrupt.
    std::uint64_t begin_reading(std::uint32_t slot) const;
    void end_reading(std::uint32_t slot) const;
    /// What was replaced in this commit or before nobody reads any more.
    std::uint64_t oldest_read();

private:
    [[noreturn]] void throw_held() const;
    static constexpr std::size_t known_at_once = 8192;
    using Known = std::array<std::atomic<std::uint64_t>, known_at_once>;

    char* bytes(std::uint32_t page) { return base() + page * page_bytes; }
    char* base() const { return reinterpret_cast<char*>(map_.base()); }
    std::atomic<std::uint64_t>& word(std::size_t at) const {
        return *reinterpret_cast<std::atomic<std::uint64_t>*>(base() + at);
    }
    std::atomic<std::uint64_t>& slot_word(std::uint32_t slot) const {
        return word(slots_at + slot * slot_bytes);
    }
    void prepare();
    void condemn() const;
    const char* looked_at(const Link& link) const;
    void expect_head() const;
    void expect_in_file(std::uint64_t pages) const;

    os::File file_;
    os::ClosedInChild closed_in_child_;
    os::Mapping map_;
    std::uint64_t most_pages_ = 0;
    std::uint64_t fork_generation_ = os::fork_generation();
    bool is_writable_;
    mutable std::atomic<std::uint64_t> pages_in_file_ = 0;  // that are known to be there
    std::unique_ptr<std::atomic<Known*>[]> known_;          // checksums that were compared, by page
    std::mutex writing_;
    std::mutex slots_mutex_;
    std::vector<bool> has_slot_;             // that are this process's
    std::vector<std::uint32_t> idle_slots_;  // of those, which nobody reads by
};

}  // namespace pmemcpy::index
