// Everything is read and compared with its checksum, whatever else is damaged: what is found is told, never thrown.

#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "catalog/retry.hpp"
#include "heap/hops.hpp"
#include "os/guard.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace pmemcpy::store {

/// One look at a whole pool.
class Inspection {
public:
    /// What is damaged, and how it could be taken out.
    struct Finding {
        enum What { pool, variable, attribute, block } what;
        Damage damage;
        std::string attribute_name{};
        Link block_link{};
    };
    using Progress = std::function<void(std::uint64_t, std::uint64_t)>;

    Inspection(const Store& store, const Progress& progress) : store_(store), progress_(progress) {}

    std::vector<Finding> run() {
        inspect_pool();
        std::map<std::string, Link> all;
        std::vector<std::pair<std::string, std::string>> troubles;
        store_.catalog_.for_each(
            [&](const std::string& id, Link entry) { all.emplace(id, entry); },
            [&](const std::string& id, const std::string& what) { troubles.emplace_back(id, what); });
        for (const auto& [id, entry] : all) total_bytes_ += stored_bytes(entry);
        for (const auto& [id, entry] : all) inspect(id, entry);
        if (!troubles.empty()) tell_what_stays(troubles, all);
        return std::move(findings_);
    }

private:
    void add(Finding::What what, const std::string& id, const std::string& text, const Selection& box = {}) {
        findings_.push_back({what, {id, box, text}});
    }
    void step(std::uint64_t bytes) {
        done_bytes_ += bytes;
        if (progress_) progress_(std::min(done_bytes_, total_bytes_), total_bytes_);
    }

    void inspect_pool() {
        if (const auto offset = store_.pool_.damaged_superblock()) {
            add(Finding::pool, {},
                std::string("the ") + (*offset == 0 ? "first" : "spare") +
                    " copy of the superblock is damaged; the other one is in use");
        }
        try {
            for (const std::uint64_t offset : store_.heap_.damaged_slabs())
                add(Finding::pool, {}, "the head of a slab is damaged, at offset " + std::to_string(offset));
        } catch (const Error& error) {
            add(Finding::pool, {}, error.what());
            space_is_told_ = true;
        }
    }

    // As far as it can be told; what cannot is damaged or gone.
    std::uint64_t stored_bytes(Link entry) const {
        try {
            const auto definition = store_.catalog_.definition(entry);
            if (!definition) return 0;
            if (!store_.is_array(*definition)) {
                const auto seen = store_.read_value_record(*definition);
                return seen ? seen->record.bytes : 0;
            }
            const auto directory = store_.directory_of(*definition);
            if (!directory) return 0;
            const auto blocks = blocks_of(*directory);
            if (!blocks) return 0;
            std::uint64_t bytes = 0;
            for (const BlockRecord& block : *blocks) bytes += block.block.stored_bytes;
            return bytes;
        } catch (const Error&) {
            return 0;
        }
    }

    // Nothing when the array is being erased.
    static std::optional<std::vector<BlockRecord>> blocks_of(Directory& directory) {
        const std::lock_guard one_thread(directory.mutex());
        if (!directory.refresh()) return std::nullopt;
        std::vector<BlockRecord> blocks;
        for (const auto& [handle, block] : directory.blocks()) blocks.push_back(block);
        return blocks;
    }

    // Whoever replaces or erases a definition meanwhile leaves another one behind; a damaged one stays.
    template <class Look>
    bool is_whole_or_gone(Link entry, Look&& look) const {
        for (Link before{};;) {
            const Link now = store_.catalog_.definition(entry).value_or(Link{});
            if (!now.is_record() || look(now)) return true;
            if (now == before) return false;
            before = now;
        }
    }

    // To that of what was renamed no chain of names leads; but a recovery looks for it, and without it for nothing that it names.
    void inspect_entry(const std::string& id, Link entry) {
        heap::RecordCopy copy;
        const bool is_whole = heap::read_record(store_.pool_, entry, heap::RecordKind::entry, copy);
        if (!is_whole && heap::is_current(store_.pool_, entry))
            add(Finding::pool, id,
                "the record of its first name is damaged, so it would lose its id in a recovery");
    }

    void inspect(const std::string& id, Link entry) {
        try {
            inspect_entry(id, entry);
            const auto look = [&](Link definition) {
                return store_.is_array(definition) ? inspect_array(id, definition)
                                                   : inspect_value(id, definition);
            };
            if (!is_whole_or_gone(entry, look))
                add(Finding::variable, id, "the record that defines it is damaged");
        } catch (const Error& error) {
            add(Finding::variable, id, error.what());
        }
        bool is_broken = false;
        try {
            store_.catalog_.for_each_attribute(
                entry,
                [&](const std::string& name, Link attribute) { inspect_attribute(id, name, attribute); },
                [&] { is_broken = true; });
        } catch (const Error& error) {
            add(Finding::pool, id, error.what());
        }
        if (is_broken)
            add(Finding::pool, id, "the chain of its attributes is broken, so some cannot be found");
    }

    // Also the versions that readers of older steps see. False if there is no such value, or not any more.
    bool inspect_value(const std::string& id, Link newest) {
        bool is_newest = true;
        heap::Hops hops;
        for (Link link = newest; link.is_record(); is_newest = false) {
            if (!hops.take(link)) throw Error(Code::corrupt, "its older versions lead back into themselves");
            const auto seen = store_.read_value_record(link);
            if (!seen) return !is_newest;
            store_.check_value(*seen);
            check_space(id, seen->record.extent, link);
            if (is_newest) step(seen->record.bytes);
            link = seen->record.previous;
        }
        return true;
    }

