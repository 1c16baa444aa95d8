#include "strided_reads.hpp"

#include <cstring>

namespace compare::arrays {
namespace {

void copy(const pmemcpy::Selection& where, const pmemcpy::Dimensions& bounds, std::size_t element_bytes,
          const char* from, char*& to, int dimension = 0, std::uint64_t row = 0) {
    if (dimension == where.size()) {
        std::memcpy(to, from + row * element_bytes, element_bytes);
        to += element_bytes;
        return;
    }
    for (std::uint64_t n = 0; n < where.count[dimension]; ++n) {
        copy(where, bounds, element_bytes, from, to, dimension + 1,
             row * bounds[dimension] + n * where.stride[dimension]);
    }
}

}  // namespace

pmemcpy::Box bounds_of(const pmemcpy::Selection& where) {
    pmemcpy::Box box{where.offset, where.count};
    for (int d = 0; d < where.size(); ++d) {
        if (where.count[d] > 0) box.count[d] = (where.count[d] - 1) * where.stride[d] + 1;
    }
    return box;
}

void* StridedReads::box_for(const pmemcpy::Selection& where, std::size_t element_bytes, void* to) {
    if (where.is_dense()) return to;
    const std::size_t bytes = bounds_of(where).elements() * element_bytes;
    picks_.push_back({where, element_bytes, std::make_unique_for_overwrite<char[]>(bytes), to});
    return picks_.back().box.get();
}

void StridedReads::pick() {
    for (const Pick& pick : picks_) {
        char* to = static_cast<char*>(pick.to);
        copy(pick.where, bounds_of(pick.where).count, pick.element_bytes, pick.box.get(), to);
    }
    picks_.clear();
}

}  // namespace compare::arrays
