#pragma once

// pMEMCPY: scientific arrays in memory that outlives the program. Start with docs/tutorial.md.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <pmemcpy/attribute.hpp>
#include <pmemcpy/box.hpp>
#include <pmemcpy/durability.hpp>
#include <pmemcpy/error.hpp>
#include <pmemcpy/info.hpp>
#include <pmemcpy/options.hpp>
#include <pmemcpy/serializer.hpp>
#include <pmemcpy/type.hpp>
#include <pmemcpy/view.hpp>
#include <pmemcpy/watch.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pmemcpy {

namespace store {
class Store;
struct Which;
}  // namespace store
namespace index {
class Index;
}
namespace pmem {
class Sides;
}

/// Opens pools from a communicator. <pmemcpy/mpi.hpp> specialises it for MPI's, so that the library itself
/// knows no MPI.
template <class Communicator>
struct Collective;

/// A pool of named variables, shared by every process that has mapped it.
///
/// Crash: every call is all or nothing. If its process is killed at any instruction, the call has happened
///     completely or not at all, and no space is lost. Every process sees what a returned call stored.
///     durability() tells what survives a power loss; on `page` media that is everything before the last
///     successful sync().
/// Sharing: threads may share one PMEM. A forked child must open its own (busy).
/// Errors: pmemcpy::Error, with the codes that each call names. Any call may throw io_error, corrupt and, in
///     a forked child, busy. Calls that write throw permission_denied in a pool open for reading.
/// Source: Logan et al., pMEMCPY (CLUSTER 2021), Figure 2; pMAP poster, Figure 4.
class PMEM {
public:
    PMEM();
    ~PMEM();  ///< as munmap(), without errors; makes no MPI call
    PMEM(PMEM&&) noexcept;
    PMEM& operator=(PMEM&&) noexcept;

    // ---- the pool ----

    /// Opens the pool at `path`, and makes it if missing. A path that ends in `/` is a pool in the directory
    /// layout; `NAME:` and `NAME:x` are pools in a namespace (resolve_pool).
    /// Errors: not_found, already_exists, permission_denied, corrupt, no_space, unsupported, busy.
    void mmap(const std::string& path, const Options& options = {});
    /// Opens the pool from all ranks of a communicator on one node; the first rank makes it. Collective.
    /// Needs <pmemcpy/mpi.hpp>, which linking pmemcpy::mpi includes here.
    /// Errors: those of mmap(), the same in every rank; invalid_argument when the communicator spans nodes,
    ///     unless Options::per_node.
    template <class Communicator>
        requires requires { Collective<Communicator>{}; }
    void mmap(const std::string& path, Communicator comm, const Options& options = {}) {
        Collective<Communicator>::mmap(*this, path, comm, options);
    }
    /// Opens the pool that another object has open once more, by the name that it was opened under.
    /// Errors: those of mmap() with a path; busy when another pool has the name by now, or none.
    void mmap(const PMEM& open, const Options& options = {});
    /// Closes the pool; on `page` media it syncs first. Views stay valid until they are dropped.
    void munmap();
    /// Closes the pool as munmap() does, after its purpose has failed. Removes the pool if this object made
    /// it, nothing is stored in it, and no other object has it open for writing.
    /// Crash: the pool is there and empty, or its name is free.
    /// Sharing: a process that waits to open the pool while it is removed gets `busy`.
    void withdraw();
    /// True while a pool is open.
    bool is_mapped() const noexcept;

    /// Makes everything stored so far survive a power loss, on `page` media. Cheap on other media.
    void sync();
    /// The promise of the pool's medium.
    Durability durability() const;
    /// The number that tells the pool from all others, whatever its name is.
    std::array<std::uint8_t, 16> uuid() const;
    /// The properties of the pool.
    PoolInfo info() const;
    /// Allocates the pool's space up to `bytes`, and makes huge pages of all that is allocated. In the
    /// directory layout, where payloads become files later, it only checks that there is room for them.
    /// Cost: about 0.4 s/GiB, once; after that every new mapping of the pool copies at full speed.
    void prepare(std::uint64_t bytes = 0);
    /// Frees blocks that newer ones cover together, and versions that no reader can request any more.
    void compact();
    /// Returns free chunks to the file system. Returns their bytes.
    std::uint64_t trim();
    /// Reads everything and compares checksums. Calls progress(bytes done, bytes in all) now and then.
    std::vector<Damage> verify(const std::function<void(std::uint64_t, std::uint64_t)>& progress = {}) const;

    // ---- values: scalars, strings, vectors, structs, objects ----

