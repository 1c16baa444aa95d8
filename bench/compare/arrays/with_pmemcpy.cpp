// pMEMCPY as docs/tutorial.md shows it: one pool, each rank stores its box.

#include <pmemcpy/mpi.hpp>
#include <pmemcpy/pmemcpy.hpp>

#include "library.hpp"

namespace compare::arrays {
namespace {

pmemcpy::Type type_of(Element element) {
    switch (element) {
        case Element::float64:
            return pmemcpy::type_of<double>();
        case Element::float32:
            return pmemcpy::type_of<float>();
        case Element::int32:
            return pmemcpy::type_of<std::int32_t>();
    }
    throw std::invalid_argument("no such element");
}

class Pmemcpy : public Library {
public:
    Pmemcpy(MPI_Comm comm, bool checksums) : comm_(comm) {
        options_.checksums = options_.characterise = checksums;
    }

    void prepare(const std::string& path, std::uint64_t bytes) override {
        int rank = 0;
        MPI_Comm_rank(comm_, &rank);
        if (rank != 0) return;
        pmemcpy::PMEM pmem;
        pmem.mmap(path, options_);
        pmem.compact();
        // A block gives its space back after its successor is there, so both need room.
        pmem.prepare(2 * bytes + bytes / 8);
    }

    void open(const std::string& path, Access access, const Content& content) override {
        content_ = &content;
        options_.mode = access == Access::create      ? pmemcpy::Mode::exclusive
                        : access == Access::overwrite ? pmemcpy::Mode::update
                                                      : pmemcpy::Mode::read;
        pmem_.mmap(path, comm_, options_);
        writes_ = access != Access::read;
        begin_step(0);
    }

    void begin_step(std::uint64_t step) override {
        ids_.clear();
        for (const Array& array : content_->arrays) {
            ids_.push_back(content_->steps == 1 ? array.name : std::to_string(step) + "/" + array.name);
            if (writes_) pmem_.alloc(ids_.back(), type_of(array.element), array.shape);
        }
    }

    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        pmem_.store(ids_[array], type_of(content_->arrays[array].element), data, where);
    }
    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        pmem_.load(ids_[array], type_of(content_->arrays[array].element), data, where);
    }
    void sync() override { pmem_.sync(); }
    void close() override { pmem_.munmap(); }

private:
    MPI_Comm comm_;
    pmemcpy::Options options_;
    pmemcpy::PMEM pmem_;
    const Content* content_ = nullptr;
    bool writes_ = false;
    std::vector<std::string> ids_;  // of the step at hand
};

}  // namespace

const std::vector<Variant> variants = {
    {"pmemcpy", "one pool in one file; checksums, minimum and maximum of each block"},
    {"pmemcpy-unchecked", "the same without checksums, minimum and maximum"},
};

std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm) {
    return std::make_unique<Pmemcpy>(comm, variant == "pmemcpy");
}

}  // namespace compare::arrays
