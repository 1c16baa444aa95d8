#pragma once

#include <nanobind/nanobind.h>

namespace pmemcpy::python {

// What each file binds; module.cpp calls them in this order, for later ones name the types of earlier ones.
void bind_errors(nanobind::module_& m);
void bind_type(nanobind::module_& m);
void bind_info(nanobind::module_& m);
void bind_memory(nanobind::module_& m);
void bind_namespaces(nanobind::module_& m);
void bind_pool(nanobind::module_& m);
void bind_query(nanobind::module_& m);
void bind_extract(nanobind::module_& m);
void bind_tiers(nanobind::module_& m);
void bind_caching(nanobind::module_& m);
void bind_operations(nanobind::module_& m);

}  // namespace pmemcpy::python
