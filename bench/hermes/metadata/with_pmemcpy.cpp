// pMEMCPY: one pool that all processes have open, and under each file's name a struct.

#include <pmemcpy/pmemcpy.hpp>

#include <filesystem>

#include "service.hpp"

PMEMCPY_STRUCT(pmemcpy::hermes::Place, offset, size_bytes, node, layer, type, identifier, frequency);
PMEMCPY_STRUCT(pmemcpy::hermes::Metadata, size_bytes, mode, links, user, group, accessed_ns, modified_ns,
               changed_ns, places);

namespace pmemcpy::hermes {

namespace {

class Pool : public Service {
public:
    explicit Pool(const std::string& path) { pool_.mmap(path); }
    void put(std::span<const std::string> names, std::span<const Metadata> files) override {
        for (std::size_t i = 0; i < names.size(); ++i) pool_.store(names[i], files[i]);
    }
    void get(std::span<const std::string> names, std::span<Metadata> files) override {
        for (std::size_t i = 0; i < names.size(); ++i) pool_.load(names[i], files[i]);
    }

private:
    PMEM pool_;
};

}  // namespace

const std::vector<Variant> variants = {{"pmemcpy", "a value of 128 bytes in a pool, with its checksum"}};

void set_up(const std::string&, const std::string& path, std::uint64_t) {
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".rt");
    PMEM pool;
    // Without a maximum, as most pools are: it sizes the hash table, and that of one made for few bytes is slow with many names.
    pool.mmap(path);
}

std::unique_ptr<Service> connect(const std::string&, const std::string& path) {
    return std::make_unique<Pool>(path);
}

}  // namespace pmemcpy::hermes
