#include <pmemcpy/packing.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>

namespace pmemcpy {

namespace packing {

namespace {

/// Wide enough for every integer of 64 bits and every float64.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::digits >= 64);

/// The numbers of an attribute, and whether they have fractions.
struct Numbers {
    std::vector<Wide> all{};
    bool are_floats = false;

    std::optional<Wide> only() const { return all.size() == 1 ? std::optional(all[0]) : std::nullopt; }
};

bool is_ours(SerializerType serializer) {
    return serializer == SerializerType::bp4 || serializer == SerializerType::none;
}

Numbers numbers_in(const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
    Numbers numbers;
    const bool is_list = type.kind() == Kind::sequence || type.kind() == Kind::array;
    const Type& element = is_list ? type.element() : type;
    const std::size_t size = element.is_fixed_size() ? element.size() : 0;
    if (!is_ours(serializer) || size == 0 || bytes.size() % size != 0) return numbers;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        visit_number(element.kind(), element.byte_order(), bytes.subspan(at, size), [&](auto number) {
            if constexpr (!std::is_same_v<decltype(number), bool>) {
                numbers.all.push_back(static_cast<Wide>(number));
                numbers.are_floats = std::is_floating_point_v<decltype(number)>;
            }
        });
    }
    return numbers;
}

/// "true" or "false", in any letters.
std::optional<bool> truth_in(const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
    if (!is_ours(serializer) || (type.kind() != Kind::string && type.kind() != Kind::fixed_string)) return {};
    std::string text(padded_text(bytes));
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    if (text == "true") return true;
    if (text == "false") return false;
    return {};
}

struct Attributes {
    Numbers fill{}, missing{}, least{}, most{}, range{}, scale{}, offset{};
    std::optional<bool> is_unsigned{};
};

Attributes read_attributes(const PMEM& pool, const std::string& id) {
    Attributes found;
    pool.for_each_attribute_encoded(id, [&](const std::string& name, const Type& type,
                                            SerializerType serializer, std::span<const std::byte> bytes) {
        const auto take = [&](Numbers& numbers) { numbers = numbers_in(type, serializer, bytes); };
        if (name == "_FillValue") return take(found.fill);
        if (name == "missing_value") return take(found.missing);
        if (name == "valid_min") return take(found.least);
        if (name == "valid_max") return take(found.most);
        if (name == "valid_range") return take(found.range);
        if (name == "scale_factor") return take(found.scale);
        if (name == "add_offset") return take(found.offset);
        if (name == "_Unsigned") found.is_unsigned = truth_in(type, serializer, bytes);
    });
    return found;
}

enum class Sort { signed_integer, unsigned_integer, floating, none };

Sort sort_of(Kind kind) {
    switch (kind) {
        case Kind::int8:
        case Kind::int16:
        case Kind::int32:
        case Kind::int64:
            return Sort::signed_integer;
        case Kind::uint8:
        case Kind::uint16:
        case Kind::uint32:
        case Kind::uint64:
            return Sort::unsigned_integer;
        case Kind::float16:
        case Kind::bfloat16:
        case Kind::float32:
        case Kind::float64:
            return Sort::floating;
        default:
            return Sort::none;
    }
}

/// A number of an attribute as an element of `bits` bits would hold it; nothing if none does. One of the other sign is what has
/// the same bits.
template <class T>
std::optional<T> element_of(Wide number, int bits) {
    const Wide values = std::ldexp(Wide{1}, bits);
    const Wide least = std::is_signed_v<T> ? -values / 2 : 0;
    const Wide end = std::is_signed_v<T> ? values / 2 : values;
    if (number < 0 && !std::is_signed_v<T> && number >= -values / 2) number += values;
    if (number >= end && std::is_signed_v<T> && number < values) number -= values;
    if (!(number >= least && number < end) || number != std::floor(number)) return {};
    return static_cast<T>(number);
}

double rounded(Wide number, Kind kind) {
    const auto single = static_cast<float>(number);
    switch (kind) {
        case Kind::float16:
            return float(float16(single));
        case Kind::bfloat16:
            return float(bfloat16(single));
        case Kind::float32:
            return single;
        default:
            return static_cast<double>(number);
    }
}

/// By `element`, which makes an element of a number of an attribute, or nothing.
template <class T, class Element>
detail::Limits<T> limits_of(const Attributes& found, Element&& element) {
    detail::Limits<T> limits;
    for (const Numbers* numbers : {&found.fill, &found.missing}) {
        for (const Wide number : numbers->all) {
            limits.is_nan_missing = limits.is_nan_missing || std::isnan(number);
            if (const std::optional<T> one = element(number)) limits.missing.push_back(*one);
        }
    }
    if (const auto least = found.least.only()) limits.least = element(*least).value_or(limits.least);
    if (const auto most = found.most.only()) limits.most = element(*most).value_or(limits.most);
    return limits;
}

}  // namespace

}  // namespace packing

