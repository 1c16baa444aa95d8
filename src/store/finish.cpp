// Finished files: what lies at the top of the pool, each variable or group of it, written to the flush target as other programs read it. By the
// program `pmemcpy`, in a process of its own, for the libraries of the formats know nothing of threads, and the application may use them itself.

#include "array/selection.hpp"
#include "base/crc32c.hpp"
#include "base/hash.hpp"
#include "layout/claim.hpp"
#include "layout/handed.hpp"
#include "layout/payload_name.hpp"
#include "os/directory.hpp"
#include "os/names.hpp"
#include "store/store.hpp"

#include <algorithm>
#include <vector>

namespace pmemcpy::store {

using layout::Handed;

namespace {

constexpr const char* command_name = "pmemcpy";
constexpr const char* directory_suffix = ".finished";
constexpr double no_limit_s = 1e6;  // large files take their time, and who does not want to wait says so
constexpr int most_failures = 3;

std::string extension_of(std::string_view format) {
    return format == "hdf5" ? ".h5" : format == "netcdf" ? ".nc" : ".zarr";
}

std::string top_of(std::string_view id) { return std::string(id.substr(0, id.find('/'))); }

// Of any name, as one that a list of what is done can have.
std::string key_of(const std::string& file) { return layout::name_of_payload(base::xxh3_64(file)); }

/// Changes with whatever is added.
class Sum {
public:
    explicit Sum(std::uint32_t& sum) : sum_(sum) {}
    void add(std::uint64_t number) { sum_ = base::crc32c(sum_, &number, sizeof number); }
    void add(std::string_view text) {
        add(text.size());
        sum_ = base::crc32c(sum_, text.data(), text.size());
    }

private:
    std::uint32_t& sum_;
};

}  // namespace

// Where a block lies makes no difference, so what is only moved is not written again.
Store::Tops Store::tops() const {
    const auto t = tiering();
    Tops tops;
    std::vector<std::pair<std::string, Link>> all;
    catalog_.for_each([&](const std::string& id, Link entry) { all.emplace_back(id, entry); });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [id, entry] : all) {
        if (top_of(id).empty() || is_scratch(id)) continue;  // the pool itself, which has attributes too
        const auto definition = catalog_.definition(entry);
        if (!definition) continue;
        std::vector<std::uint64_t> versions;
        if (is_array(*definition)) {
            const auto directory = directory_of(*definition);
            if (!directory || !is_committed(directory->definition().step)) continue;
            const std::lock_guard one_thread(directory->mutex());
            if (!directory->refresh()) continue;
            versions.push_back(directory->kept_since());
            for (const auto& [handle, block] : directory->blocks()) {
                if (is_committed(block.block.step)) versions.push_back(block.version);
            }
        } else {
            const auto seen = read_value(entry);
            if (!seen) continue;
            versions.push_back(seen->record.header.version);
        }
        std::vector<std::pair<std::string, std::uint64_t>> attributes;
        catalog_.for_each_attribute(entry, [&](const std::string& name, Link attribute) {
            if (name.starts_with(reserved_prefix)) return;
            if (const auto seen = read_value(attribute))
                attributes.emplace_back(name, seen->record.header.version);
        });
        std::sort(versions.begin(), versions.end());
        std::sort(attributes.begin(), attributes.end());
        Sum sum(tops[top_of(id)]);
        sum.add(id);
        for (const std::uint64_t version : versions) sum.add(version);
        for (const auto& [name, version] : attributes) {
            sum.add(name);
            sum.add(version);
        }
    }
    return tops;
}

// In the target's directory, beside the pool's own: there, and the pool's. `is_to_be`: made if it is not.
std::optional<os::File> Store::finished_directory(const Tiering& t, bool is_to_be) const {
    check_in_place();  // it has the pool's name, and so has that of another pool that has the name by now
    const Target& target = t.hierarchy.targets[t.flush_level];
    const std::string real = os::real_path(path()).value_or(path());
    const std::string finished = target.path + "/" + real.substr(real.rfind('/') + 1) + directory_suffix;
    constexpr mode_t mode = 0777;
    if (is_to_be) os::make_directory(finished, mode);
    auto directory = os::File::open_if_exists(finished, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (directory && is_to_be) layout::claim(*directory, pool_);
    return directory;
}

std::string Store::finishing_trouble(const Tiering& t) const {
    if (!is_in_place()) return path() + " was moved while it was open, so no file is finished";
    const auto directory = finished_directory(t, false);
    return directory ? Handed::trouble_in(*directory) : std::string();
}

bool Store::finish_files(std::string_view id, Tops* looked, const std::function<bool()>& is_wanted) {
    const auto t = tiering();
    if (!t || t->flush_level == 0 || t->hierarchy.flush.as.empty()) return true;
    const std::uint32_t target = t->numbers[t->flush_level];
    if (const std::string trouble = targets_.trouble_of(target); !trouble.empty())
        throw Error(Code::io_error, trouble);
    const pool::Pool::HandOverLock alone(pool_);
    if (!alone) return false;
    const auto directory = finished_directory(*t, true);
    if (!directory)
        throw Error(Code::io_error, "the directory of finished files of " + path() + " was removed");
    const unsigned mode_bits = pool_.file().mode_bits();
    Handed finished(*directory);
    const Tops now = tops();
    std::unordered_set<std::string> keys;
    std::string trouble;
    int failures = 0;
    for (const auto& [top, sum] : now) {
        const std::string name = top + extension_of(t->hierarchy.flush.as);
        const std::string key = key_of(name);
        keys.insert(key);
        if (!is_wanted() || failures == most_failures || finished.has(key, sum)) continue;
        if (id != "/" && top != top_of(id)) continue;
        if (looked != nullptr) {
            const auto before = looked->find(top);
            if (before == looked->end() || before->second != sum) continue;
        }
        const std::string file = directory->path() + "/" + name;
        check_in_place();  // the program opens the pool by its name
        const std::string failed =
            // The program sees this user's private objects, and the file is for all readers of the target.
            run_program({command_name, "export", "--only-shared", "--overwrite", "--format",
                         t->hierarchy.flush.as, path() + ":" + top, file},
                        "finishing '" + top + "': '" + command_name + "' ", no_limit_s, is_wanted);
        if (failed.empty()) {
            finished.add(key, sum, mode_bits);
            continue;
        }
        ++failures;
        if (trouble.empty()) trouble = failed;
    }
    if (looked != nullptr) *looked = now;
    if (!is_wanted()) return false;  // what failed was stopped for that
    finished.keep_only(keys, mode_bits);
    Handed::set_trouble(*directory, trouble, mode_bits);
    if (!trouble.empty()) throw Error(Code::io_error, trouble);
    return true;
}

}  // namespace pmemcpy::store
