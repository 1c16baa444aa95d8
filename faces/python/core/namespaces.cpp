#include "bindings.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <pmemcpy/namespaces.hpp>

namespace nb = nanobind;
using namespace nb::literals;

namespace pmemcpy::python {
namespace {

Grantee grantee(const std::string& name, bool is_group) {
    return {is_group ? Grantee::group : Grantee::user, name};
}

const char* name_of(Permission permission) { return permission == Permission::write ? "write" : "read"; }

}  // namespace

void bind_namespaces(nb::module_& m) {
    nb::class_<Grant>(m, "Grant")
        .def_prop_ro("name", [](const Grant& grant) { return grant.to.name; })
        .def_prop_ro("is_group", [](const Grant& grant) { return grant.to.kind == Grantee::group; })
        .def_prop_ro("permission", [](const Grant& grant) { return name_of(grant.permission); });
    nb::class_<NamespacePool>(m, "NamespacePool")
        .def_ro("name", &NamespacePool::name)
        .def_ro("path", &NamespacePool::path)
        .def_ro("owner", &NamespacePool::owner)
        .def_ro("max_bytes", &NamespacePool::max_bytes);
    nb::class_<Namespace>(m, "Namespace")
        .def_ro("name", &Namespace::name)
        .def_ro("path", &Namespace::path)
        .def_ro("owner", &Namespace::owner)
        .def_prop_ro("access",
                     [](const Namespace& space) {
                         return space.access ? std::optional<std::string>(name_of(*space.access))
                                             : std::nullopt;
                     })
        .def_ro("grants", &Namespace::grants)
        .def_ro("pools", &Namespace::pools)
        .def_prop_ro("quota_bytes", [](const Namespace& space) { return space.quota.limit_bytes; })
        .def_prop_ro("used_bytes", [](const Namespace& space) { return space.quota.used_bytes; });

    m.def(
        "create_namespace",
        [](const std::string& name, const std::string& root) {
            const nb::gil_scoped_release released;
            create_namespace(name, root);
        },
        "name"_a, "root"_a);
    m.def(
        "drop_namespace",
        [](const std::string& name, bool with_pools, const std::string& root) {
            const nb::gil_scoped_release released;
            drop_namespace(name, with_pools ? Drop::with_pools : Drop::only_empty, root);
        },
        "name"_a, "with_pools"_a, "root"_a);
    m.def(
        "namespaces",
        [](const std::string& root) {
            const nb::gil_scoped_release released;
            return namespaces(root);
        },
        "root"_a);
    m.def(
        "namespace_info",
        [](const std::string& name, const std::string& root) {
            const nb::gil_scoped_release released;
            return namespace_info(name, root);
        },
        "name"_a, "root"_a);
    m.def(
        "grant",
        [](const std::string& name, const std::string& to, bool is_group, bool write,
           const std::string& root) {
            const nb::gil_scoped_release released;
            return grant(name, grantee(to, is_group), write ? Permission::write : Permission::read, root);
        },
        "name"_a, "to"_a, "is_group"_a, "write"_a, "root"_a);
    m.def(
        "revoke",
        [](const std::string& name, const std::string& whom, bool is_group, const std::string& root) {
            const nb::gil_scoped_release released;
            return revoke(name, grantee(whom, is_group), root);
        },
        "name"_a, "whom"_a, "is_group"_a, "root"_a);
    m.def(
        "set_quota",
        [](const std::string& name, std::uint64_t limit_bytes, const std::string& root) {
            const nb::gil_scoped_release released;
            set_quota(name, limit_bytes, root);
        },
        "name"_a, "limit_bytes"_a, "root"_a);
    m.def(
        "resolve_pool",
        [](const std::string& path, const std::string& root) {
            const nb::gil_scoped_release released;
            return resolve_pool(path, Mode::read, root);
        },
        "path"_a, "root"_a);
}

}  // namespace pmemcpy::python
