// Figure 4 of the Hermes paper: writes that are intercepted. Each gets memory, the user's bytes are copied into it, and it is given back when they
// are written; which is while later writes come, so several are outstanding at a time. Prints one line of JSON.
//
// `malloc` is whatever malloc the program runs with: LD_PRELOAD=libtcmalloc_minimal.so.4 makes it another one.

#include <dlfcn.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
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

/// What keeps a write until it is on its way.
class Memory {
public:
    virtual ~Memory() = default;
    virtual void keep(const std::byte* data, std::size_t size) = 0;
    virtual void give_back_oldest() = 0;
    virtual std::string name() const = 0;
};

class Malloc : public Memory {
public:
    explicit Malloc(bool is_copied) : is_copied_(is_copied) {}
    ~Malloc() override {
        while (!kept_.empty()) Malloc::give_back_oldest();
    }
    void keep(const std::byte* data, std::size_t size) override {
        auto* bytes = static_cast<volatile std::byte*>(std::malloc(size));
        if (bytes == nullptr) throw std::bad_alloc();
        if (is_copied_) std::memcpy(const_cast<std::byte*>(bytes), data, size);
        kept_.push_back(const_cast<std::byte*>(bytes));
    }
    void give_back_oldest() override {
        std::free(kept_.front());
        kept_.pop_front();
    }
    std::string name() const override {
        return ::dlsym(RTLD_DEFAULT, "tc_version") != nullptr ? "tcmalloc" : "malloc";
    }

private:
    bool is_copied_;
    std::deque<std::byte*> kept_;
};

class OfBuckets : public Memory {
public:
    explicit OfBuckets(const Arguments& arguments) : is_copied_(arguments.is_copied), pool_(make(arguments)) {
        pool_.prepare();
    }
    ~OfBuckets() override { ::unlink(pool_.path().c_str()); }
    void keep(const std::byte* data, std::size_t size) override {
        Buckets held = pool_.acquire(size);
        if (is_copied_) held.write(data, size);
        kept_.push_back(std::move(held));
    }
    void give_back_oldest() override { kept_.pop_front(); }
    std::string name() const override { return "buckets"; }

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
    std::deque<Buckets> kept_;
};

std::uint64_t page_faults() {
    struct rusage usage {};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_minflt);
}

/// Sizes that are all powers of two from the smallest to the largest, drawn with the same chance.
std::vector<std::size_t> draw_sizes(const Arguments& arguments) {
    std::vector<std::size_t> kinds;
    for (std::uint64_t size = arguments.smallest; size <= arguments.largest; size *= 2) kinds.push_back(size);
    std::mt19937_64 random(4);
    std::vector<std::size_t> sizes(4096);
    for (std::size_t& size : sizes) size = kinds[random() % kinds.size()];
    return sizes;
}

/// In a stream the oldest is written when the next one comes; in bursts, as of an application that computes between its writes, all are.
void perform(Memory& memory, const Arguments& arguments, const std::vector<std::size_t>& sizes,
             const std::vector<std::byte>& data, std::uint64_t operations) {
    const bool is_stream = arguments.order == "stream";
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < operations; ++i) {
        const std::size_t size = sizes[i % sizes.size()];
        // The user's data are fresh from another place each time.
        memory.keep(data.data() + i * 4096 % (data.size() - size), size);
        if (++kept < arguments.outstanding) continue;
        for (const std::uint64_t left = is_stream ? kept - 1 : 0; kept > left; --kept)
            memory.give_back_oldest();
    }
    for (; kept > 0; --kept) memory.give_back_oldest();
}

nlohmann::ordered_json measure(const Arguments& arguments) {
    const std::vector<std::size_t> sizes = draw_sizes(arguments);
    std::vector<std::byte> data(arguments.largest + (std::size_t{8} << 20));
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
    std::unique_ptr<Memory> memory;
    if (arguments.memory == "buckets") {
        memory = std::make_unique<OfBuckets>(arguments);
    } else {
        memory = std::make_unique<Malloc>(arguments.is_copied);
    }
    perform(*memory, arguments, sizes, data,
            4 * arguments.outstanding);  // each has its memory by now, if it keeps it
    const std::uint64_t faults = page_faults();
    const auto begin = std::chrono::steady_clock::now();
    perform(*memory, arguments, sizes, data, arguments.operations);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < arguments.operations; ++i) bytes += sizes[i % sizes.size()];
    return {{"memory", memory->name()},
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
        ->check(CLI::Range(1, 1 << 16));
    app.add_option("--bucket-bytes", arguments.bucket_bytes);
    app.add_flag("!--no-copy", arguments.is_copied, "Only gets the memory and gives it back");
    CLI11_PARSE(app, argc, argv);
    try {
        if (arguments.smallest > arguments.largest)
            throw std::runtime_error("--smallest is larger than --largest");
        std::printf("%s\n", measure(arguments).dump().c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
    return 0;
}
