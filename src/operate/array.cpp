#include "operate/array.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <pmemcpy/error.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace pmemcpy::operate {

namespace {

/// Of a datetime64; its least number is "not a time", as NaN is not a number.
struct Ticks {
    std::int64_t count;
};

template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T>;

template <class T>
bool is_none(T element) {
    if constexpr (is_floating<T>) return std::isnan(element);
    if constexpr (std::is_same_v<T, Ticks>) return element.count == std::numeric_limits<std::int64_t>::min();
    return false;
}

template <class T>
auto key(T element) {
    if constexpr (std::is_same_v<T, Ticks>)
        return element.count;
    else
        return element;
}

/// A strict order: numbers as they are, and then all that are none.
template <class T>
bool comes_before(T a, T b) {
    if (is_none(a) || is_none(b)) return !is_none(a) && is_none(b);
    return key(a) < key(b);
}

[[noreturn]] void refuse(const char* what, const Type& type) {
    throw Error(Code::unsupported, std::string(what) + " knows nothing of elements of type " + type.name() +
                                       "; it wants integers, float32, float64, bool or datetime64");
}

/// Calls f with a null pointer of the element's C++ type.
template <class F>
auto dispatch(const char* what, const Type& type, F&& f) {
    switch (type.kind()) {
        case Kind::int8:
            return f(static_cast<std::int8_t*>(nullptr));
        case Kind::int16:
            return f(static_cast<std::int16_t*>(nullptr));
        case Kind::int32:
            return f(static_cast<std::int32_t*>(nullptr));
        case Kind::int64:
            return f(static_cast<std::int64_t*>(nullptr));
        case Kind::uint8:
        case Kind::boolean:
            return f(static_cast<std::uint8_t*>(nullptr));
        case Kind::uint16:
            return f(static_cast<std::uint16_t*>(nullptr));
        case Kind::uint32:
            return f(static_cast<std::uint32_t*>(nullptr));
        case Kind::uint64:
            return f(static_cast<std::uint64_t*>(nullptr));
        case Kind::float32:
            return f(static_cast<float*>(nullptr));
        case Kind::float64:
            return f(static_cast<double*>(nullptr));
        case Kind::datetime64:
            return f(static_cast<Ticks*>(nullptr));
        default:
            refuse(what, type);
    }
}

template <class T>
std::vector<T> elements_of(const OperationArray& array) {
    std::vector<T> elements(array.data.size() / sizeof(T));
    if (!elements.empty()) std::memcpy(elements.data(), array.data.data(), array.data.size());
    return elements;
}

template <class T>
OperationArray array_of(const Type& type, const Dimensions& dims, const std::vector<T>& elements) {
    OperationArray array{type, dims, std::vector<std::byte>(elements.size() * sizeof(T))};
    if (!elements.empty()) std::memcpy(array.data.data(), elements.data(), array.data.size());
    return array;
}

template <class T>
OperationArray row_of(const Type& type, const std::vector<T>& elements) {
    return array_of(type, Dimensions{elements.size()}, elements);
}

OperationArray extreme(const OperationArray& array, bool wants_least) {
    const char* what = wants_least ? "min" : "max";
    return dispatch(what, array.type, [&]<class T>(T*) {
        const std::vector<T> all = elements_of<T>(array);
        const T* found = nullptr;
        for (const T& element : all) {
            if (is_none(element)) continue;
            const bool is_better = found == nullptr || (wants_least ? comes_before(element, *found)
                                                                    : comes_before(*found, element));
            if (is_better) found = &element;
        }
        if (found == nullptr)
            throw Error(Code::invalid_argument,
                        std::string(what) + ": the array has no element that is a number");
        return array_of(array.type, Dimensions{}, std::vector<T>{*found});
    });
}

template <class T, class Wide>
OperationArray sum_of(const OperationArray& array, Kind kind) {
    Wide total{};
    for (const T element : elements_of<T>(array)) total += static_cast<Wide>(element);
    return array_of(Type::scalar(kind), Dimensions{}, std::vector<Wide>{total});
}

// Signed numbers wrap around as unsigned ones do.
template <class T>
OperationArray integer_sum(const OperationArray& array) {
    return sum_of<T, std::uint64_t>(array, std::is_signed_v<T> ? Kind::int64 : Kind::uint64);
}

}  // namespace

