#pragma once

#include <cstddef>
#include <memory>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

namespace domain3d {

/// One variable of the domain.
struct Variable {
    std::string id;
    pmemcpy::Dimensions shape;
};

/// Where the values of the variables come from, and so what must be found in the pool afterwards.
class Source {
public:
    virtual ~Source() = default;
    const std::vector<Variable>& variables() const { return variables_; }
    /// Writes the values of a box of the variable with that number densely to `out`.
    virtual void fill(std::size_t variable, const pmemcpy::Box& box, double* out) const = 0;
    /// Says in the pool what the variables are, beside their values: attributes and coordinates, where there are any.
    virtual void describe(pmemcpy::PMEM&) const {}

protected:
    explicit Source(std::vector<Variable> variables) : variables_(std::move(variables)) {}

private:
    std::vector<Variable> variables_;
};

/// The id of a generated variable: "v0", "v1" and so on.
std::string generated_id(std::size_t variable);

/// Values that tell where they belong: the element's place in the whole domain, and 2^44 times the variable's
/// number. Doubles hold both exactly, so an element that strays is always noticed.
std::unique_ptr<Source> generated_source(const pmemcpy::Dimensions& shape, std::size_t variables);

/// Fields of a NetCDF file. Each rank reads only the boxes it asks for.
/// Throws std::runtime_error, also in a build without libnetcdf.
std::unique_ptr<Source> netcdf_source(const std::string& file, const std::vector<std::string>& names);

/// Compares bits. Throws std::runtime_error that names the first element of `data` that is wrong.
void verify(const Source& source, std::size_t variable, const pmemcpy::Box& box, const double* data);

}  // namespace domain3d
