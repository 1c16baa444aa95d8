#pragma once

#include <string_view>

namespace pmemcpy::exchange {

/// Whether these bytes are text as pools and JSON have it. Older files hold text in Latin-1 and its like.
bool is_utf8(std::string_view bytes) noexcept;

}  // namespace pmemcpy::exchange
