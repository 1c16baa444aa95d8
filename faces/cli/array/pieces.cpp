#include "cli/array/pieces.hpp"

namespace pmemcpy::cli {

void each_place(const Dimensions& shape, Order order, const std::function<void(std::uint64_t)>& visit) {
    const int ndims = shape.size();
    const Extent elements = shape.elements();
    if (order == Order::c || ndims < 2) {
        for (Extent i = 0; i < elements; ++i) visit(i);
        return;
    }
    Dimensions index = Dimensions::filled(ndims, 0);
    for (Extent i = 0; i < elements; ++i) {
        Extent place = 0;
        for (int d = ndims; d-- > 0;) place = place * shape[d] + index[d];
        visit(place);
        for (int d = ndims; d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
    }
}

}  // namespace pmemcpy::cli