    void inspect_attribute(const std::string& id, const std::string& name, Link attribute) {
        std::string what = "its record is damaged";
        try {
            if (is_whole_or_gone(attribute, [&](Link definition) { return inspect_value(id, definition); }))
                return;
        } catch (const Error& error) {
            what = error.what();
        }
        findings_.push_back({Finding::attribute, {id, {}, "attribute '" + name + "': " + what}, name});
    }

    bool inspect_array(const std::string& id, Link definition) {
        const auto directory = store_.directory_of(definition);
        if (!directory) return false;
        const auto blocks = blocks_of(*directory);
        if (!blocks) return false;
        if (const std::size_t count = directory->damaged(); count > 0)
            add(Finding::pool, id, std::to_string(count) + " block records are damaged");
        check_space(id, {}, definition);
        for (const BlockRecord& block : *blocks) {
            try {
                const Pin pin(store_.heap_, block.seen());
                if (!pin) continue;  // replaced meanwhile
                store_.check_block(id, block);
                check_space(id, block.block.extent, block.link);
            } catch (const Error& error) {
                const bool fortran = directory->definition().order == Order::fortran;
                findings_.push_back({Finding::block,
                                     {id, fortran ? array::reversed(block.box) : block.box, error.what()},
                                     {},
                                     block.link});
            }
            step(block.block.stored_bytes);
        }
        return true;
    }

    // Derived, but whoever stores next believes it.
    void check_space(const std::string& id, const Extent& extent, Link record) {
        if (space_is_told_ || store_.heap_.is_taken(extent, record) ||
            !heap::is_current(store_.pool_, record))
            return;
        space_is_told_ = true;
        add(Finding::pool, {},
            "the table of chunks does not say that the space of '" + id +
                "' is taken, so a store may overwrite it; store nothing, and make a new pool with "
                "pmemcpy repair");
    }

    // What looked wrong in the table of names may have been somebody's work; what still does is damage.
    void tell_what_stays(const std::vector<std::pair<std::string, std::string>>& before,
                         const std::map<std::string, Link>& all) {
        std::set<std::pair<std::string, std::string>> now;
        std::set<std::string> ids;
        store_.catalog_.for_each(
            [&](const std::string& id, Link) { ids.insert(id); },
            [&](const std::string& id, const std::string& what) { now.emplace(id, what); });
        bool hides_ids = false;
        std::set<std::string> told;
        for (const auto& trouble : before) {
            if (!now.erase(trouble)) continue;
            add(Finding::pool, trouble.first, trouble.second);
            told.insert(trouble.first);
            hides_ids = true;
        }
        if (!hides_ids) return;
        try {
            store_.catalog_.for_each_entry([&](const std::string& id) {
                if (all.contains(id) || ids.contains(id) || !told.insert(id).second) return;
                add(Finding::pool, id, "it cannot be found by its id, because the table of names is damaged");
            });
        } catch (const Error& error) {
            add(Finding::pool, {}, error.what());
        }
    }

    const Store& store_;
    const Progress& progress_;
    std::vector<Finding> findings_;
    std::uint64_t total_bytes_ = 0;
    std::uint64_t done_bytes_ = 0;
    bool space_is_told_ = false;
};

std::vector<Damage> Store::verify(const std::function<void(std::uint64_t, std::uint64_t)>& progress) const {
    check_readable();
    const catalog::WholeLook look(pool_);
    std::vector<Damage> damages;
    for (Inspection::Finding& finding : Inspection(*this, progress).run())
        damages.push_back(std::move(finding.damage));
    look.check();
    return damages;
}

std::vector<Damage> Store::discard_damaged() {
    using Finding = Inspection::Finding;
    std::vector<Damage> damages;
    for (Finding& finding : Inspection(*this, {}).run()) {
        const std::string& id = finding.damage.id;
        if (finding.what == Finding::variable && catalog_.find(id)) erase(id);
        if (finding.what == Finding::attribute && catalog_.find(id))
            remove_attribute(id, finding.attribute_name);
        if (finding.what == Finding::block) discard_block(id, finding.block_link);
        damages.push_back(std::move(finding.damage));
    }
    heap_.reclaim(heap::Heap::Effort::thorough);
    return damages;
}

// Of what older steps held nothing is promised any more.
void Store::discard_block(const std::string& id, Link block) {
    const auto directory = array(id);
    const std::lock_guard one_thread(directory->mutex());
    directory->refresh();
    for (const auto& [handle, there] : directory->blocks()) {
        if (there.link != block) continue;
        return directory->retire(handle, std::max(pool_.committed_step(), there.block.step + 1));
    }
}

void Store::check_value(const ValueSeen& seen) const {
    const catalog::Value& v = seen.record;
    const bool has_crc = (v.flags & catalog::value_has_crc) != 0;
    std::uint32_t crc = 0;
    static_cast<void>(seen.type());
    if (v.extent.length == 0) {
        crc = base::crc32c(0, seen.inline_bytes().data(), v.bytes);
    } else {
        const Pin pin(heap_, seen.seen());
        if (!pin) return;  // replaced meanwhile
        const heap::Bytes there = heap_.bytes(v.extent);
        const std::byte* bytes = there.data;
        if (bytes == nullptr) throw Error(Code::corrupt, "the value has lost its payload file");
        if (has_crc && !os::guarded(bytes, v.bytes, [&] { crc = base::crc32c(0, bytes, v.bytes); })) {
            throw Error(Code::io_error, "the memory of the value is damaged (SIGBUS)");
        }
    }
    if (!has_crc) return;
    if (crc != v.crc) throw Error(Code::corrupt, "the value has another checksum than when it was stored");
}

}  // namespace pmemcpy::store
