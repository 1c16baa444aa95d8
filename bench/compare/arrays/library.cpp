#include "library.hpp"

namespace compare::arrays {

std::size_t size_of(Element element) { return element == Element::float64 ? 8 : 4; }

std::uint64_t Content::bytes() const {
    std::uint64_t bytes = 0;
    for (const Array& array : arrays) bytes += array.shape.elements() * size_of(array.element);
    return bytes * steps;
}

void Library::prepare(const std::string& /*path*/, std::uint64_t /*bytes*/) {}
void Library::begin_step(std::uint64_t /*step*/) {}
void Library::end_step() {}

}  // namespace compare::arrays
