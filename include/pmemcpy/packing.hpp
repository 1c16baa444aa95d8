#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <pmemcpy/number.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

// What the numbers of a variable mean by the attributes that NetCDF's conventions have for it.

namespace pmemcpy {

namespace detail {

/// Which numbers are missing. T is the widest of its sort.
template <class T>
struct Limits {
    std::vector<T> missing{};
    bool is_nan_missing = false;
    T least = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                   : std::numeric_limits<T>::lowest();
    T most = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                  : std::numeric_limits<T>::max();

    bool leave_out(T number) const {
        if (number < least || number > most) return true;
        for (const T one : missing) {
            if (one == number) return true;
        }
        return is_nan_missing && number != number;
    }
};

}  // namespace detail

/// Which elements of a variable are missing, and which numbers the others stand for. `_FillValue`, `missing_value`, `valid_min`,
/// `valid_max` and `valid_range` say what is missing, `_Unsigned` that integers are of the other sign, `scale_factor` and
/// `add_offset` how a number was packed. store() and load() move what is stored, whatever these attributes say.
/// Source: CF conventions 1.11, sections 2.5.1 and 8.1; NetCDF Users Guide, appendix A
class Packing {
public:
    /// Each element is the number that it looks like.
    Packing() = default;
    /// Of an array or value of integers or floats; any other is as above. An attribute that is no number of that type is passed
    /// over. The limits of integers that are given as floats are of the unpacked numbers.
    /// Errors: not_found when it is erased meanwhile; corrupt, io_error.
    Packing(const PMEM& pool, const Info& variable);

    /// Whether each element is the number that it looks like.
    bool is_plain() const noexcept { return is_plain_; }

    /// Whether an element that is not missing may stand for another number than it looks like.
    bool changes_numbers() const noexcept { return is_packed_ || turned_bits_ != 0; }

    /// Calls visit with the number that an element stands for: a double where it was packed, else as visit_number().
    /// Returns false, without a call, where the element is missing.
    template <class Visit>
    bool visit(std::span<const std::byte> element, Visit&& visit) const {
        bool is_there = false;
        visit_number(kind_, byte_order_, element, [&](auto stored) {
            if constexpr (!std::is_same_v<decltype(stored), bool>) is_there = this->visit(stored, visit);
        });
        return is_there;
    }
    /// The same of an element that visit_number() has read.
    template <class T, class Visit>
    bool visit(T stored, Visit&& visit) const {
        return with_its_sign(stored, [&](auto number) { return this->look(number, visit); });
    }

    /// Whether no element can be missing, and all lie in the order of the numbers they stand for (or the reverse of it), if the
    /// least and the greatest of them are these.
    bool is_whole_between(std::span<const std::byte> least, std::span<const std::byte> greatest) const;

private:
    template <class T, class Next>
    bool with_its_sign(T stored, Next&& next) const {
        const int unused = 64 - turned_bits_;
        if constexpr (std::is_same_v<T, std::int64_t>) {
            if (turned_bits_ != 0) return next(static_cast<std::uint64_t>(stored) << unused >> unused);
        } else if constexpr (std::is_same_v<T, std::uint64_t>) {
            if (turned_bits_ != 0) return next(static_cast<std::int64_t>(stored << unused) >> unused);
        }
        return next(stored);
    }
    template <class T>
    using LimitsOf = detail::Limits<std::conditional_t<std::is_floating_point_v<T>, double, T>>;

    template <class T, class Visit>
    bool look(T number, Visit&& visit) const {
        const auto* limits = std::get_if<LimitsOf<T>>(&limits_);
        if (limits != nullptr && limits->leave_out(number)) return false;
        const double unpacked = static_cast<double>(number) * scale_ + offset_;
        if (unpacked < least_unpacked_ || unpacked > most_unpacked_) return false;
        if (is_packed_) {
            visit(unpacked);
        } else {
            visit(number);
        }
        return true;
    }
    bool is_plain_ = true;
    bool is_packed_ = false;
    Kind kind_ = Kind::none;
    ByteOrder byte_order_ = native_order;
    int turned_bits_ = 0;  // the width of integers that are of the other sign; 0: they are not
    std::variant<std::monostate, detail::Limits<std::int64_t>, detail::Limits<std::uint64_t>,
                 detail::Limits<double>>
        limits_;
    double scale_ = 1;
    double offset_ = 0;
    double least_unpacked_ = -std::numeric_limits<double>::infinity();
    double most_unpacked_ = std::numeric_limits<double>::infinity();
};

}  // namespace pmemcpy
