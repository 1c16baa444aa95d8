#include "heap/heap.hpp"

#include <algorithm>

namespace pmemcpy::heap {

using persist::Medium;

void Heap::for_each_taken(const std::function<void(const Taken&)>& f) const {
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        const ChunkWord word = chunk_word(i);
        const std::uint64_t begin = pool_.chunk_offset(i);
        Slab slab;
        if (word.kind() == ChunkKind::run_body || word.is_under_way()) {
            f({Taken::stray, begin, 0, 1});
        } else if (word.kind() == ChunkKind::run_head) {
            f({Taken::run, begin, Link{Medium::load(&chunk(i).record.word)}.offset(), word.length()});
            i += word.length() - 1;
        } else if (read_slab(i, slab)) {
            for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
                const std::uint64_t taken = Medium::load(unit_word(slab, unit));
                if (taken != 0) {
                    f({slab.is_meta() ? Taken::record : Taken::data_unit, slab.offset_of(unit), taken, 1});
                } else if (is_hinted(slab, unit)) {
                    f({Taken::hidden, slab.offset_of(unit), 0, 1});
                }
            }
        }
    }
}

}  // namespace pmemcpy::heap
