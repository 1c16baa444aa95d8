#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "os/guard.hpp"
#include "store/pin.hpp"
#include "store/store.hpp"

namespace pmemcpy::store {

std::vector<Damage> Store::verify(const std::function<void(std::uint64_t, std::uint64_t)>& progress) const {
    check_readable();
    std::vector<Damage> damages;
    const std::vector<std::string> all = ids("", false);
    std::uint64_t total = 0;
    std::uint64_t done = 0;
    const auto step = [&](std::uint64_t bytes) {
        done += bytes;
        if (progress) progress(std::min(done, total), total);
    };
    for (const std::string& id : all) {
        try {
            total += info(id).stored_bytes;
        } catch (const Error&) {
            // Counted when it is checked: erased meanwhile, or damaged.
        }
    }
    for (const std::string& id : all) {
        try {
            const auto definition = defined(id);
            if (!definition) continue;  // erased meanwhile
            if (!is_array(*definition)) {
                const auto entry = catalog_.find(id);
                const auto seen = entry ? read_value(*entry) : std::nullopt;
                if (!seen) continue;
                check_value(*seen);
                step(seen->record.bytes);
                continue;
            }
            const auto directory = directory_of(*definition);
            if (!directory) continue;
            std::vector<BlockRecord> blocks;
            {
                const std::lock_guard one_thread(directory->mutex());
                directory->refresh();
                for (const auto& [handle, block] : directory->blocks()) blocks.push_back(block);
                if (directory->damaged() > 0) {
                    damages.push_back(
                        {id, {}, std::to_string(directory->damaged()) + " block records are damaged"});
                }
            }
            for (const BlockRecord& block : blocks) {
                const Pin pin(heap_, block.link);
                if (!pin) continue;  // replaced meanwhile
                try {
                    check_block(id, block);
                } catch (const Error& error) {
                    const bool fortran = directory->definition().order == Order::fortran;
                    damages.push_back({id, fortran ? array::reversed(block.box) : block.box, error.what()});
                }
                step(block.block.stored_bytes);
            }
        } catch (const Error& error) {
            damages.push_back({id, {}, error.what()});
        }
    }
    for (const std::string& id : all) check_attributes(id, damages);
    for (const std::string& id : ids("", true)) check_attributes(id, damages);
    check_attributes("/", damages);
    return damages;
}

void Store::check_attributes(const std::string& id, std::vector<Damage>& damages) const {
    const auto owner = catalog_.find(id);
    if (!owner) return;
    catalog_.for_each_attribute(*owner, [&](const std::string& name, Link attribute) {
        try {
            if (const auto seen = read_value(attribute)) check_value(*seen);
        } catch (const Error& error) {
            damages.push_back({id, {}, "attribute '" + name + "': " + error.what()});
        }
    });
}

void Store::check_value(const ValueSeen& seen) const {
    const catalog::Value& v = seen.record;
    const bool has_crc = (v.flags & catalog::value_has_crc) != 0;
    std::uint32_t crc = 0;
    if (v.extent.length == 0) {
        crc = base::crc32c(0, seen.inline_bytes.data(), v.bytes);
    } else {
        const Pin pin(heap_, seen.link);
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
