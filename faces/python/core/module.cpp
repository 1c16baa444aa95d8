#include "bindings.hpp"

#include <pmemcpy/box.hpp>

// The promise as it is, one storey below what a person wants: pmemcpy/*.py builds on this, and nobody else.
NB_MODULE(_core, m) {
    m.doc() = "pMEMCPY's C++ interface, as the Python package uses it. Not for direct use.";
    m.attr("max_dimensions") = pmemcpy::max_dimensions;
    m.attr("version") = PMEMCPY_VERSION;
    pmemcpy::python::bind_errors(m);
    pmemcpy::python::bind_type(m);
    pmemcpy::python::bind_info(m);
    pmemcpy::python::bind_memory(m);
    pmemcpy::python::bind_namespaces(m);
    pmemcpy::python::bind_pool(m);
    pmemcpy::python::bind_query(m);
    pmemcpy::python::bind_extract(m);
    pmemcpy::python::bind_tiers(m);
    pmemcpy::python::bind_caching(m);
    pmemcpy::python::bind_operations(m);
}
