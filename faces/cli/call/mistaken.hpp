#pragma once

#include <set>
#include <string>

namespace pmemcpy::cli {

/// What to say to a word that is no verb: what other programs call so, or the verb that is spelt most alike.
std::string advice_on(const std::string& word, const std::set<std::string>& verbs);

}  // namespace pmemcpy::cli
