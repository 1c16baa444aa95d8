#pragma once

#include <pmemcpy/query.hpp>
#include <string_view>

namespace pmemcpy::index {

/// The grammar is in docs/query.md. Errors: as Query::parse.
Query parse_query(std::string_view text);
/// "run.author", "attr(\"odd name\").x": all of the text. Errors: invalid_argument.
Key parse_key(std::string_view text);

}  // namespace pmemcpy::index
