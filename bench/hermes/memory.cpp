// Figure 4 of the Hermes paper: writes that are intercepted. Each gets memory, the user's bytes are copied into it, and it is given back when they
// are written; which is while later writes come, so several are outstanding at a time. Prints one line of JSON.
//
// `malloc` is whatever malloc the program runs with: LD_PRELOAD=libtcmalloc_minimal.so.4 makes it another one.

#include <dlfcn.h>
#include <CLI/CLI.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <pmemcpy/buckets.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

namespace pmemcpy::hermes {

namespace {

struct Arguments {
    std::string memory = "buckets";
    std::string path;
    std::string order = "bursts";
    std::uint64_t operations = 1'000'000;
    std::uint64_t smallest = 64 << 10;
    std::uint64_t largest = 2 << 20;
    std::uint64_t outstanding = 64;
    // A write takes three of them on average, and they hold 6 % more than is written.
    std::uint64_t bucket_bytes = 256 << 10;
    bool is_copied = true;
};

// What keeps a write until it is on its way. The loop below knows which of them it is, and has room for what is outstanding: virtual calls and
// a deque of both took a third of what getting and giving back took.

class Malloc {
public:
    using Held = std::byte*;

    explicit Malloc(const Arguments& arguments) : is_copied_(arguments.is_copied) {}
    Held keep(const std::byte* data, std::size_t size) {
        auto* bytes = static_cast<volatile std::byte*>(std::malloc(size));
        if (bytes == nullptr) throw std::bad_alloc();
        if (is_copied_) std::memcpy(const_cast<std::byte*>(bytes), data, size);
        return const_cast<std::byte*>(bytes);
    }
    static void give_back(Held& held) { std::free(held); }
    static std::string name() {
        return ::dlsym(RTLD_DEFAULT, "tc_version") != nullptr ? "tcmalloc" : "malloc";
    }

private:
    bool is_copied_;
};

class OfBuckets {
public:
    using Held = Buckets;

    explicit OfBuckets(const Arguments& arguments) : is_copied_(arguments.is_copied), pool_(make(arguments)) {
        pool_.prepare();
    }
    ~OfBuckets() { ::unlink(pool_.path().c_str()); }
    OfBuckets(const OfBuckets&) = delete;
    OfBuckets& operator=(const OfBuckets&) = delete;
    Held keep(const std::byte* data, std::size_t size) {
        Buckets held = pool_.acquire(size);
        if (is_copied_) held.write(data, size);
        return held;
    }
    static void give_back(Held& held) { held.release(); }
    static std::string name() { return "buckets"; }

private:
    // Room for what is outstanding at most, and a tenth more, for pieces.
    static BucketPool make(const Arguments& arguments) {
        const std::uint64_t each = (arguments.largest + arguments.bucket_bytes - 1) / arguments.bucket_bytes;
        ::unlink(arguments.path.c_str());
        return BucketPool::create(arguments.path,
                                  {.bucket_bytes = arguments.bucket_bytes,
                                   .count = each * (arguments.outstanding + 1) * 11 / 10 + 1});
    }
    bool is_copied_;
    BucketPool pool_;
};

std::uint64_t page_faults() {
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_minflt);
}

/// Writes as an application makes them: sizes that are all powers of two from the smallest to the largest, drawn with the same chance.
class Writes {
public:
    explicit Writes(const Arguments& arguments) : data_(arguments.largest + far) {
        for (std::size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<std::byte>(i * 7);
        std::vector<std::size_t> kinds;
        for (std::uint64_t size = arguments.smallest; size <= arguments.largest; size *= 2)
            kinds.push_back(size);
        std::mt19937_64 random(4);
        for (std::size_t& size : sizes_) size = kinds[random() % kinds.size()];
    }
    std::size_t size(std::uint64_t i) const { return sizes_[i % sizes_.size()]; }
    /// The user's data are fresh from another place each time.
    const std::byte* data(std::uint64_t i) const { return data_.data() + i * 4096 % far; }

private:
    static constexpr std::size_t far = std::size_t{8} << 20;
    std::array<std::size_t, 4096> sizes_{};
    std::vector<std::byte> data_;
};

/// In a stream the oldest is written when the next one comes; in bursts, as of an application that computes between its writes, all are.
template <class Memory>
void perform(Memory& memory, const Arguments& arguments, const Writes& writes, std::uint64_t operations) {
    const bool is_stream = arguments.order == "stream";
    std::vector<typename Memory::Held> kept(arguments.outstanding);
    std::size_t newest = 0;
    std::size_t oldest = 0;
    const auto next = [&](std::size_t at) { return at + 1 == kept.size() ? 0 : at + 1; };
    for (std::uint64_t i = 0; i < operations; ++i) {
        kept[newest] = memory.keep(writes.data(i), writes.size(i));
        newest = next(newest);
        if (newest != oldest) continue;
        do {
            memory.give_back(kept[oldest]);
            oldest = next(oldest);
        } while (!is_stream && oldest != newest);
    }
    // Of a stream one place is free again, of bursts there is none or not all are taken.
    for (; oldest != newest; oldest = next(oldest)) memory.give_back(kept[oldest]);
}

template <class Memory>
nlohmann::ordered_json measure(const Arguments& arguments) {
    const Writes writes(arguments);
    Memory memory(arguments);
    // Each has its memory by now, if it keeps it.
    perform(memory, arguments, writes, 4 * arguments.outstanding);
    const std::uint64_t faults = page_faults();
    const auto begin = std::chrono::steady_clock::now();
    perform(memory, arguments, writes, arguments.operations);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < arguments.operations; ++i) bytes += writes.size(i);
    return {{"memory", memory.name()},
            {"order", arguments.order},
            {"operations", arguments.operations},
            {"outstanding", arguments.outstanding},
            {"operations_per_s", static_cast<double>(arguments.operations) / seconds},
            {"bytes_per_s", static_cast<double>(bytes) / seconds},
            {"page_faults_per_operation",
             static_cast<double>(page_faults() - faults) / static_cast<double>(arguments.operations)}};
}

}  // namespace

}  // namespace pmemcpy::hermes

int main(int argc, char** argv) {
    using namespace pmemcpy::hermes;
    Arguments arguments;
    CLI::App app("Memory for writes that are intercepted, as in Figure 4 of the Hermes paper");
    app.add_option("--memory", arguments.memory)->check(CLI::IsMember({"buckets", "malloc"}));
    app.add_option("--path", arguments.path, "Where the file of buckets is made, and removed")->required();
    app.add_option("--order", arguments.order,
                   "stream: the oldest write is done when the next comes; bursts: all are")
        ->check(CLI::IsMember({"stream", "bursts"}));
    app.add_option("--operations", arguments.operations)->check(CLI::PositiveNumber);
    app.add_option("--smallest", arguments.smallest, "Bytes of a write")->check(CLI::Range(4096, 1 << 30));
    app.add_option("--largest", arguments.largest)->check(CLI::Range(4096, 1 << 30));
    app.add_option("--outstanding", arguments.outstanding, "Writes that wait at most")
        ->check(CLI::Range(2, 1 << 16));
    app.add_option("--bucket-bytes", arguments.bucket_bytes);
    app.add_flag("!--no-copy", arguments.is_copied, "Only gets the memory and gives it back");
    CLI11_PARSE(app, argc, argv);
    try {
        if (arguments.smallest > arguments.largest)
            throw std::runtime_error("--smallest is larger than --largest");
        const auto measured =
            arguments.memory == "buckets" ? measure<OfBuckets>(arguments) : measure<Malloc>(arguments);
        std::printf("%s\n", measured.dump().c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
