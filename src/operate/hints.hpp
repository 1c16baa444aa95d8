#pragma once

#include "store/store.hpp"

#include <cstdint>
#include <optional>
#include <pmemcpy/operations.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::operate {

/// May a function have this name, as far as its characters go?
bool is_name(std::string_view name);
/// Is it that of an operation of the library's own, or of what comes of one?
bool is_built_in(std::string_view name);

/// Errors: those of hint().
void check_hint(const store::Store& store, std::string_view id, const Hint& hint);
/// As far as nothing need be known of the variable.
void check_hint(const store::Store& store, const Hint& hint);
[[noreturn]] void refuse_contiguous(std::string_view id);
void set_hint(store::Store& store, std::string_view id, const Hint& hint);
Hint hint_of(const store::Store& store, std::string_view id);
/// A draft of what is to take the place of a variable, or of what moves elsewhere, has the variable's hint too.
void carry_hint(const store::Store& from, std::string_view id, store::Store& to, std::string_view draft);
/// Has any variable ever had one?
bool has_hints(const store::Store& store);

/// What came of it is remembered with the variable, for the content and hint that it was done with.
struct Outcome {
    std::uint64_t content = 0;
    Hint hint{};
    std::string trouble{};  // empty: it is done
};
std::optional<Outcome> outcome_of(const store::Store& store, std::string_view id);
void set_outcome(store::Store& store, std::string_view id, const Outcome& outcome);
OperationState state_of(const store::Store& store, std::string_view id);

std::uint32_t mask_of(const store::Store& store, const std::vector<std::string>& names);
/// Bits that stand for nothing are left out.
std::vector<std::string> names_of(const store::Store& store, std::uint32_t mask);

}  // namespace pmemcpy::operate
