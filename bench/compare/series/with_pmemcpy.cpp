// An array whose first dimension is unlimited; a reader sleeps until it is told of more (watch).

#include <pmemcpy/pmemcpy.hpp>

#include "library.hpp"

namespace compare::series {
namespace {

using pmemcpy::Box;
using pmemcpy::Extent;

class PmemcpyWriter : public Writer {
public:
    void create(const std::string& path, std::uint64_t elements) override {
        pmemcpy::Options options;
        options.mode = pmemcpy::Mode::exclusive;
        pmem_.mmap(path, options);
        pmem_.alloc<double>("u", {pmemcpy::unlimited, elements});
    }
    void append(std::span<const double> row) override {
        pmem_.store("u", row.data(), Box{{steps_++, 0}, {1, row.size()}});
    }
    void close() override { pmem_.munmap(); }

private:
    pmemcpy::PMEM pmem_;
    Extent steps_ = 0;
};

class PmemcpyReader : public Reader {
public:
    void open(const std::string& path) override {
        pmemcpy::Options options;
        options.mode = pmemcpy::Mode::read;
        pmem_.mmap(path, options);
        watch_ = pmem_.watch("u");
    }
    void next(std::span<double> row) override {
        while (there_ <= step_) {
            there_ = pmem_.info("u").dims[0];
            if (there_ <= step_) watch_->wait();
        }
        pmem_.load("u", row.data(), Box{{step_++, 0}, {1, row.size()}});
    }
    void close() override {
        watch_.reset();
        pmem_.munmap();
    }

private:
    pmemcpy::PMEM pmem_;
    std::optional<pmemcpy::Watch> watch_;
    Extent step_ = 0;
    Extent there_ = 0;
};

}  // namespace

const std::vector<Variant> variants = {
    {"pmemcpy", "an array with an unlimited dimension; the reader sleeps in watch() until there is more"}};

std::unique_ptr<Writer> make_writer() { return std::make_unique<PmemcpyWriter>(); }
std::unique_ptr<Reader> make_reader() { return std::make_unique<PmemcpyReader>(); }

}  // namespace compare::series
