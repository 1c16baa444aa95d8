#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <pmemcpy/exchange.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pmemcpy::exchange {

/// "a/b" of "a/b/c", and "c".
std::string group_of(const std::string& path);
std::string last_of(const std::string& path);

/// An attribute, or a value that is no array, with its bytes as they are stored.
struct Datum {
    std::string name;
    Type type;
    SerializerType serializer = SerializerType::bp4;
    std::vector<std::byte> bytes;

    /// What it is for a format that has no types of its own for it: JSON text (of type opaque "json"), or text.
    bool is_json() const;
    bool is_text() const { return type.kind() == Kind::string; }
    std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
    /// The shape and the element of what it holds: none for a scalar, one for a sequence, those of an array; of a sequence without
    /// elements those of its rows, too. Only for types of fixed size and sequences of them. Errors: corrupt when the bytes are no whole number of elements.
    Dimensions shape() const;
    const Type& element() const;
    /// Whether shape() and element() can be asked: it was written as plain bytes of elements.
    bool is_plain() const;
};

/// A variable of the pool as an exporter sees it.
struct Variable {
    std::string path;  ///< below the group that is exported, without a leading `/`
    Info info;
    std::vector<std::string> dimensions;  ///< names, as many as dimensions, or none
    nlohmann::json origin;                ///< what the attribute `_exchange` says; null if it is not there
};

/// What of a pool is to be exported: a group and all below it, or one variable.
class Holding {
public:
    Holding(const PMEM& pool, const ExportOptions& options, ExchangeReport& report);

    /// Below the exported group, sorted, each group before what is in it; the exported group itself is ``.
    const std::vector<std::string>& groups() const { return groups_; }
    /// Arrays and values, sorted by path. Of one exported variable the path is its own name.
    const std::vector<Variable>& variables() const { return variables_; }
    /// Null if there is none of that path.
    const Variable* find(const std::string& path) const;
    /// What the attribute `_exchange` of a group says; null if it is not there.
    nlohmann::json origin(const std::string& group) const;

    /// The attributes of a group or variable, sorted by name, without `_exchange` and `_ARRAY_DIMENSIONS`.
    std::vector<Datum> attributes(const std::string& path) const;
    /// A value that is no array. Errors: not_found when somebody has erased it meanwhile.
    Datum value(const Variable& variable) const;
    /// Loads a box of an array, densely in the array's own order. What nobody has stored and has no fill value is zeros, with a
    /// warning.
    void load(const Variable& variable, void* data, const Box& box) const;
    /// The same before anything is exported: it does not count as progress.
    void look(const Variable& variable, void* data, const Box& box) const;
    std::uint64_t piece_bytes() const { return options_.piece_bytes; }
    /// As load, in C order whatever the array's; `turned` is used for those of a fortran array.
    std::span<const std::byte> load_as_c(const Variable& variable, const Box& box,
                                         std::vector<std::byte>& loaded,
                                         std::vector<std::byte>& turned) const;
    /// Calls visit(box, bytes) for all of an array, in C order (those of a fortran array are transposed): in boxes of at most
    /// about piece_bytes on a grid of `chunk` (empty: single elements).
    void each_piece(const Variable& variable, const Dimensions& chunk,
                    const std::function<void(const Box&, std::span<const std::byte>)>& visit) const;
    /// The same of a part of it, on a grid that begins where the part does.
    void each_piece(const Variable& variable, const Box& part, const Dimensions& chunk,
                    const std::function<void(const Box&, std::span<const std::byte>)>& visit) const;
    /// What stores have covered, which may overlap. Errors: not_found when somebody has erased it meanwhile.
    std::vector<Selection> stored(const Variable& variable) const;
    /// A warning, once for each variable, that some of its elements are zeros because nobody has stored them.
    void note_hole(const Variable& variable) const;

    /// Of these variables and groups, how many were private when they were listed or read.
    std::uint64_t count_private() const { return options_.only_shared ? 0 : private_.size(); }

    void count_group() { ++report_.groups; }
    void count_variable() { ++report_.variables; }
    void count_attribute() { ++report_.attributes; }
    /// Something of the pool does not come over as it is. Errors: unsupported if the user wants to be told by an error.
    void warn(std::string_view path, std::string_view what) const;

private:
    std::string id_of(const std::string& path) const;
    void list();
    void mark_private(const std::string& id);
    /// read(one side): the shared one as long as the object is there, so that nothing private is read of an object that does not
    /// count as private.
    template <class Read>
    auto read(const std::string& id, Read&& read) const;
    bool is_one_variable() const { return !variables_.empty() && variables_[0].info.id == options_.from; }
    bool hides(const std::string& path) const {
        return options_.only_shared && private_.contains(id_of(path));
    }

    const PMEM& pool_;
    std::optional<PMEM> shared_;  // none where the pool is a private side
    const ExportOptions& options_;
    ExchangeReport& report_;
    std::string base_;  // the exported group's id and a `/`, or empty
    std::vector<std::string> groups_;
    std::vector<Variable> variables_;
    mutable std::set<std::string> private_;  // ids; one that was private stays here, whatever becomes of it
    void load_covered(const PMEM& side, const Variable& variable, std::span<std::byte> data,
                      const Box& box) const;
    void count_bytes(std::uint64_t bytes) const;

    mutable std::uint64_t done_ = 0;
    mutable std::set<std::string> holes_;  // paths that there was a warning for
    std::uint64_t all_ = 0;
};

}  // namespace pmemcpy::exchange
