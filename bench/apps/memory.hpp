#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace domain3d {

/// Mapped memory whose pages are all there before anything is timed.
class Memory {
public:
    /// The program's own: where a simulation keeps its variables.
    static Memory of_process(std::size_t bytes);
    /// A file in `folder` without a name, so that nothing is left behind: what memcpy copies to and from.
    static Memory of_file(const std::string& folder, std::size_t bytes);

    Memory() = default;
    ~Memory();
    Memory(Memory&& other) noexcept;
    Memory& operator=(Memory&& other) noexcept;

    std::byte* data() const { return data_; }
    std::size_t size() const { return bytes_; }
    std::span<double> doubles() const { return {reinterpret_cast<double*>(data_), bytes_ / sizeof(double)}; }

private:
    Memory(std::size_t bytes, int flags, int file);
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace domain3d
