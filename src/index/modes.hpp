#pragma once

#include <optional>
#include <pmemcpy/index.hpp>
#include <string>
#include <string_view>

namespace pmemcpy::store {
class Store;
}

namespace pmemcpy::index {

IndexMode mode_of_pool(const store::Store& store);
/// That of the id itself, or of the nearest group that has one, or of the pool.
IndexMode mode_of(const store::Store& store, std::string_view id);

}  // namespace pmemcpy::index
