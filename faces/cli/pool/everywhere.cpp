#include "cli/pool/everywhere.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "cli/pool/open.hpp"

namespace pmemcpy::cli {

void for_each_pool(const std::function<bool(const Namespace&, const NamespacePool&, const PMEM&)>& look) {
    for (const Namespace& space : namespaces()) {
        for (const NamespacePool& pool : space.pools) {
            try {
                if (!look(space, pool, open_for_reading(pool.path))) return;
            } catch (const Error& error) {
                // What is wrong with one pool says nothing of the others.
                if (error.kind() == Code::invalid_argument) throw;
                fmt::print(stderr, "pmemcpy: {}:{} was left out: {}\n", space.name, pool.name, error.what());
            }
        }
    }
}

}  // namespace pmemcpy::cli
