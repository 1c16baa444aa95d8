#include "source.hpp"

#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace domain3d {

namespace {

class GeneratedSource final : public Source {
public:
    explicit GeneratedSource(std::vector<Variable> variables) : Source(std::move(variables)) {}

    void fill(std::size_t variable, const pmemcpy::Box& box, double* out) const override {
        const pmemcpy::Dimensions& shape = variables()[variable].shape;
        const double number = static_cast<double>(variable) * static_cast<double>(1ULL << 44);
        for (auto i = box.offset[0]; i < box.end(0); ++i) {
            for (auto j = box.offset[1]; j < box.end(1); ++j) {
                const double row =
                    number + static_cast<double>((i * shape[1] + j) * shape[2] + box.offset[2]);
                const auto length = static_cast<int>(box.count[2]);
                for (int k = 0; k < length; ++k) out[k] = row + k;
                out += length;
            }
        }
    }
};

std::string place(const pmemcpy::Box& box, std::size_t element) {
    std::string text;
    for (int d = box.size(); d-- > 0;) {
        text = std::to_string(box.offset[d] + element % box.count[d]) + (text.empty() ? "" : ", ") + text;
        element /= box.count[d];
    }
    return text;
}

}  // namespace

std::string generated_id(std::size_t variable) {
    return std::string(1, 'v').append(std::to_string(variable));
}

std::unique_ptr<Source> generated_source(const pmemcpy::Dimensions& shape, std::size_t variables) {
    std::vector<Variable> list;
    for (std::size_t v = 0; v < variables; ++v) list.push_back({generated_id(v), shape});
    return std::make_unique<GeneratedSource>(std::move(list));
}

void verify(const Source& source, std::size_t variable, const pmemcpy::Box& box, const double* data) {
    // One slice at a time, so that what is expected stays in the processor's cache.
    pmemcpy::Box slice = box;
    slice.count[0] = 1;
    std::vector<double> expected(slice.elements());
    for (; slice.offset[0] < box.end(0); ++slice.offset[0], data += expected.size()) {
        source.fill(variable, slice, expected.data());
        if (std::memcmp(data, expected.data(), expected.size() * sizeof(double)) == 0) continue;
        std::size_t e = 0;
        while (std::memcmp(data + e, &expected[e], sizeof(double)) == 0) ++e;
        char values[100];
        std::snprintf(values, sizeof values, "%.17g and not %.17g", data[e], expected[e]);
        throw std::runtime_error("the pool is wrong: " + source.variables()[variable].id + "(" +
                                 place(slice, e) + ") is " + values);
    }
}

}  // namespace domain3d
