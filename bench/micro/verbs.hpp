#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace micro {

/// A verb made ready, in a pool of its own in /dev/shm that goes with it.
class Prepared {
public:
    virtual ~Prepared() = default;
    /// The verb, once: `i` counts the calls and never comes twice.
    virtual void call(std::uint64_t i) = 0;
};

/// One of the verbs that programs call often, on data so small that the verb itself is what costs.
struct Verb {
    std::string name;
    /// Ready to be called `calls` times.
    std::function<std::unique_ptr<Prepared>(std::uint64_t calls)> prepare;
};

const std::vector<Verb>& verbs();

}  // namespace micro
