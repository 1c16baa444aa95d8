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
}
namespace index {
class Index;
}
namespace pmem {
class Sides;
}

/// What <pmemcpy/mpi.hpp> specialises for MPI's communicators, so that the library itself knows no MPI.
template <class Communicator>
struct Collective;

/// A pool of named variables, shared by every process that has mapped it.
///
/// Crash: every call is all or nothing: killed at any instruction, it has happened completely or not at all, and
///     no space is lost. What a returned call stored is seen by every process at once. What survives a power
///     loss is what durability() says; on `page` media that is everything before the last successful sync().
/// Sharing: threads may share one PMEM. A forked child must open its own (busy).
/// Errors: pmemcpy::Error, with the codes that each call names besides io_error, corrupt and (in a forked
///     child) busy, which any call may throw. Calls that write throw permission_denied in a pool open for reading.
/// Source: Logan et al., pMEMCPY (CLUSTER 2021), Figure 2; pMAP poster, Figure 4.
class PMEM {
public:
    PMEM();
    ~PMEM();  ///< munmap() without the errors; makes no MPI call
    PMEM(PMEM&&) noexcept;
    PMEM& operator=(PMEM&&) noexcept;

    // ---- the pool ----

    /// Opens the pool at `path`, made if missing. A path that ends in `/` is a pool in the directory layout; `NAME:` and
    /// `NAME:x` are pools in a namespace (resolve_pool).
    /// Errors: not_found, already_exists, permission_denied, corrupt, no_space, unsupported, busy.
    void mmap(const std::string& path, const Options& options = {});
    /// The same from all ranks of a communicator on one node: the first makes the pool. Collective.
    /// Needs <pmemcpy/mpi.hpp>, which linking pmemcpy::mpi includes here.
    /// Errors: the same in every rank; invalid_argument when the communicator spans nodes, unless Options::per_node.
    template <class Communicator>
        requires requires { Collective<Communicator>{}; }
    void mmap(const std::string& path, Communicator comm, const Options& options = {}) {
        Collective<Communicator>::mmap(*this, path, comm, options);
    }
    /// Closes the pool; on `page` media after a sync. Views stay valid until dropped.
    void munmap();
    /// Closes the pool as munmap() does, when what it was made for has failed. It is removed if this object made it, nothing is stored
    /// in it, and no other object has it open for writing; else it stays.
    /// Crash: the pool is there, and empty, or its name is free.
    /// Sharing: a process that waits to open the pool while it is removed is told so (busy).
    void withdraw();
    bool is_mapped() const noexcept;

    /// On `page` media: everything stored so far survives a power loss when this returns. Elsewhere cheap.
    void sync();
    Durability durability() const;
    PoolInfo info() const;
    /// Allocates ahead until `bytes` are there, and makes huge pages of all that is allocated. In the directory
    /// layout payloads are files that come later: only the room for them is checked.
    /// Cost: about 0.4 s/GiB, once; after that every new mapping of the pool copies at full speed.
    void prepare(std::uint64_t bytes = 0);
    /// Frees blocks that newer ones cover together, and versions no reader can ask for any more.
    void compact();
    /// Gives free chunks back to the file system. Returns bytes.
    std::uint64_t trim();
    /// Reads everything and checks it. Calls progress(bytes done, bytes in all) now and then.
    std::vector<Damage> verify(const std::function<void(std::uint64_t, std::uint64_t)>& progress = {}) const;

    // ---- values: scalars, strings, vectors, structs, objects ----

    /// Stores a value under `id`, in the place of an older value.
    /// Errors: invalid_argument (id), already_exists (id is an array or a group), no_space.
    template <class T>
        requires(!std::is_pointer_v<T>)
    void store(std::string_view id, const T& value, SerializerType serializer = SerializerType::Default);
    void store(std::string_view id, const char* text) { store(id, std::string(text)); }

    /// Errors: not_found, type_mismatch.
    template <class T>
    T load(std::string_view id) const {
        T value{};
        load(id, value);
        return value;
    }
    template <class T>
        requires(!std::is_pointer_v<T>)
    void load(std::string_view id, T& value) const;

    /// The encoded bytes of a value where they lie: for readers that need no copy, such as Cap'n Proto.
    Pinned view_bytes(std::string_view id) const;

    // ---- arrays ----

    /// Creates an array, or finds it: every rank may call this, with the same arguments.
    /// Shape: `dims`; the first may be `unlimited`; no dimension is one element, a dimension of 0 none.
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

    /// Loads any selection, whatever boxes were stored; each element from the newest block that has it.
    /// Shape: fills `data` densely, with the selection's count as shape. Nothing else is written.
    /// Errors: not_found (also: an element that no store covered, unless the array has a fill value),
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

    /// The dimensions as they are now. With `dims` null only their number.
    void load_dims(std::string_view id, int* ndims, std::size_t* dims) const;
    Dimensions load_dims(std::string_view id) const;

