#include "profiler/steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "os/process.hpp"
#include "persist/durability.hpp"
#include "profiler/scratch.hpp"

namespace pmemcpy::profiler {

namespace {

constexpr std::uint64_t first_bytes = 64 << 10;
constexpr std::uint64_t poll_ns = 50'000;

/// Numbers without a pattern, so that a file system that compresses has nothing to gain, and no two offsets follow each other.
class Noise {
public:
    explicit Noise(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
    std::uint64_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_;
    }

private:
    std::uint64_t state_;
};

class Buffer {
public:
    explicit Buffer(Noise& noise)
        : bytes_(static_cast<std::byte*>(::operator new(largest_bytes, std::align_val_t(alignment)))) {
        for (std::size_t i = 0; i < largest_bytes; i += sizeof(std::uint64_t)) {
            const std::uint64_t word = noise.next();
            std::memcpy(bytes_ + i, &word, sizeof word);
        }
    }
    ~Buffer() { ::operator delete(bytes_, std::align_val_t(alignment)); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    std::byte* data() const { return bytes_; }

private:
    std::byte* bytes_;
};

class Measurement {
public:
    Measurement(const Task& task, std::uint64_t number, Meeting& meeting, Account& account)
        : task_(task),
          meeting_(meeting),
          account_(account),
          noise_(number + 1),
          buffer_(noise_),
          scratch_(make_scratch(task.directory, task.bytes, !task.is_memory)) {
        account_.is_direct = scratch_.is_direct;
        account_.durability = persist::probe(scratch_.file).durability;
    }

    void take() {
        for (const Step step : {write_large, write_small, read_large, read_small}) {
            meet(step);
            if (step == write_large || step == read_large) {
                large(step);
            } else {
                small(step);
            }
        }
    }

private:
    bool is_synced() const { return !task_.is_memory && !scratch_.is_direct; }

    /// One that does not come is not waited for longer than a step takes.
    void meet(Step step) {
        if (step == read_large || step == read_small) {
            scratch_.file.sync_data();
            if (is_synced()) scratch_.file.forget_cached();
            if (is_synced() && step == read_small) scratch_.file.expect_random_reads();
        }
        meeting_.arrived[step].fetch_add(1);
        const std::uint64_t begin = os::monotonic_ns();
        while (meeting_.arrived[step] < task_.children && os::monotonic_ns() - begin < task_.step_ns)
            os::sleep_ns(poll_ns);
    }

    /// Nanoseconds until it came back, and what is synced is on the device.
    std::uint64_t access(Step step, std::uint64_t size, std::uint64_t offset) {
        const std::uint64_t begin = os::monotonic_ns();
        if (step == write_large || step == write_small) {
            scratch_.file.write_exactly(buffer_.data(), size, offset);
            if (is_synced()) scratch_.file.sync_data();
        } else {
            scratch_.file.read_exactly(buffer_.data(), size, offset);
        }
        return os::monotonic_ns() - begin;
    }

    /// From the beginning to the end, in accesses that grow while they are a small part of the time: a slow device is asked for little
    /// at once, and a fast one is not measured by how long it takes to ask. What came before the last growth does not count.
    void large(Step step) {
        Tally& tally = account_.steps[step];
        const std::uint64_t end = step == write_large ? task_.bytes : written_;
        const std::uint64_t begin = os::monotonic_ns();
        std::uint64_t size = first_bytes;
        std::uint64_t offset = 0;
        bool has_grown = true;
        while (offset < end && (offset == 0 || os::monotonic_ns() - begin < task_.step_ns)) {
            const std::uint64_t length = std::min(size, end - offset);
            const std::uint64_t from = os::monotonic_ns();
            const std::uint64_t ns = access(step, length, offset);
            offset += length;
            const bool begins = std::exchange(has_grown, false);
            if (begins) tally.from_ns = from;
            tally.bytes = (begins ? 0 : tally.bytes.load()) + length;
            tally.until_ns = from + ns;
            tally.accesses += 1;
            if (size == largest_bytes || ns >= task_.step_ns / 32 || end - offset < 8 * size) continue;
            size *= 2;
            has_grown = true;
        }
        if (step != write_large) return;
        written_ = offset;
        // What a device keeps in a buffer of its own is written as well.
        scratch_.file.sync_data();
        tally.until_ns = os::monotonic_ns();
    }

    void small(Step step) {
        Tally& tally = account_.steps[step];
        const std::uint64_t begin = os::monotonic_ns();
        const std::uint64_t most =
            std::min(most_small, written_ / small_bytes);  // no device is worn out by this
        while (tally.accesses < most && (tally.accesses == 0 || os::monotonic_ns() - begin < task_.step_ns)) {
            const std::uint64_t offset = noise_.next() % (written_ / small_bytes) * small_bytes;
            const std::uint64_t ns = access(step, small_bytes, offset);
            tally.sample_ns[tally.accesses % sample_count] = ns;
            tally.accesses += 1;
        }
    }

    const Task& task_;
    Meeting& meeting_;
    Account& account_;
    Noise noise_;
    Buffer buffer_;
    Scratch scratch_;
    std::uint64_t written_ = 0;
};

void fail(Account& account, Code code, const char* what) {
    account.code = code;
    std::strncpy(account.failure.data(), what, account.failure.size() - 1);
    account.state.store(Account::failed, std::memory_order_release);
}

}  // namespace

void take_steps(const Task& task, std::uint64_t number, Meeting& meeting, Account& account) {
    try {
        Measurement(task, number, meeting, account).take();
        account.state.store(Account::done, std::memory_order_release);
    } catch (const Error& error) {
        fail(account, error.kind(), error.what());
    } catch (const std::bad_alloc&) {
        fail(account, Code::no_space, "there is no memory to measure with");
    }
}

}  // namespace pmemcpy::profiler