Packing::Packing(const PMEM& pool, const Info& variable) {
    using namespace packing;
    const Kind kind = variable.type.kind();
    const bool is_list =
        variable.kind == VariableKind::value && (kind == Kind::sequence || kind == Kind::array);
    const Type type = is_list ? variable.type.element() : variable.type;
    Sort sort = sort_of(type.kind());
    if (sort == Sort::none || variable.attributes == 0) return;
    Attributes found = read_attributes(pool, variable.id);
    if (found.range.all.size() == 2) {
        found.least = {{found.range.all[0]}, found.range.are_floats};
        found.most = {{found.range.all[1]}, found.range.are_floats};
    }
    kind_ = type.kind();
    byte_order_ = type.byte_order();
    const int bits = static_cast<int>(8 * type.size());
    if (sort != Sort::floating && found.is_unsigned &&
        *found.is_unsigned != (sort == Sort::unsigned_integer)) {
        turned_bits_ = bits;
        sort = *found.is_unsigned ? Sort::unsigned_integer : Sort::signed_integer;
    }
    if (sort != Sort::floating) {
        const auto of_unpacked = [](Numbers& numbers, double& limit) {
            if (!numbers.are_floats || !numbers.only()) return;
            limit = static_cast<double>(*numbers.only());
            numbers = {};
        };
        of_unpacked(found.least, least_unpacked_);
        of_unpacked(found.most, most_unpacked_);
    }
    if (sort == Sort::signed_integer)
        limits_ = limits_of<std::int64_t>(
            found, [&](Wide number) { return element_of<std::int64_t>(number, bits); });
    else if (sort == Sort::unsigned_integer)
        limits_ = limits_of<std::uint64_t>(
            found, [&](Wide number) { return element_of<std::uint64_t>(number, bits); });
    else
        limits_ =
            limits_of<double>(found, [&](Wide number) { return std::optional(rounded(number, kind_)); });
    is_packed_ = found.scale.only() || found.offset.only();
    scale_ = static_cast<double>(found.scale.only().value_or(1));
    offset_ = static_cast<double>(found.offset.only().value_or(0));
    const auto is_any = [](const Numbers& numbers) { return !numbers.all.empty(); };
    is_plain_ = turned_bits_ == 0 && !is_packed_ && !is_any(found.fill) && !is_any(found.missing) &&
                !found.least.only() && !found.most.only() && std::isinf(least_unpacked_) &&
                std::isinf(most_unpacked_);
}

bool Packing::is_whole_between(std::span<const std::byte> least, std::span<const std::byte> greatest) const {
    const auto is_there = [](auto) {};
    const auto is_whole = [&](auto low, auto high) {
        using T = decltype(low);
        if constexpr (!std::is_same_v<T, decltype(high)>) {
            return false;
        } else {
            // Of the other sign those of a half come behind all of the other half.
            if (!(low <= high) || !this->look(low, is_there) || !this->look(high, is_there)) return false;
            const auto& missing = std::get<LimitsOf<T>>(limits_).missing;
            return std::none_of(missing.begin(), missing.end(),
                                [&](auto one) { return low <= one && one <= high; });
        }
    };
    bool answer = false;
    const auto look_between = [&](auto low, auto high) {
        if constexpr (!std::is_same_v<decltype(low), bool> && !std::is_same_v<decltype(high), bool>) {
            answer = this->with_its_sign(low, [&](auto first) {
                return this->with_its_sign(high, [&](auto last) { return is_whole(first, last); });
            });
        }
    };
    visit_number(kind_, byte_order_, least, [&](auto low) {
        visit_number(kind_, byte_order_, greatest, [&](auto high) { look_between(low, high); });
    });
    return answer;
}

}  // namespace pmemcpy
