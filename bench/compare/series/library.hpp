#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace compare::series {

/// An array of float64, `steps` x `elements` in the end, as one process makes it longer by a row at a time.
class Writer {
public:
    virtual ~Writer() = default;
    /// Nothing is at the path. When it returns, a reader can open it.
    virtual void create(const std::string& path, std::uint64_t elements) = 0;
    /// When it returns, a reader can have the row, as the library's own documentation says how.
    virtual void append(std::span<const double> row) = 0;
    virtual void close() = 0;
};

/// The same array, as another process follows it.
class Reader {
public:
    virtual ~Reader() = default;
    virtual void open(const std::string& path) = 0;
    /// Waits for the next row.
    virtual void next(std::span<double> row) = 0;
    virtual void close() = 0;
};

/// For libraries that tell nobody when there is more: asks again until it is so.
inline void poll(const std::function<bool()>& is_there) {
    while (!is_there()) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

struct Variant {
    std::string name;
    std::string what;  // in a sentence
};

// Each library's own file has these.

extern const std::vector<Variant> variants;
std::unique_ptr<Writer> make_writer();
std::unique_ptr<Reader> make_reader();

}  // namespace compare::series
