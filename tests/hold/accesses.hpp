#pragma once

#include <cstddef>
#include <cstdint>

namespace pmemcpy::hold {

/// One access to shared memory, or one call to the kernel.
struct Access {
    enum class Kind : std::uint8_t { load, store, exchange, call };
    Kind kind;
    std::uint32_t word;  ///< the first 8-byte word of shared memory that it touches; of a call: `kernel_word`
    std::uint32_t words;  ///< how many
    const void* place;    ///< the instruction behind it
    /// Whether what comes after it may differ for others: a death before it and one after it are not the same.
    bool writes() const { return kind != Kind::load; }
};

/// Hears of each access before it is made, in the thread that is about to make it.
class Listener {
public:
    virtual ~Listener() = default;
    virtual void before(const Access& access) = 0;
};

/// Which memory is shared, from here on. What lies outside of it nobody is told of.
void watch(const void* begin, std::size_t bytes);
/// A second piece of it.
void watch_too(const void* begin, std::size_t bytes);
/// Of this thread; null: nobody is told of what it does.
void set_listener(Listener* listener);
Listener* listener();

/// Says that this thread is about to call the kernel.
void before_call(bool changes, const void* place);

inline constexpr std::uint32_t word_bytes = 8;
/// Stands for all that the kernel knows, behind the words of the first piece of memory.
std::uint32_t kernel_word();

}  // namespace pmemcpy::hold