    /// Stores a value under `id`; it replaces an older value.
    /// Errors: invalid_argument (id), already_exists (id is an array or a group), no_space.
    template <class T>
        requires(!std::is_pointer_v<T>)
    void store(std::string_view id, const T& value, SerializerType serializer = SerializerType::Default);
    void store(std::string_view id, const char* text) { store(id, std::string(text)); }

    /// Loads a value. Errors: not_found, type_mismatch.
    template <class T>
    T load(std::string_view id) const {
        T value{};
        load(id, value);
        return value;
    }
    template <class T>
        requires(!std::is_pointer_v<T>)
    void load(std::string_view id, T& value) const;

    /// The encoded bytes of a value in the pool, without a copy: for readers that work on them directly, such
    /// as Cap'n Proto.
    Pinned view_bytes(std::string_view id) const;

    // ---- arrays ----

    /// Creates an array, or finds it. Every rank may call this, with the same arguments.
    /// Shape: `dims`; the first may be `unlimited`. Without dimensions the array is one element; with a
    ///     dimension of 0 it has none.
    /// Errors: already_exists (of another type, shape or kind), invalid_argument, no_space.
    template <class T>
    void alloc(std::string_view id, int ndims, const std::size_t* dims,
               SerializerType serializer = SerializerType::Default) {
        ArrayOptions options;
        options.serializer = serializer;
        alloc(id, type_of<T>(), Dimensions(ndims, dims), options);
    }
    template <class T>
    void alloc(std::string_view id, const Dimensions& dims, const ArrayOptions& options = {}) {
        alloc(id, type_of<T>(), dims, options);
    }
    void alloc(std::string_view id, const Type& type, const Dimensions& dims,
               const ArrayOptions& options = {});

    /// Stores elements into a box or hyperslab of an array.
    /// Shape: `data` holds them densely, with the selection's count as shape, in the array's order.
    /// Crash: the whole selection appears, or none of it.
    /// Errors: not_found, type_mismatch, out_of_range, no_space; invalid_argument.
    template <class T>
    void store(std::string_view id, const T* data, int ndims, const std::size_t* offsets,
               const std::size_t* counts) {
        store(id, type_of<T>(), data, Box{Dimensions(ndims, offsets), Dimensions(ndims, counts)});
    }
    template <class T>
    void store(std::string_view id, const T* data, const Selection& selection,
               const std::optional<Codec>& codec = {}) {
        store(id, type_of<T>(), data, selection, codec);
    }
    void store(std::string_view id, const Type& type, const void* data, const Selection& selection,
               const std::optional<Codec>& codec = {});

    /// Loads any selection, whatever boxes were stored: each element from the newest block that has it.
    /// Shape: fills `data` densely, with the selection's count as shape. Writes nothing else.
    /// Errors: not_found (also for an element that no store covered, unless the array has a fill value),
    ///     type_mismatch, out_of_range. With `step`: not_found when that step is not kept.
    template <class T>
    void load(std::string_view id, T* data, int ndims, const std::size_t* offsets,
              const std::size_t* counts) const {
        load(id, type_of<T>(), data, Box{Dimensions(ndims, offsets), Dimensions(ndims, counts)});
    }
    template <class T>
    void load(std::string_view id, T* data, const Selection& selection,
              std::optional<std::uint64_t> step = {}) const {
        load(id, type_of<T>(), data, selection, step);
    }
    void load(std::string_view id, const Type& type, void* data, const Selection& selection,
              std::optional<std::uint64_t> step = {}) const;

    /// The present dimensions. With `dims` null, only their number.
    void load_dims(std::string_view id, int* ndims, std::size_t* dims) const;
    Dimensions load_dims(std::string_view id) const;

    /// Shows elements in the pool, without a copy, when one uncompressed block holds the whole selection.
    /// Errors: as load; unsupported when the selection lies in several blocks or in a compressed one.
    template <class T>
    View<const T> view(std::string_view id, const Selection& selection) const {
        RawView raw = view(id, type_of<T>(), selection, false);
        return {raw.pin, reinterpret_cast<const T*>(raw.data), selection.count, raw.strides};
    }
    template <class T>
    View<const T> view(std::string_view id) const {
        return view<T>(id, Box::whole(load_dims(id)));
    }
    /// A writable view of a contiguous array, shared by all processes. The promise does not cover the array
    /// until freeze().
    /// Errors: as view; invalid_argument when the array is not contiguous or already frozen.
    template <class T>
    View<T> update(std::string_view id, const Selection& selection) {
        RawView raw = view(id, type_of<T>(), selection, true);
        return {raw.pin, reinterpret_cast<T*>(raw.data), selection.count, raw.strides};
    }
    template <class T>
    View<T> update(std::string_view id) {
        return update<T>(id, Box::whole(load_dims(id)));
    }
    /// Computes the checksum of a contiguous array and brings the array under the promise. No updates are
    /// possible afterwards.
    /// Sharing: all stores and writes through views of update() must have ended before, by the ranks' own
    ///     barrier. A later write makes the array corrupt.
    void freeze(std::string_view id);

