#pragma once

#include <functional>
#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/pmemcpy.hpp>

namespace pmemcpy::cli {

/// Opens every pool that this user may read in every namespace, one after another, until `look` returns false. Of a pool that cannot
/// be read a note on stderr tells why; of namespaces that let nobody in, nothing.
/// Errors: those of namespaces(); what `look` throws of one pool is a note too, unless the query itself makes no sense.
void for_each_pool(const std::function<bool(const Namespace&, const NamespacePool&, const PMEM&)>& look);

}  // namespace pmemcpy::cli
