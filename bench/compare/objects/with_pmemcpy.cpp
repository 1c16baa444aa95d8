// pMEMCPY with plain values: one pool, and under each name what a std::vector<std::uint8_t> would be.

#include <cstring>
#include <pmemcpy/pmemcpy.hpp>

#include "library.hpp"

namespace compare::objects {
namespace {

class Pmemcpy : public Library {
public:
    explicit Pmemcpy(bool checksums) { options_.checksums = checksums; }

    void open(const std::string& path, Access access) override {
        options_.mode = access == Access::create   ? pmemcpy::Mode::exclusive
                        : access == Access::update ? pmemcpy::Mode::update
                                                   : pmemcpy::Mode::read;
        pmem_.mmap(path, options_);
    }

    void store(std::string_view name, std::span<const std::byte> bytes) override {
        pmem_.store_encoded(name, type_, pmemcpy::SerializerType::none, pmemcpy::BytesEncoder(bytes));
    }

    void load(std::string_view name, std::span<std::byte> bytes) override {
        pmem_.load_encoded(
            name, [&](const pmemcpy::Type&, pmemcpy::SerializerType, std::span<const std::byte> stored) {
                if (stored.size() != bytes.size()) {
                    throw std::runtime_error(std::string(name) + " has " + std::to_string(stored.size()) +
                                             " bytes");
                }
                std::memcpy(bytes.data(), stored.data(), stored.size());
            });
    }

    void erase(std::string_view name) override { pmem_.erase(name); }
    std::uint64_t list() override { return pmem_.ids().size(); }
    void close() override { pmem_.munmap(); }

    void remove(const std::string& path) override {
        Library::remove(path);
        Library::remove(path + ".rt");  // who is attached
    }

private:
    const pmemcpy::Type type_ = pmemcpy::type_of<std::vector<std::uint8_t>>();
    pmemcpy::Options options_;
    pmemcpy::PMEM pmem_;
};

}  // namespace

// A pool has room for 4,096 writing processes (docs/limits.md).
const std::vector<Variant> variants = {
    {"pmemcpy", "one pool in one file, each value with its checksum", 4096, any_number},
    {"pmemcpy-unchecked", "the same without checksums", 4096, any_number},
};

std::unique_ptr<Library> make_library(const std::string& variant) {
    return std::make_unique<Pmemcpy>(variant == "pmemcpy");
}

}  // namespace compare::objects
