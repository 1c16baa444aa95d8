#include <pmemcpy/copy.hpp>

#include <algorithm>
#include <random>
#include <utility>

#include "copy/copy_array.hpp"
#include "copy/draft.hpp"
#include "copy/side.hpp"

namespace pmemcpy {

namespace {

void copy_value(const PMEM& source, const std::string& from, PMEM& target, const std::string& to) {
    source.load_encoded(from,
                        [&](const Type& type, SerializerType serializer, std::span<const std::byte> bytes) {
                            target.store_encoded(to, type, serializer, BytesEncoder(bytes));
                        });
}

}  // namespace

namespace copy {

std::string name_of_ones_own(const PMEM& pool, const std::string& prefix, const std::string& ending) {
    std::random_device random;
    for (;;) {
        std::string name = prefix;
        name.append(std::to_string(std::uint64_t{random()} << 32 | random())).append(ending);
        if (!pool.exists(name)) return name;
    }
}

Draft::Draft(PMEM& pool) : pool_(pool), id_(name_of_ones_own(pool, ".copying-")) {}

Draft::~Draft() {
    try {
        erase();
    } catch (const Error&) {
        // The error that led here is the one to tell.
    }
}

void Draft::erase() {
    if (pool_.exists(id_)) pool_.erase(id_);
}

void fill(const PMEM& source, const std::string& from, PMEM& target, const std::string& draft,
          const Copied& copied) {
    if (source.info(from).kind == VariableKind::array) {
        constexpr int most_attempts = 3;
        for (int attempt = 1; !copy_array(source, from, target, draft, copied); ++attempt) {
            if (attempt == most_attempts) {
                throw Error(Code::busy, from + " was stored into " + std::to_string(most_attempts) +
                                            " times while it was being copied; copy it when the program that "
                                            "stores it has paused");
            }
            target.erase(draft);
        }
    } else {
        copy_value(source, from, target, draft);
        copied(target.info(draft).stored_bytes);
    }
    fill_attributes(source, from, target, draft, true);
}

void fill_attributes(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                     bool force) {
    const std::vector<std::string> there = target.attributes(to);
    std::vector<Attribute> copies;
    source.for_each_attribute_encoded(from, [&](const std::string& name, const Type& type,
                                                SerializerType serializer, std::span<const std::byte> bytes) {
        if (force || !std::binary_search(there.begin(), there.end(), name))
            copies.emplace_back(name, type, serializer, bytes);
    });
    target.set_attributes(to, copies);
}

}  // namespace copy

void copy_variable(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                   bool force, const Copied& copied) {
    PMEM& side = copy::side_for(source, from, target, to);
    const copy::Draft draft(side);
    copy::fill(source, from, side, draft.id(), copied);
    rename_variable(target, draft.id(), to, force);
}

void copy_attributes(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                     bool force) {
    if (source.attributes(from).empty()) return;
    copy::check_attributes_stay_private(source, from, target, to);
    copy::fill_attributes(source, from, target, to, force);
}

void copy_group(const PMEM& source, const std::string& from, PMEM& target, const std::string& to,
                bool force) {
    PMEM& side = target.exists(to) ? target : copy::side_for(source, from, target, to);
    side.make_group(to);
    copy_attributes(source, from, target, to, force);
}

void rename_variable(PMEM& pool, const std::string& from, const std::string& to, bool force) {
    if (!force || !pool.exists(to)) return pool.rename(from, to);
    copy::Draft old(pool);
    pool.rename(to, old.id());
    try {
        pool.rename(from, to);
    } catch (...) {
        pool.rename(old.id(), to);
        throw;
    }
    old.erase();
}

}  // namespace pmemcpy
