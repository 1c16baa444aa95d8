#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "pool_seed.hpp"

namespace pmemcpy::fuzz {

/// A pool that somebody wishes ill: a seed, changed as an input says. A hostile file has right checksums, so those of
/// the records, slabs and superblocks that were changed are computed anew, unless the input wants them wrong.
class Mutation {
public:
    Mutation(const Seed& seed, Bytes& input);

    /// The bytes from the input alone.
    explicit Mutation(Input raw);

    /// Writes it as the pool at `records`, with the payload files in the folder `data` if there are any.
    void write(const std::string& records, const std::string& data) const;

private:
    enum class Fate { whole, gone, shorter, longer, folder, link, fifo };
    struct Payload {
        std::string name;
        std::string bytes;
        Fate fate = Fate::whole;
    };

    template <class T>
    T get(std::uint64_t at) const;
    template <class T>
    void put(std::uint64_t at, T value);
    std::uint64_t record(Bytes& input) const;
    std::uint64_t length_of(std::uint64_t record) const;
    std::uint64_t tag_of(std::uint64_t record) const;
    std::uint64_t take_value(Bytes& input) const;
    void touch(std::uint64_t at);
    void change(Bytes& input);
    void change_superblock(Bytes& input);
    void change_slab(Bytes& input);
    void change_header(Bytes& input);
    void copy_record(Bytes& input);
    void change_payload(Bytes& input);
    void seal_records();
    void seal_state();

    Seed seed_;
    std::vector<Payload> payloads_;
    std::set<std::uint64_t> touched_;  // records
};

}  // namespace pmemcpy::fuzz
