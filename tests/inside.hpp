#pragma once

#include <string>

#include "catalog/catalog.hpp"
#include "heap/heap.hpp"
#include "pool/pool.hpp"

namespace pmemcpy {

/// A pool attached to from below the store, to look at what only the lower rooms know.
class Inside {
public:
    explicit Inside(const std::string& path, MapSync map_sync = MapSync::off)
        : pool_(path, false, map_sync), heap_(pool_), catalog_(pool_, heap_) {
        pool_.attach(catalog_);
    }
    ~Inside() { pool_.detach(catalog_); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    pool::Pool& pool() { return pool_; }
    heap::Heap& heap() { return heap_; }
    catalog::Catalog& catalog() { return catalog_; }
    bool scavenge() {
        const bool all = pool_.scavenge_dead(catalog_);
        return heap_.reclaim(heap::Heap::Effort::thorough) && all;
    }
    catalog::Audit audit() { return catalog_.audit(); }

private:
    pool::Pool pool_;
    heap::Heap heap_;
    catalog::Catalog catalog_;
};

}  // namespace pmemcpy
