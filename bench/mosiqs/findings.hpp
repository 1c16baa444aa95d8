#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "library.hpp"
#include "postings.hpp"

namespace mosiqs {

/// What a process has read in files, on its way to the process that makes an index of it: bytes in memory that both have.
class Findings {
public:
    explicit Findings(int file) : file_(file) {}

    void begin_group(std::string_view group);
    /// The objects of the group have come before it.
    void end_group(std::uint64_t attributes);
    void begin_object(std::string_view name);
    void add(const std::string& key, const Value& value);
    /// Errors: std::system_error.
    void flush();

private:
    void put(char tag) { bytes_ += tag; }
    void put_number(const void* number) { bytes_.append(static_cast<const char*>(number), 8); }
    void put_text(std::string_view text);

    int file_;
    std::string bytes_;
    std::unordered_map<std::string, std::uint64_t> keys_;  // told once
};

/// Forks `count` processes, each of which finds things, and adds what they have found to the index, one after the other.
/// Errors: std::runtime_error when one fails, with what it said.
void find_in_processes(std::size_t count,
                       const std::function<void(std::size_t process, Findings& findings)>& find,
                       Postings& postings);

}  // namespace mosiqs