    /// Elements where they lie, without a copy, when one uncompressed block holds the whole selection.
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
    /// A writable view of a contiguous array, shared by all processes. Outside the promise until freeze().
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
    /// Checksums a contiguous array as it is and brings it under the promise. No more updates after that.
    /// Sharing: whoever stores into it or writes through a view of update() has ended before, by the ranks' own barrier; what
    ///     is written later than the checksum makes the array corrupt.
    void freeze(std::string_view id);

    // ---- names ----

    bool exists(std::string_view id) const;
    /// Makes an empty group, and those above it, such as one that only has attributes: what is stored in a group makes it by
    /// itself. Nothing happens if it is there. A step has no part in it.
    /// Crash: a store that dies may leave an empty group that it has made for what it was to store.
    /// Errors: already_exists (a variable), invalid_argument (id), no_space.
    void make_group(std::string_view id);
    /// Erases a variable, or an empty group. Views of it stay valid.
    /// Errors: not_found; busy (a group with something in it).
    void erase(std::string_view id);
    /// Gives a variable another name, atomically.
    /// Errors: not_found, already_exists, unsupported (a group), busy (others erase it, or store under the new name all the time).
    void rename(std::string_view from, std::string_view to);
    /// Variables whose id begins with `prefix`, sorted.
    std::vector<std::string> ids(std::string_view prefix = "") const;
    std::vector<std::string> groups(std::string_view prefix = "") const;
    Info info(std::string_view id) const;
    std::vector<BlockInfo> blocks(std::string_view id) const;
    /// Who created a variable or group, and when. Errors: not_found.
    Creation creation(std::string_view id) const;
    Oid oid(std::string_view id) const;
    /// The present name of what `oid` points to. Errors: not_found.
    std::string open(const Oid& oid) const;

    // ---- attributes, of variables and groups; those of "/" are the pool's ----

    template <class T>
        requires(!std::is_pointer_v<T>)
    void set_attribute(std::string_view id, std::string_view name, const T& value);
    void set_attribute(std::string_view id, std::string_view name, const char* text) {
        set_attribute(id, name, std::string(text));
    }
    /// Several, in this order: each as set_attribute() sets it, and who follows the pool's changes (the index, a watch) hears of them
    /// once, so that an index takes them in at the price of one.
    /// Crash: the first so many of them are set; to have all or none, set them in a step.
    /// Errors: those of set_attribute(); of names before any is set, else with those before it set.
    /// Example: pmem.set_attributes("run", {{"author", "li"}, {"number", 3}, {"dt", 0.1}});
    void set_attributes(std::string_view id, std::span<const Attribute> attributes);
    void set_attributes(std::string_view id, std::initializer_list<Attribute> attributes) {
        set_attributes(id, std::span(attributes.begin(), attributes.size()));
    }
    template <class T>
    T get_attribute(std::string_view id, std::string_view name) const;
    std::vector<std::string> attributes(std::string_view id) const;
    Info attribute_info(std::string_view id, std::string_view name) const;
    void remove_attribute(std::string_view id, std::string_view name);

    /// Waits for what any process stores under `id`, which need not be there yet. Errors: invalid_argument (id).
    Watch watch(std::string_view id) const;

    // ---- time steps: several stores that appear at once ----

    /// What this PMEM stores from now on belongs to `step` and is seen by others when it is committed. Crash: a step that a
    /// process ended in without closing the pool is dropped by the first begin() after all others in it have closed it.
    /// Errors: invalid_argument when the step is not newer than the last committed one.
    void begin(std::uint64_t step);
    /// Shows the step, whoever stored it, by one 8-byte store. The ranks' own barrier comes before. Crash: seen or not, and
    /// whole; so on page media this syncs what was stored, as sync() does, before it shows it.
    /// Errors: invalid_argument when nobody has begun it or it is committed already; busy when a process ended in it without
    /// closing the pool, so that part of it may be missing, or when one is stopped while it commits.
    void commit(std::uint64_t step);

    /// Gives up the step that this PMEM has begun: what is stored in it is never seen. Others in the step can't commit it any
    /// more (busy), for it would be half; it can be begun anew. Crash: dropped now, or by the next begin() when others still
    /// are in the step.
    /// Errors: invalid_argument when this PMEM has begun no step, or another has committed it; busy when one is stopped while it commits.
    void abandon();

    // ---- for faces that know types only at run time ----

    void store_encoded(std::string_view id, const Type& type, SerializerType serializer,
                       const Encoder& encoder);
    using Decode =
        std::function<void(const Type& type, SerializerType serializer, std::span<const std::byte> bytes)>;
    void load_encoded(std::string_view id, const Decode& decode) const;
    void set_attribute_encoded(std::string_view id, std::string_view name, const Type& type,
                               SerializerType serializer, const Encoder& encoder);
    void get_attribute_encoded(std::string_view id, std::string_view name, const Decode& decode) const;
    using VisitAttribute = std::function<void(const std::string& name, const Type& type,
                                              SerializerType serializer, std::span<const std::byte> bytes)>;
    /// All of them by name, in one walk: to ask for each one by its name takes time that grows with the square of their number.
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
    void open_alone(const std::string& place, const Options& options, std::uint64_t committed = 0);
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