void make_native(OperationArray& array) {
    if (array.type.is_native()) return;
    std::uint64_t number_bytes = array.type.size();
    if (array.type.kind() == Kind::complex64 || array.type.kind() == Kind::complex128) number_bytes /= 2;
    switch (array.type.kind()) {
        case Kind::structure:
        case Kind::array:
        case Kind::enumeration:
            throw Error(Code::unsupported, "elements of type " + array.type.name() +
                                               " are not in the order of bytes of this machine");
        default:
            break;
    }
    for (std::size_t at = 0; at < array.data.size(); at += number_bytes) {
        const auto first = array.data.begin() + static_cast<std::ptrdiff_t>(at);
        std::reverse(first, first + static_cast<std::ptrdiff_t>(number_bytes));
    }
    array.type = array.type.with_byte_order(native_order);
}

OperationArray deduplicated(const OperationArray& array) {
    return dispatch("deduplicate", array.type, [&]<class T>(T*) {
        const std::vector<T> all = elements_of<T>(array);
        std::vector<std::uint64_t> order(all.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](std::uint64_t a, std::uint64_t b) {
            if (comes_before(all[a], all[b])) return true;
            return !comes_before(all[b], all[a]) && a < b;
        });
        const auto alike = [&](std::uint64_t a, std::uint64_t b) { return !comes_before(all[a], all[b]); };
        order.erase(std::unique(order.begin(), order.end(), alike), order.end());
        std::sort(order.begin(), order.end());
        std::vector<T> unique;
        unique.reserve(order.size());
        for (const std::uint64_t at : order) unique.push_back(all[at]);
        return row_of(array.type, unique);
    });
}

OperationArray sorted(const OperationArray& array) {
    return dispatch("sort", array.type, [&]<class T>(T*) {
        std::vector<T> all = elements_of<T>(array);
        std::stable_sort(all.begin(), all.end(), comes_before<T>);
        return row_of(array.type, all);
    });
}

OperationArray least(const OperationArray& array) { return extreme(array, true); }
OperationArray greatest(const OperationArray& array) { return extreme(array, false); }

OperationArray sum(const OperationArray& array) {
    switch (array.type.kind()) {
        case Kind::complex64:
            return sum_of<std::complex<float>, std::complex<double>>(array, Kind::complex128);
        case Kind::complex128:
            return sum_of<std::complex<double>, std::complex<double>>(array, Kind::complex128);
        case Kind::datetime64:
            refuse("sum", array.type);
        default:
            break;
    }
    return dispatch("sum", array.type, [&]<class T>(T*) {
        if constexpr (is_floating<T>)
            return sum_of<T, double>(array, Kind::float64);
        else if constexpr (std::is_same_v<T, Ticks>)
            return OperationArray{};
        else
            return integer_sum<T>(array);
    });
}

Histogram histogram(const OperationArray& array, std::uint32_t bins) {
    return dispatch("histogram", array.type, [&]<class T>(T*) {
        std::vector<double> numbers;
        for (const T element : elements_of<T>(array)) {
            if (!is_none(element)) numbers.push_back(static_cast<double>(key(element)));
        }
        if (numbers.empty())
            throw Error(Code::invalid_argument, "histogram: the array has no element that is a number");
        const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
        Histogram found{{}, *low, *high};
        if (!std::isfinite(found.low) || !std::isfinite(found.high))
            throw Error(Code::invalid_argument,
                        "histogram: the array has infinite elements, so there are no equal parts");
        if (found.low == found.high) {
            found.low -= 0.5;
            found.high += 0.5;
        }
        std::vector<std::uint64_t> counts(bins, 0);
        // Half of each, because the whole may be more than the largest number.
        const double width = found.high / 2 - found.low / 2;
        for (const double number : numbers) {
            const double part = (number / 2 - found.low / 2) / width * bins;
            const auto bin = std::min(static_cast<std::uint64_t>(part), std::uint64_t{bins} - 1);
            ++counts[bin];
        }
        found.counts = row_of(Type::scalar(Kind::uint64), counts);
        return found;
    });
}

}  // namespace pmemcpy::operate
