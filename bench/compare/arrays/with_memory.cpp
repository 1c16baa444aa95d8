// The limit: plain copies between a rank's memory and a file of its own that is mapped, in huge pages, and warm. No other rank
// sees anything, nothing has a name, no checksum, no order: only the memory's speed is left.

#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "bench/apps/memory.hpp"
#include "library.hpp"
#include "persist/copy.hpp"

namespace compare::arrays {
namespace {

class Memory : public Library {
public:
    Memory(MPI_Comm comm, bool streams) : streams_(streams) { MPI_Comm_size(comm, &ranks_); }

    void open(const std::string& path, Access /*access*/, const Content& content) override {
        content_ = &content;
        // A rank's part may be somewhat larger than its share.
        const std::uint64_t share = content.bytes() / content.steps / static_cast<std::uint64_t>(ranks_);
        const std::string folder = std::filesystem::path(path).parent_path();
        if (file_.size() == 0) file_ = domain3d::Memory::of_file(folder, share + share / 4 + (64 << 20));
    }
    void begin_step(std::uint64_t /*step*/) override { at_ = 0; }
    void write(std::size_t array, const pmemcpy::Selection& where, const void* data) override {
        const std::size_t size = where.elements() * size_of(content_->arrays[array].element);
        if (streams_)
            pmemcpy::persist::copy_to_medium(pmemcpy::persist::Medium(pmemcpy::Durability::none), next(size),
                                             data, size);
        else
            std::memcpy(next(size), data, size);
    }
    void read(std::size_t array, const pmemcpy::Selection& where, void* data) override {
        const std::size_t size = where.elements() * size_of(content_->arrays[array].element);
        if (streams_)
            pmemcpy::persist::copy_from_medium(data, next(size), size);
        else
            std::memcpy(data, next(size), size);
    }
    void sync() override {}
    void close() override {}

private:
    std::byte* next(std::size_t size) {
        if (at_ + size > file_.size()) throw std::logic_error("a rank's share is larger than was thought");
        return file_.data() + (at_ += size) - size;
    }

    bool streams_;
    int ranks_ = 1;
    std::size_t at_ = 0;
    domain3d::Memory file_;
    const Content* content_ = nullptr;
};

}  // namespace

const std::vector<Variant> variants = {
    {"memcpy", "memcpy to and from a warm mapping"},
    {"streaming", "pMEMCPY's copy kernels, without checksums, to and from a warm mapping"},
};

std::unique_ptr<Library> make_library(const std::string& variant, MPI_Comm comm) {
    return std::make_unique<Memory>(comm, variant == "streaming");
}

}  // namespace compare::arrays
