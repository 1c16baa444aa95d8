#include "extract/changes.hpp"

#include <algorithm>

#include "pmem/sides.hpp"

namespace pmemcpy::extract {

std::vector<std::string> Changed::take() {
    std::vector<std::string> ids;
    pmem::Sides& sides = pmem::Sides::of(pool_);
    take(shared_, sides.shared(), ids);
    sides.own();  // which notices what is new
    if (const auto own = sides.own_store()) take(own_, own, ids);
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

void Changed::take(Side& side, const std::shared_ptr<store::Store>& store, std::vector<std::string>& ids) {
    if (!side || side->store() != store) side.emplace(store);
    side->take(ids);
}

}  // namespace pmemcpy::extract