    // ---- names ----

    /// True if a variable or group has this id.
    bool exists(std::string_view id) const;
    /// Makes an empty group and its parents, for example one that only has attributes. A store makes the
    /// groups it needs by itself. Does nothing if the group exists; belongs to no step.
    /// Crash: a store whose process dies may leave an empty group that it had made.
    /// Errors: already_exists (a variable), invalid_argument (id), no_space.
    void make_group(std::string_view id);
    /// Erases a variable, or an empty group. Views of it stay valid.
    /// Errors: not_found; busy (a group with something in it).
    void erase(std::string_view id);
    /// Renames a variable, atomically.
    /// Errors: not_found, already_exists, unsupported (a group), busy (others keep erasing it, or storing
    ///     under the new name).
    void rename(std::string_view from, std::string_view to);
    /// The ids of all variables, or groups, that begin with `prefix`, sorted.
    std::vector<std::string> ids(std::string_view prefix = "") const;
    std::vector<std::string> groups(std::string_view prefix = "") const;
    Info info(std::string_view id) const;
    /// The blocks of an array. Errors: not_found.
    std::vector<BlockInfo> blocks(std::string_view id) const;
    /// The creator of a variable or group, and the time. Errors: not_found.
    Creation creation(std::string_view id) const;
    /// The persistent pointer to a variable or group. Errors: not_found.
    Oid oid(std::string_view id) const;
    /// The present name of what `oid` points to. Errors: not_found.
    std::string open(const Oid& oid) const;

    // ---- attributes, of variables and groups; those of "/" are the pool's ----

    /// Sets an attribute of a variable, a group or the pool. The value replaces an older one.
    /// Crash: the attribute has the old value or the new one.
    /// Errors: not_found, invalid_argument (name), no_space.
    template <class T>
        requires(!std::is_pointer_v<T>)
    void set_attribute(std::string_view id, std::string_view name, const T& value);
    void set_attribute(std::string_view id, std::string_view name, const char* text) {
        set_attribute(id, name, std::string(text));
    }
    /// Sets several attributes, in this order, as set_attribute() does. Followers of the pool's changes (the
    /// index, a watch) are notified once, so an index takes them at the price of one.
    /// Crash: some first ones are set; for all or none, set them in a step.
    /// Errors: those of set_attribute(): for names before any is set, else with the earlier ones set.
    /// Example: pmem.set_attributes("run", {{"author", "li"}, {"number", 3}, {"dt", 0.1}});
    void set_attributes(std::string_view id, std::span<const Attribute> attributes);
    void set_attributes(std::string_view id, std::initializer_list<Attribute> attributes) {
        set_attributes(id, std::span(attributes.begin(), attributes.size()));
    }
    /// The value of an attribute. Errors: not_found, type_mismatch.
    template <class T>
    T get_attribute(std::string_view id, std::string_view name) const;
    /// The names of all attributes. Errors: not_found.
    std::vector<std::string> attributes(std::string_view id) const;
    /// The properties of an attribute, without its value. Errors: not_found.
    Info attribute_info(std::string_view id, std::string_view name) const;
    /// Removes an attribute. Errors: not_found.
    void remove_attribute(std::string_view id, std::string_view name);

    /// Watches for stores of any process under `id`, which need not exist yet. Errors: invalid_argument (id).
    Watch watch(std::string_view id) const;

    // ---- time steps: several stores that appear at once ----

    /// What this PMEM stores from now on belongs to `step` and is seen by others when it is committed. Crash: a step that a
    /// process ended in without closing the pool is dropped by the first begin() after all others in it have closed it.
    /// Errors: invalid_argument when the step is not newer than the last committed one.
    void begin(std::uint64_t step);
    /// Shows the step of all processes, by one 8-byte store. The ranks' own barrier comes before.
    /// Crash: the step is seen whole or not at all. On `page` media this syncs the step's stores, as sync()
    ///     does, before it shows them.
    /// Errors: invalid_argument when no process has begun the step or it is committed already; busy when a
    ///     process ended in it without closing the pool, so that part of it may be missing, or when another
    ///     is stopped while it commits.
    void commit(std::uint64_t step);

