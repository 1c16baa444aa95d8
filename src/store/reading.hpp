#pragma once

#include "array/selection.hpp"
#include "store/store.hpp"

namespace pmemcpy::store {

/// Errors: io_error, for a block that lies in it.
[[noreturn]] void throw_no_memory(std::string_view id, const Selection& box);

/// What somebody loads, and where to.
struct Store::Wanted {
    std::string_view id;
    void* data;
    const Selection& selection;
    std::optional<std::uint64_t> step;
};

/// What a load knows of the blocks that it reads, from one look to the next. All that it has read it keeps: what others store
/// above that counts as stored later, unless it also gives something that is missing yet. So whatever it shows in the end is
/// what the blocks in it make together, the newest on top: of each store all that nothing newer covers, or nothing.
///
/// How many looks that takes: as long as others only replace blocks in the same boxes, in steps that are seen, the first look that keeps
/// is the last, for it follows each block in its slot, as often as another process stores that block anew. Each look beyond costs
/// somebody a store, of those that change which block gives what: in another box, in a later step, or an erase. A bound in numbers
/// there is none then; what is missing only gets less.
struct Store::Reading {
    static constexpr std::uint64_t looks_before_keeping = 3;
    static constexpr std::size_t no_origin = ~std::size_t{0};
    struct Piece {
        BlockRecord block;
        Selection part;
        std::uint64_t handle;
        bool is_read = false;  // the caller's memory has the elements of the part, as they are in this block
        std::size_t origin = no_origin;  // the one of those that were kept of which it is a part
    };
    std::vector<Piece> kept;    // before the last look
    std::vector<Piece> pieces;  // of which the last look says that they make the whole
    Selection wanted;           // in the order of the pool
    Link array{};               // whose blocks these are
    std::uint64_t newest = 0;   // the step that is seen
    Effort effort;

    bool keeps() const { return effort.looks > looks_before_keeping; }
    void keep_what_is_read();
    std::vector<Selection> missing() const;
};

}  // namespace pmemcpy::store
