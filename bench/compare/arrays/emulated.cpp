#include "emulated.hpp"

#include <algorithm>
#include <chrono>

namespace compare::arrays {
namespace {

// The paper does not say what its memory's own latency is; this is what such machines have (Intel MLC).
constexpr double memory_latency = 90e-9;
constexpr double read_latency = 300e-9, write_latency = 125e-9;
constexpr double read_gbs = 30, write_gbs = 8;

class Emulated : public Library {
public:
    Emulated(std::unique_ptr<Library> library, double memory_gbs, int ranks)
        : library_(std::move(library)), memory_gbs_(memory_gbs), ranks_(ranks) {}

    void prepare(const std::string& path, std::uint64_t bytes) override { library_->prepare(path, bytes); }
    void open(const std::string& path, Access access, const Content& content) override {
        content_ = &content;
        library_->open(path, access, content);
    }
    void begin_step(std::uint64_t step) override { library_->begin_step(step); }
    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        library_->write(array, where, data);
        wait(write_latency, write_gbs, array, where);
    }
    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        library_->read(array, where, data);
        wait(read_latency, read_gbs, array, where);
    }
    void end_step() override { library_->end_step(); }
    void sync() override { library_->sync(); }
    void close() override { library_->close(); }
    bool shares() const override { return library_->shares(); }

private:
    void wait(double latency, double gbs, std::size_t array, const pmemcpy::Selection& where) const {
        const double bytes = static_cast<double>(where.elements() * size_of(content_->arrays[array].element));
        const double longer = std::max(0.0, 1 / gbs - 1 / memory_gbs_) * 1e-9 * ranks_;
        const std::chrono::duration<double> extra(latency - memory_latency + bytes * longer);
        const auto end = std::chrono::steady_clock::now() + extra;
        while (std::chrono::steady_clock::now() < end) {
        }
    }

    std::unique_ptr<Library> library_;
    const Content* content_ = nullptr;
    double memory_gbs_;
    int ranks_;
};

}  // namespace

std::unique_ptr<Library> on_emulated_pmem(std::unique_ptr<Library> library, double memory_gbs, int ranks) {
    return std::make_unique<Emulated>(std::move(library), memory_gbs, ranks);
}

}  // namespace compare::arrays