    /// Gives up the step that this PMEM has begun: its stores are never seen. Other processes in the step
    /// cannot commit it any more (busy), because half of it would be missing; it can be begun anew.
    /// Crash: dropped now, or by the next begin() when others are still in the step.
    /// Errors: invalid_argument when this PMEM has begun no step, or another has committed it; busy when
    ///     another is stopped while it commits.
    void abandon();

    // ---- for faces that know types only at run time ----
    /// With `must_be_new`, something that is there already is an error (already_exists), and stays.
    void store_encoded(std::string_view id, const Type& type, SerializerType serializer,
                       const Encoder& encoder, bool must_be_new = false);
    using Decode =
        std::function<void(const Type& type, SerializerType serializer, std::span<const std::byte> bytes)>;
    void load_encoded(std::string_view id, const Decode& decode) const;
    void set_attribute_encoded(std::string_view id, std::string_view name, const Type& type,
                               SerializerType serializer, const Encoder& encoder, bool must_be_new = false);
    void get_attribute_encoded(std::string_view id, std::string_view name, const Decode& decode) const;
    using VisitAttribute = std::function<void(const std::string& name, const Type& type,
                                              SerializerType serializer, std::span<const std::byte> bytes)>;
    /// Visits all attributes in one walk. Asking for each by its name takes time that grows with the square
    /// of their number.
    void for_each_attribute_encoded(std::string_view id, const VisitAttribute& visit) const;
    struct RawView {
        Pinned pin;
        std::byte* data = nullptr;
        Dimensions strides;  // in elements
    };
    RawView view(std::string_view id, const Type& type, const Selection& selection, bool writable) const;
    SerializerType default_serializer() const;

private:
    friend class index::Index;
    friend class pmem::Sides;
    void open_alone(const std::string& place, const Options& options, const store::Which& which);
    bool load_raw(std::string_view id, const Type& type, void* value, std::size_t bytes) const;
    store::Store& opened() const;
    PMEM* own_side() const;
    const std::shared_ptr<store::Store>& side_of(std::string_view id) const;
    template <class F>
    auto found(std::string_view id, F&& f) const;
    template <class F>
    void on_both(F&& f) const;
    std::shared_ptr<store::Store> store_;
    std::shared_ptr<index::Index> index_;  // closed before the store
    std::shared_ptr<pmem::Sides> sides_;   // of a pool that is not itself one side of another
};

namespace detail {

template <class T>
concept PlainValue = Element<T> && RawObject<T>;

[[noreturn]] void throw_type_mismatch(std::string_view id, const Type& stored, const Type& asked);

template <class T>
void decode_checked(std::string_view id, const Type& stored, SerializerType serializer,
                    std::span<const std::byte> bytes, T& value) {
    const Type asked = value_type<T>();
    if (!compatible_for_load(stored, asked)) throw_type_mismatch(id, stored, asked);
    decode_object(serializer, bytes, value);
}

}  // namespace detail

template <class T>
    requires(!std::is_pointer_v<T>)
void PMEM::store(std::string_view id, const T& value, SerializerType serializer) {
    const SerializerType chosen = choose_serializer<T>(serializer, default_serializer());
    store_encoded(id, detail::value_type<T>(), chosen, *make_encoder(chosen, value));
}

template <class T>
    requires(!std::is_pointer_v<T>)
void PMEM::load(std::string_view id, T& value) const {
    if constexpr (detail::PlainValue<T>) {
        if (load_raw(id, type_of<T>(), &value, sizeof value)) return;
    }
    load_encoded(id, [&](const Type& stored, SerializerType serializer, std::span<const std::byte> bytes) {
        detail::decode_checked(id, stored, serializer, bytes, value);
    });
}

template <class T>
    requires(!std::is_pointer_v<T>)
void PMEM::set_attribute(std::string_view id, std::string_view name, const T& value) {
    const SerializerType chosen = choose_serializer<T>(SerializerType::Default, SerializerType::bp4);
    set_attribute_encoded(id, name, detail::value_type<T>(), chosen, *make_encoder(chosen, value));
}

template <class T>
T PMEM::get_attribute(std::string_view id, std::string_view name) const {
    T value{};
    get_attribute_encoded(
        id, name, [&](const Type& stored, SerializerType serializer, std::span<const std::byte> bytes) {
            detail::decode_checked(name, stored, serializer, bytes, value);
        });
    return value;
}

}  // namespace pmemcpy

#if defined(PMEMCPY_WITH_MPI) && !defined(PMEMCPY_MPI_HPP)
#include <pmemcpy/mpi.hpp>
#endif
