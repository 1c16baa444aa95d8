#include "heap/heap.hpp"

#include <algorithm>

namespace pmemcpy::heap {

using persist::Medium;

void Heap::for_each_taken(const std::function<void(const Taken&)>& f) const {
    const std::uint64_t usable = pool_.usable_chunks();
    for (std::uint64_t i = 0; i < usable; ++i) {
        const ChunkEntry entry = chunk(i);
        const ChunkWord word{entry.word};
        const std::uint64_t begin = pool_.chunk_offset(i);
        SlabHeader slab;
        if (word.kind() == ChunkKind::run_head) {
            const std::uint64_t count = std::max<std::uint64_t>(word.chunks(), 1);
            f({Taken::run, begin, entry.record.offset(), count});
            i += count - 1;
        } else if (word.kind() == ChunkKind::run_body) {
            f({Taken::stray_body, begin, 0, 1});
        } else if ((word.kind() == ChunkKind::meta_slab || word.kind() == ChunkKind::data_slab) &&
                   read_slab(i, slab)) {
            for (std::uint32_t unit = 0; unit < slab.units; ++unit) {
                const std::uint64_t taken = Medium::load(unit_word(i, slab, unit));
                const std::uint64_t offset = begin + slab.first_unit + std::uint64_t{unit} * slab.unit_bytes;
                const bool hinted = (Medium::load(bitmap_word(i, slab, unit)) >> (unit % 64) & 1) != 0;
                if (taken != 0) {
                    f({slab.links == 0 ? Taken::record : Taken::data_unit, offset, taken, 1});
                } else if (hinted) {
                    f({Taken::hidden, offset, 0, 1});
                }
            }
        }
    }
}

}  // namespace pmemcpy::heap
