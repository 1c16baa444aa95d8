#include <pmemcpy/box.hpp>
#include <pmemcpy/error.hpp>

namespace pmemcpy {

namespace {

[[noreturn]] void throw_too_many(std::size_t ndims) {
    throw Error(Code::invalid_argument, "an array of " + std::to_string(ndims) +
                                            " dimensions was asked for; at most " +
                                            std::to_string(max_dimensions) + " are possible");
}

std::span<const Extent> checked(int ndims, const std::size_t* extents) {
    static_assert(sizeof(std::size_t) == sizeof(Extent));
    if (ndims < 0) {
        throw Error(Code::invalid_argument, "a negative number of dimensions: " + std::to_string(ndims));
    }
    if (ndims > 0 && extents == nullptr) {
        throw Error(Code::invalid_argument,
                    std::to_string(ndims) + " dimensions, but a null pointer to their extents");
    }
    return {extents, static_cast<std::size_t>(ndims)};
}

}  // namespace

Dimensions::Dimensions(int ndims, const std::size_t* extents) : Dimensions(checked(ndims, extents)) {}

Dimensions::Dimensions(std::span<const Extent> extents) {
    if (extents.size() > static_cast<std::size_t>(max_dimensions)) throw_too_many(extents.size());
    size_ = static_cast<int>(extents.size());
    std::copy(extents.begin(), extents.end(), begin());
}

Dimensions Dimensions::filled(int ndims, Extent extent) {
    if (ndims < 0 || ndims > max_dimensions) throw_too_many(static_cast<std::size_t>(ndims));
    Dimensions dims;
    dims.size_ = ndims;
    std::fill(dims.begin(), dims.end(), extent);
    return dims;
}

void Dimensions::push_back(Extent extent) {
    if (size_ == max_dimensions) throw_too_many(static_cast<std::size_t>(size_) + 1);
    ++size_;
    (*this)[size_ - 1] = extent;
}

Extent Dimensions::elements() const {
    // A 0 anywhere makes the product 0, however large the others are.
    if (std::find(begin(), end(), Extent{0}) != end()) return 0;
    Extent product = 1;
    for (const Extent extent : *this) {
        if (__builtin_mul_overflow(product, extent, &product)) {
            throw Error(Code::invalid_argument, to_string(*this) + " is more than 2^64 elements");
        }
    }
    return product;
}

bool Selection::is_dense() const noexcept {
    for (int d = 0; d < size(); ++d) {
        if (count[d] > 1 && stride[d] != 1) return false;
    }
    return true;
}

std::string to_string(const Dimensions& dims) {
    if (dims.empty()) return "scalar";
    std::string text;
    for (const Extent extent : dims) {
        if (!text.empty()) text += " x ";
        text += extent == unlimited ? "unlimited" : std::to_string(extent);
    }
    return text;
}

std::string to_string(const Box& box) { return to_string(Selection(box)); }

std::string to_string(const Selection& selection) {
    std::string text = "[";
    for (int d = 0; d < selection.size(); ++d) {
        const Extent count = selection.count[d];
        const Extent stride = selection.stride[d];
        const Extent end = selection.offset[d] + (count == 0 ? 0 : (count - 1) * stride + 1);
        if (d > 0) text += ", ";
        text += std::to_string(selection.offset[d]);
        text += ':';
        text += std::to_string(end);
        if (count > 1 && stride != 1) text.append(":").append(std::to_string(stride));
    }
    return text + "]";
}

}  // namespace pmemcpy
