#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace pmemcpy::fuzz {

using Input = std::span<const std::uint8_t>;

/// Something that reads bytes from outside. It returns whatever they are; what it throws is a bug found.
struct Target {
    const char* name;  ///< of its corpus too: tests/fuzz/corpus/NAME
    void (*run)(Input input);
};

/// All targets that this build has.
const std::vector<Target>& targets();

/// A property that does not hold for an input.
class Broken : public std::logic_error {
public:
    using std::logic_error::logic_error;
};
inline void expect(bool holds, const std::string& what) {
    if (!holds) throw Broken(what);
}

// One file each.
void open_pool(Input input);
void open_directory(Input input);
void read_selection(Input input);
void read_type(Input input);
void read_packed(Input input);
void read_words(Input input);
void read_query(Input input);

}  // namespace pmemcpy::fuzz
