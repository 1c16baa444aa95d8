#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <pmemcpy/exchange.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace pmemcpy::exchange {

/// Where a foreign file's content goes: one group of a pool. A format's reader calls these in any order, but each group and
/// variable before its attributes. Paths are those of the file, with `/` between names, and `` for the outermost group.
/// What a pool cannot hold, such as a name that none can have, is left out with a warning, and with all that is in it: of that
/// nothing that is said afterwards is taken.
/// Errors of all: already_exists when the pool has had such a thing before.
class Intake {
public:
    Intake(PMEM& pool, const ImportOptions& options, ExchangeReport& report);

    /// To be called of every group, the outermost included, before anything in it.
    void group(const std::string& path);
    /// Whether neither it nor a group around it was left out.
    bool takes(const std::string& path) const;
    /// Shape: as PMEM::alloc; dims[0] may be `unlimited`.
    void array(const std::string& path, const Type& type, const Dimensions& dims, ArrayOptions options = {});
    /// A piece of an array, densely.
    void store(const std::string& path, const Type& type, const void* data, const Box& box);
    /// A value that is not an array: a number, a struct, text.
    void value(const std::string& path, const Type& type, std::span<const std::byte> bytes);

    void attribute(const std::string& path, std::string_view name, const Type& type,
                   std::span<const std::byte> bytes);
    /// Text; what is no UTF-8 is kept as bytes of text.
    void attribute(const std::string& path, std::string_view name, std::string_view text);
    /// What has no type of its own: lists of text, structures. Kept as JSON text, as Python keeps them.
    void attribute(const std::string& path, std::string_view name, const nlohmann::json& json);
    /// The names of an array's dimensions (attribute `_ARRAY_DIMENSIONS`, as xarray and the Python package have it).
    void dimensions(const std::string& path, const std::vector<std::string>& names);
    /// What only the same format can use again, such as the shape of chunks (attribute `_exchange`); see origin.hpp.
    void origin(const std::string& path, const nlohmann::json& json);

    /// Something of the file does not come over as it was. Errors: unsupported if the user wants to be told by an error.
    void warn(std::string_view path, std::string_view what);
    /// So many bytes more are to come: for the progress.
    void expect(std::uint64_t bytes) { expected_ += bytes; }
    std::uint64_t piece_bytes() const { return options_.piece_bytes; }
    /// After a failed import, when its step is abandoned: the empty groups that it has left.
    void take_back_groups();

private:
    std::string id_of(const std::string& path) const;
    template <class Go>
    bool hold(const std::string& path, Go&& go);
    template <class Make>
    void make_new(const std::string& what, const std::string& key, Make&& make);
    template <class Make>
    void create(const std::string& path, Make&& make);
    bool is_own_attribute(const std::string& path, std::string_view name);
    bool names_dimensions(const std::string& path, const nlohmann::json& json) const;
    void note_group(const std::string& id);
    /// Of what was in the pool before the import.
    bool had_attribute(const std::string& id, std::string_view name) const;
    void count(std::uint64_t bytes);
    bool set(const std::string& path, std::string_view name, const Type& type,
             std::span<const std::byte> bytes);

    PMEM& pool_;
    const ImportOptions& options_;
    ExchangeReport& report_;
    std::unordered_set<std::string> made_;  // ids, and ids with the names of attributes
    std::vector<std::string> new_groups_;   // outermost first
    std::vector<std::string> left_out_;     // paths, each with a `/` behind it
    std::uint64_t expected_ = 0;
    std::uint64_t done_ = 0;
};

}  // namespace pmemcpy::exchange
