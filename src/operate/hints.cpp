#include "operate/hints.hpp"

#include "operate/registry.hpp"

#include <algorithm>
#include <array>
#include <pmemcpy/error.hpp>
#include <sstream>
#include <utility>

namespace pmemcpy::operate {

namespace {

constexpr std::string_view hint_note = "pmemcpy:hint";
constexpr std::string_view outcome_note = "pmemcpy:operated";
constexpr std::string_view any_note = "pmemcpy:hints";  // of "/": there are some
constexpr std::uint32_t most_bins = 1U << 20;

struct BuiltIn {
    std::uint32_t bit;
    std::string_view name;
};
constexpr std::array<BuiltIn, 9> built_in = {{{operation::decompress, "decompress"},
                                              {operation::minimum, "min"},
                                              {operation::maximum, "max"},
                                              {operation::sum, "sum"},
                                              {operation::histogram, "histogram"},
                                              {operation::deduplicate, "deduplicate"},
                                              {operation::sort, "sort"},
                                              {operation::compress, "compress"},
                                              {operation::persist, "persist"}}};
constexpr std::uint32_t built_in_mask = (1U << built_in.size()) - 1;
constexpr std::uint32_t first_after_functions = operation::compress;

std::string to_text(const Hint& hint) {
    return std::to_string(hint.mask) + " " + std::to_string(hint.bins) + " " + to_string(hint.codec);
}

std::optional<Hint> hint_from(std::istream& text) {
    Hint hint;
    std::string codec;
    if (!(text >> hint.mask >> hint.bins >> codec)) return std::nullopt;
    try {
        hint.codec = parse_codec(codec);
    } catch (const Error&) {
        return std::nullopt;
    }
    return hint;
}

void refuse(const std::string& why) { throw Error(Code::invalid_argument, "hint: " + why); }

[[noreturn]] void throw_unknown(const store::Store& store, const std::string& name) {
    std::string there;
    for (const std::string& other : names_of(store, UINT32_MAX)) there.append(" ").append(other);
    throw Error(Code::invalid_argument, "there is no operation '" + name + "'; there are" + there);
}

}  // namespace

bool is_built_in(std::string_view name) {
    return name == "sorted" || name == "unique" || name == "store" ||
           std::any_of(built_in.begin(), built_in.end(),
                       [&](const BuiltIn& one) { return one.name == name; });
}

void check_hint(const store::Store& store, const Hint& hint) {
    std::uint32_t there = built_in_mask;
    for (const Registered& one : registered_in(store)) there |= operation::registered(one.number);
    for (int bit = 0; bit < 32; ++bit) {
        if ((hint.mask & ~there & (1U << bit)) != 0)
            refuse("bit " + std::to_string(bit) +
                   " stands for no operation, and no function is registered under it; "
                   "`pmemcpy op list` shows those that are");
    }
    if (hint.bins == 0 || hint.bins > most_bins) refuse("a histogram has 1 to 1048576 bins");
    if ((hint.mask & operation::compress) == 0) return;
    if ((hint.mask & operation::decompress) != 0) refuse("compress and decompress exclude each other");
    if (hint.codec.kind == Codec::Kind::none) refuse("compress needs a codec other than none");
    if (hint.codec.level < Codec::min_level || hint.codec.level > Codec::max_level)
        refuse("a codec has a level from 0 to 9");
    if (!is_available(hint.codec.kind))
        throw Error(Code::unsupported, "this build of pMEMCPY has no codec " + to_string(hint.codec) +
                                           "; build it with Blosc (libblosc-dev)");
}

void check_hint(const store::Store& store, std::string_view id, const Hint& hint) {
    check_hint(store, hint);
    const Info info = store.info(id);
    if (info.kind != VariableKind::array)
        refuse("'" + std::string(id) + "' is no array, and operations work on arrays");
    if (info.is_contiguous && hint.mask != 0) refuse_contiguous(id);
}

void refuse_contiguous(std::string_view id) {
    throw Error(Code::unsupported, "hint: '" + std::string(id) +
                                       "' is contiguous: it changes in place, and nobody can tell when");
}

void set_hint(store::Store& store, std::string_view id, const Hint& hint) {
    check_hint(store, id, hint);
    if (hint_of(store, id) == hint) return;
    if (hint.mask == 0) return store.remove_note(id, hint_note);
    // First: who opens the pool then has it looked for.
    if (!has_hints(store)) store.set_note("/", any_note, "yes");
    store.set_note(id, hint_note, to_text(hint));
}

Hint hint_of(const store::Store& store, std::string_view id) {
    const auto note = store.note(id, hint_note);
    if (!note) return {};
    std::istringstream text(*note);
    return hint_from(text).value_or(Hint{});
}

void carry_hint(const store::Store& from, std::string_view id, store::Store& to, std::string_view draft) {
    const auto note = from.note(id, hint_note);
    if (!note) return;
    if (!has_hints(to)) to.set_note("/", any_note, "yes");
    to.set_note(draft, hint_note, *note);
}

bool has_hints(const store::Store& store) { return store.note("/", any_note).has_value(); }

std::optional<Outcome> outcome_of(const store::Store& store, std::string_view id) {
    const auto note = store.note(id, outcome_note);
    if (!note) return std::nullopt;
    std::istringstream text(*note);
    Outcome outcome;
    if (!(text >> outcome.content)) return std::nullopt;
    const auto hint = hint_from(text);
    if (!hint) return std::nullopt;
    outcome.hint = *hint;
    text.get();
    outcome.trouble.assign(std::istreambuf_iterator<char>(text), {});
    return outcome;
}

void set_outcome(store::Store& store, std::string_view id, const Outcome& outcome) {
    store.set_note(id, outcome_note,
                   std::to_string(outcome.content) + " " + to_text(outcome.hint) + "\n" + outcome.trouble);
}

OperationState state_of(const store::Store& store, std::string_view id) {
    OperationState state{std::string(id), hint_of(store, id)};
    if (state.hint.mask == 0) return state;
    state.progress = OperationState::Progress::waiting;
    const auto outcome = outcome_of(store, id);
    if (!outcome || outcome->content != store.content_fingerprint(id) || outcome->hint != state.hint)
        return state;
    state.trouble = outcome->trouble;
    state.progress =
        state.trouble.empty() ? OperationState::Progress::done : OperationState::Progress::failed;
    return state;
}

std::uint32_t mask_of(const store::Store& store, const std::vector<std::string>& names) {
    std::uint32_t mask = 0;
    const std::vector<Registered> registered = registered_in(store);
    for (const std::string& name : names) {
        std::uint32_t bit = 0;
        for (const BuiltIn& one : built_in) {
            if (one.name == name) bit = one.bit;
        }
        for (const Registered& one : registered) {
            if (one.name == name) bit = operation::registered(one.number);
        }
        mask |= bit;
        if (bit != 0) continue;
        throw_unknown(store, name);
    }
    return mask;
}

std::vector<std::string> names_of(const store::Store& store, std::uint32_t mask) {
    std::vector<std::string> names;
    const auto add_built_in = [&](bool after_functions) {
        for (const BuiltIn& one : built_in) {
            if ((one.bit >= first_after_functions) == after_functions && (mask & one.bit) != 0)
                names.emplace_back(one.name);
        }
    };
    add_built_in(false);
    for (const Registered& one : registered_in(store)) {
        if ((mask & operation::registered(one.number)) != 0) names.push_back(one.name);
    }
    add_built_in(true);
    return names;
}

}  // namespace pmemcpy::operate
