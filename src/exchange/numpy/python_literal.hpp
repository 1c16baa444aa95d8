#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace pmemcpy::exchange {

/// A literal of Python: dict with text as keys, list, tuple, text, whole numbers without a sign, True and False. Lists and tuples
/// become arrays. Nothing is evaluated.
/// Errors: corrupt, which says where, for everything else; and for what is nested more than 32 deep.
nlohmann::json parse_python_literal(std::string_view utf8);

}  // namespace pmemcpy::exchange
