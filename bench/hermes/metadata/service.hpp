#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "metadata.hpp"

namespace pmemcpy::hermes {

/// What keeps metadata by name for all processes, as one of them uses it.
class Service {
public:
    virtual ~Service() = default;
    /// For how many files it is asked at once; more than 1 only where it sends requests before it has answers.
    virtual std::size_t at_once() const { return 1; }
    virtual void put(std::span<const std::string> names, std::span<const Metadata> files) = 0;
    /// Errors: std::runtime_error where there is none.
    virtual void get(std::span<const std::string> names, std::span<Metadata> files) = 0;
};

struct Variant {
    std::string name;
    std::string what;
};

/// What a program with one library, with_<library>.cpp, defines.
extern const std::vector<Variant> variants;
/// Before the processes that use it start: sets up what they share. `path` is a folder of the run's own for a pool, and a server's socket for others.
void set_up(const std::string& variant, const std::string& path, std::uint64_t files);
std::unique_ptr<Service> connect(const std::string& variant, const std::string& path);

}  // namespace pmemcpy::hermes
