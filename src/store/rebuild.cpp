// A pool made again from what lies in its flush target, when the pool itself is lost: the newest inventory there names it. It grows under
// another name and gets its own when it is whole.

#include <pmemcpy/namespaces.hpp>
#include <pmemcpy/tiers.hpp>

#include "layout/claim.hpp"
#include "layout/inventory.hpp"
#include "os/directory.hpp"
#include "os/names.hpp"
#include "pool/pool.hpp"
#include "store/store.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstring>

namespace pmemcpy {

namespace {

using layout::Inventory;
using layout::Item;
using layout::ItemKind;

constexpr std::string_view own_prefix = "pmemcpy-";
constexpr std::size_t digits_of_uuid = 32;

bool is_own_directory(const std::string& name) {
    return name.starts_with(own_prefix) && name.size() == own_prefix.size() + digits_of_uuid;
}

// Where a pool's files are: the directory itself, or the one of them in that of a target.
os::File open_from(const std::string& from) {
    if (from.empty()) throw Error(Code::invalid_argument, "the path of a flush target must not be empty");
    auto given = os::File::open_if_exists(from, O_RDONLY | O_DIRECTORY);
    if (!given) throw Error(Code::not_found, "there is no directory " + from);
    std::vector<std::string> pools;
    for (const std::string& name : os::names_in(*given)) {
        if (layout::number_of_inventory(name)) return std::move(*given);
        if (!is_own_directory(name)) continue;
        const auto its = os::File::open_in(*given, name, O_RDONLY | O_DIRECTORY);
        const auto names = its ? os::names_in(*its) : std::vector<std::string>();
        if (std::any_of(names.begin(), names.end(), [](const std::string& each) {
                return layout::number_of_inventory(each).has_value();
            }))
            pools.push_back(its->path());
    }
    std::sort(pools.begin(), pools.end());
    if (pools.size() == 1) return os::File::open(pools[0], O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (pools.empty())
        throw Error(Code::not_found, from + " holds no inventory, nor does a directory " +
                                         std::string(own_prefix) + "... in it: nothing was flushed there");
    std::string list;
    for (const std::string& each : pools) list += "\n  " + each;
    throw Error(Code::invalid_argument,
                from + " holds what was flushed of " + std::to_string(pools.size()) +
                    " pools; name the directory of the one that is to be rebuilt:" + list);
}

std::string leaves_out(const Hierarchy& hierarchy) {
    for (const Target& target : hierarchy.targets) {
        if (!target.path.empty() && !os::is_directory(target.path))
            return "the pool has no hierarchy: there is no directory " + target.path + " of its target '" +
                   target.name + "'; `pmemcpy tiers` gives it another";
    }
    return {};
}

// Half a pool has another name. What a killed process has left is taken away by the next, with what it has below itself as far as that
// can be reached, unless another fills it just now.
void remove_leftover(const std::string& path) {
    Options options;
    options.mode = Mode::update;
    try {
        const auto store = store::Store::open(path, options);
        store->discard();
        store->close();
    } catch (const Error&) {
        // There is none, or it is damaged: then it is replaced.
    }
}

struct Known {
    std::string path{};
    std::string yaml{};
    std::uint64_t blocks = 0;
    std::uint64_t stored_bytes = 0;
};

Known look_through(const Inventory& inventory) {
    Known known;
    inventory.for_each([&](const Item& item) {
        if (item.head.kind == ItemKind::pool) {
            known.path = item.name;
            known.yaml.assign(reinterpret_cast<const char*>(item.record.data()), item.record.size());
        }
        catalog::Block block;
        if (item.head.kind == ItemKind::block && item.record.size() >= sizeof block) {
            std::memcpy(&block, item.record.data(), sizeof block);
            known.stored_bytes += block.stored_bytes;
            ++known.blocks;
        }
    });
    return known;
}

}  // namespace

Rebuilt rebuild(const std::string& from, const std::string& to_name, const RebuildOptions& options) {
    if (to_name.empty()) throw Error(Code::invalid_argument, "the path of a pool must not be empty");
    const std::string to = resolve_pool(to_name, Mode::exclusive);
    if (os::exists(to)) {
        throw Error(os::is_character_device(to) ? Code::unsupported : Code::already_exists,
                    "there is something at " + to +
                        " already; name a new file: a pool is rebuilt as one, and not on a device");
    }
    const os::File directory = open_from(from);
    if (const auto alive = layout::claimant_of(directory)) {
        throw Error(Code::busy, directory.path() + " belongs to the pool " + *alive +
                                    ", which is there; `pmemcpy cp` makes a copy of it, `pmemcpy repair` a "
                                    "pool of what is whole in it");
    }
    Rebuilt result;
    std::vector<std::string> damaged;
    const auto inventory = Inventory::newest_in(directory, &damaged);
    for (const std::string& name : damaged)
        result.damages.push_back({{}, {}, name + " is damaged, so an older inventory counts"});
    if (!inventory)
        throw Error(Code::corrupt, directory.path() + "/" +
                                       (damaged.empty() ? "inventory" : damaged.front()) +
                                       " is damaged, so nothing tells what the files beside it are");
    const Known known = look_through(*inventory);
    result.lost = known.path;
    result.written_ns = inventory->head.written_ns;
    auto hierarchy = options.hierarchy;
    if (!hierarchy) {
        try {
            hierarchy = parse_hierarchy(known.yaml);
            result.hierarchy_trouble = leaves_out(*hierarchy);
        } catch (const Error& error) {
            result.hierarchy_trouble =
                std::string("the pool has no hierarchy: that of the lost one cannot be used: ") +
                error.what();
        }
        if (!result.hierarchy_trouble.empty()) hierarchy.reset();
    }
    constexpr std::uint64_t room_for_records = 64 << 20;
    Options pool_options;
    pool_options.mode = Mode::replace;
    pool_options.layout = Layout::file;
    pool_options.permissions = os::File::open(directory.path() + "/" + inventory->name, O_RDONLY).mode_bits();
    pool_options.chunk_bytes = inventory->head.chunk_bytes;
    pool_options.max_bytes = inventory->head.max_bytes;
    if (!hierarchy)
        pool_options.max_bytes =
            std::max(pool_options.max_bytes, known.stored_bytes + known.stored_bytes / 8 + room_for_records);
    if (options.max_bytes != 0) pool_options.max_bytes = options.max_bytes;
    const std::string passing = to + ".rebuilding";
    remove_leftover(passing);
    // What lies beside the lost one and belongs to it belongs to this one.
    const auto store = store::Store::open(passing, pool_options, nullptr, {.origin = inventory->head.uuid});
    try {
        if (hierarchy) store->set_hierarchy(&*hierarchy);
        store->restore(*inventory, directory, result, [&] {
            if (options.progress)
                options.progress({result.blocks, known.blocks, result.bytes, known.stored_bytes});
        });
        store->sync();
        store->close();
        for (const char* ending : {".rt", ".heat"}) os::remove_file(passing + ending);
        const os::File folder = os::File::open(os::folder_of(to), O_RDONLY | O_DIRECTORY);
        const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
        if (!os::rename_new_in(folder, name(passing), folder, name(to)))
            throw Error(Code::already_exists,
                        "another process has made " + to + " meanwhile; name a new file");
        os::File::open(os::folder_of(to), O_RDONLY | O_DIRECTORY).sync_all();
    } catch (...) {
        store->discard();
        try {
            store->close();
        } catch (const Error&) {
            // Then it is left as after a death.
        }
        remove_leftover(passing);
        throw;
    }
    return result;
}

}  // namespace pmemcpy
