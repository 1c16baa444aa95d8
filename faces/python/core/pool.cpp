// Length: the class Pool has all verbs of PMEM, a few lines each.
#include "pool.hpp"

#include "bindings.hpp"
#include "buffer.hpp"
#include "dimensions.hpp"
#include "memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <pmemcpy/groups.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/repair.hpp>
#include <pmemcpy/scope.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace pmemcpy::python {

thread_local int InCallback::depth_ = 0;

void Pool::close() {
    InPrefetcher::refuse_if_in_one();
    if (InCallback::is_in_one())
        throw Error(Code::busy,
                    "close: this pool is in the middle of the call that this function was called from");
    const nb::gil_scoped_release released;
    const std::unique_lock lock(mutex_);
    pmem_.munmap();
}

namespace {

Mode parse_mode(std::string_view mode) {
    if (mode == "r") return Mode::read;
    if (mode == "r+") return Mode::update;
    if (mode == "a") return Mode::create_or_update;
    if (mode == "w") return Mode::replace;
    if (mode == "x") return Mode::exclusive;
    throw Error(Code::invalid_argument,
                "open: no mode is called '" + std::string(mode) + "'; there are r, r+, a, w and x");
}

Layout parse_layout(std::string_view layout) {
    if (layout == "automatic") return Layout::automatic;
    if (layout == "file") return Layout::file;
    if (layout == "directory") return Layout::directory;
    throw Error(Code::invalid_argument, "open: no layout is called '" + std::string(layout) +
                                            "'; there are automatic, file and directory");
}

IndexMode parse_index_mode(std::string_view mode) {
    for (const IndexMode one : {IndexMode::none, IndexMode::async, IndexMode::sync}) {
        if (mode == name_of(one)) return one;
    }
    throw Error(Code::invalid_argument, "no way to keep an index is called '" + std::string(mode) +
                                            "'; there are none, async and sync");
}

void open(Pool* self, const std::string& path, std::string_view mode, std::string_view layout,
          std::optional<bool> map_sync, std::uint64_t max_bytes, std::uint64_t initial_bytes,
          std::uint64_t chunk_bytes, unsigned permissions, bool prepare, bool checksums, bool characterise,
          bool verify_loads, int rank, int ranks, const std::string& program, std::string_view index,
          bool wipe, const Pool* again) {
    Options options;
    options.mode = parse_mode(mode);
    options.layout = parse_layout(layout);
    if (map_sync) options.map_sync = *map_sync ? MapSync::on : MapSync::off;
    options.max_bytes = max_bytes;
    options.initial_bytes = initial_bytes;
    options.chunk_bytes = chunk_bytes;
    options.permissions = permissions;
    options.prepare = prepare;
    options.checksums = checksums;
    options.characterise = characterise;
    options.verify_loads = verify_loads;
    options.rank = rank;
    options.ranks = ranks;
    options.program = program;
    options.index = parse_index_mode(index);
    options.wipe = wipe;
    if (again != nullptr) {
        new (self) Pool(*again, options);
        return;
    }
    new (self) Pool(path, options);
}

void alloc(const Pool& pool, std::string_view id, const Type& type, const Dimensions& dims,
           std::string_view codec, std::string_view order, bool contiguous, const nb::object& fill_value,
           std::string_view scope) {
    ArrayOptions options;
    options.codec = parse_codec(codec);
    if (order != "C" && order != "F")
        throw Error(Code::invalid_argument,
                    "create: no order is called '" + std::string(order) + "'; there are C and F");
    options.order = order == "F" ? Order::fortran : Order::c;
    options.contiguous = contiguous;
    if (!fill_value.is_none()) {
        const Buffer bytes(fill_value, false);
        options.fill_value.assign(bytes.bytes().begin(), bytes.bytes().end());
    }
    const Scope wanted = parse_scope(scope);
    pool.call([&](PMEM& pmem) {
        if (wanted == Scope::shared) return pmem.alloc(id, type, dims, options);
        if (pmem.exists(id) && scope_of(pmem, id) == Scope::shared) {
            throw Error(Code::already_exists,
                        "there is a '" + std::string(id) +
                            "' already, and it is shared; set_scope() makes it private");
        }
        private_side(pmem).alloc(id, type, dims, options);
    });
}

void store(const Pool& pool, std::string_view id, const Type& type, const nb::object& data,
           const Dimensions& offset, const Dimensions& count, const Dimensions& stride,
           const std::optional<std::string>& codec) {
    const Selection selection(offset, count, stride);
    const Buffer from(data, false);
    from.expect(selection.elements(), type.size());
    std::optional<Codec> chosen;
    if (codec) chosen = parse_codec(*codec);
    pool.call([&](PMEM& pmem) { pmem.store(id, type, from.bytes().data(), selection, chosen); });
}

void load(const Pool& pool, std::string_view id, const Type& type, const nb::object& data,
          const Dimensions& offset, const Dimensions& count, const Dimensions& stride,
          std::optional<std::uint64_t> step) {
    const Selection selection(offset, count, stride);
    const Buffer into(data, true);
    into.expect(selection.elements(), type.size());
    pool.call([&](PMEM& pmem) { pmem.load(id, type, into.bytes().data(), selection, step); });
}

/// The pinned memory from the first to the last element, and the strides in elements.
std::tuple<Memory, Dimensions> view(const Pool& pool, std::string_view id, const Type& type,
                                    const Dimensions& offset, const Dimensions& count,
                                    const Dimensions& stride, bool writable) {
    const Selection selection(offset, count, stride);
    const PMEM::RawView raw =
        pool.call([&](const PMEM& pmem) { return pmem.view(id, type, selection, writable); });
    std::uint64_t elements = selection.empty() ? 0 : 1;
    if (!selection.empty()) {
        for (int d = 0; d < count.size(); ++d) elements += (count[d] - 1) * raw.strides[d];
    }
    return {Memory{raw.pin, raw.data, elements * type.size(), writable}, raw.strides};
}

using Encoded = std::tuple<Type, std::string, nb::bytes>;

/// What `load` gives to its decoder, with the bytes as a Python object: the one copy that is made.
template <class Load>
Encoded encoded_by(const Pool& pool, Load&& load) {
    Type found;
    std::string serializer;
    nb::bytes bytes;
    pool.call([&](const PMEM& pmem) {
        load(pmem, [&](const Type& type, SerializerType by, std::span<const std::byte> value) {
            const InCallback python;
            found = type;
            serializer = name_of(by);
            bytes = nb::bytes(value.data(), value.size());
        });
    });
    return {found, serializer, bytes};
}

std::vector<Damage> verify(const Pool& pool, const nb::object& progress) {
    const std::function<void(std::uint64_t, std::uint64_t)> tell = [&](std::uint64_t done,
                                                                       std::uint64_t all) {
        const InCallback python;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress.is_none()) progress(done, all);
    };
    return pool.call([&](const PMEM& pmem) { return pmem.verify(tell); });
}

}  // namespace

void bind_pool(nb::module_& m) {
    nb::class_<Pool> pool(m, "Pool",
                          "A pool of named variables. Threads may share one; a forked child opens its own.");
    pool.def("__init__", &open, "path"_a, "mode"_a = "a", nb::kw_only(), "layout"_a = "automatic",
             "map_sync"_a = nb::none(), "max_bytes"_a = 0, "initial_bytes"_a = 0, "chunk_bytes"_a = 0,
             "permissions"_a = 0666, "prepare"_a = false, "checksums"_a = true, "characterise"_a = true,
             "verify_loads"_a = false, "rank"_a = -1, "ranks"_a = 0, "program"_a = "", "index"_a = "none",
             "wipe"_a = false, "again"_a.none() = nb::none())
        .def("close", &Pool::close)
        .def_prop_ro("is_open", &Pool::is_open)
        .def("sync", [](const Pool& p) { p.call([](PMEM& pmem) { pmem.sync(); }); })
        .def_prop_ro(
            "durability",
            [](const Pool& p) { return name_of(p.call([](PMEM& pmem) { return pmem.durability(); })); })
        .def_prop_ro("uuid",
                     [](const Pool& p) {
                         const auto uuid = p.call([](PMEM& pmem) { return pmem.uuid(); });
                         return nb::bytes(uuid.data(), uuid.size());
                     })
        .def("pool_info", [](const Pool& p) { return p.call([](PMEM& pmem) { return pmem.info(); }); })
        .def(
            "prepare",
            [](const Pool& p, std::uint64_t bytes) { p.call([&](PMEM& pmem) { pmem.prepare(bytes); }); },
            "bytes"_a = 0)
        .def("compact", [](const Pool& p) { p.call([](PMEM& pmem) { pmem.compact(); }); })
        .def("trim", [](const Pool& p) { return p.call([](PMEM& pmem) { return pmem.trim(); }); })
        .def("verify", &verify, "progress"_a = nb::none());

    pool.def("alloc", &alloc, "id"_a, "type"_a, "dims"_a, nb::kw_only(), "codec"_a = "none", "order"_a = "C",
             "contiguous"_a = false, "fill_value"_a = nb::none(), "scope"_a = "shared",
             nb::sig(
                 "def alloc(self, id: str, type: Type, dims: tuple[int | None, ...], *, codec: str = 'none', "
                 "order: str = 'C', contiguous: bool = False, fill_value: bytes | None = None, scope: str = "
                 "'shared') -> None"))
        .def("store", &store, "id"_a, "type"_a, "data"_a, "offset"_a, "count"_a, "stride"_a,
             "codec"_a = nb::none())
        .def("load", &load, "id"_a, "type"_a, "data"_a, "offset"_a, "count"_a, "stride"_a,
             "step"_a = nb::none())
        .def("view", &view, "id"_a, "type"_a, "offset"_a, "count"_a, "stride"_a, "writable"_a = false)
        .def("freeze",
             [](const Pool& p, std::string_view id) { p.call([&](PMEM& pmem) { pmem.freeze(id); }); });

    pool.def("store_value",
             [](const Pool& p, std::string_view id, const Type& type, std::string_view serializer,
                const nb::object& data) {
                 const Buffer from(data, false);
                 const SerializerType by = parse_serializer(serializer);
                 p.call([&](PMEM& pmem) { pmem.store_encoded(id, type, by, BytesEncoder(from.bytes())); });
             })
        .def("load_value",
             [](const Pool& p, std::string_view id) {
                 return encoded_by(
                     p, [&](const PMEM& pmem, const PMEM::Decode& decode) { pmem.load_encoded(id, decode); });
             })
        .def("view_value",
             [](const Pool& p, std::string_view id) {
                 const Pinned pin = p.call([&](const PMEM& pmem) { return pmem.view_bytes(id); });
                 return Memory{pin, pin.data(), pin.bytes().size(), false};
             })
        .def("set_attribute",
             [](const Pool& p, std::string_view id, std::string_view name, const Type& type,
                std::string_view serializer, const nb::object& data) {
                 const Buffer from(data, false);
                 const SerializerType by = parse_serializer(serializer);
                 p.call([&](PMEM& pmem) {
                     pmem.set_attribute_encoded(id, name, type, by, BytesEncoder(from.bytes()));
                 });
             })
        .def("set_attributes",
             [](const Pool& p, std::string_view id,
                const std::vector<std::tuple<std::string, Type, std::string, nb::object>>& all) {
                 std::vector<Attribute> attributes;
                 attributes.reserve(all.size());
                 for (const auto& [name, type, serializer, data] : all) {
                     attributes.emplace_back(name, type, parse_serializer(serializer),
                                             Buffer(data, false).bytes());
                 }
                 p.call([&](PMEM& pmem) { pmem.set_attributes(id, attributes); });
             })
        .def("get_attribute",
             [](const Pool& p, std::string_view id, std::string_view name) {
                 return encoded_by(p, [&](const PMEM& pmem, const PMEM::Decode& decode) {
                     pmem.get_attribute_encoded(id, name, decode);
                 });
             })
        .def("attributes",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](const PMEM& pmem) { return pmem.attributes(id); });
             })
        .def("attribute_info",
             [](const Pool& p, std::string_view id, std::string_view name) {
                 return p.call([&](const PMEM& pmem) { return pmem.attribute_info(id, name); });
             })
        .def("remove_attribute", [](const Pool& p, std::string_view id, std::string_view name) {
            p.call([&](PMEM& pmem) { pmem.remove_attribute(id, name); });
        });

    pool.def("exists",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](const PMEM& pmem) { return pmem.exists(id); });
             })
        .def("make_group",
             [](const Pool& p, std::string_view id) { p.call([&](PMEM& pmem) { pmem.make_group(id); }); })
        .def("index_info",
             [](const Pool& p) { return p.call([](const PMEM& pmem) { return index_info(pmem); }); })
        .def("set_index_mode",
             [](const Pool& p, std::string_view mode) {
                 const IndexMode parsed = parse_index_mode(mode);
                 p.call([&](PMEM& pmem) { set_index_mode(pmem, parsed); });
             })
        .def(
            "set_index_mode_of",
            [](const Pool& p, std::string_view id, const std::optional<std::string>& mode) {
                std::optional<IndexMode> parsed;
                if (mode) parsed = parse_index_mode(*mode);
                p.call([&](PMEM& pmem) { set_index_mode(pmem, id, parsed); });
            },
            "id"_a, "mode"_a.none())
        .def("index_mode_of",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](const PMEM& pmem) { return std::string(name_of(index_mode(pmem, id))); });
             })
        .def("scope_of",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](const PMEM& pmem) { return std::string(name_of(scope_of(pmem, id))); });
             })
        .def("set_scope",
             [](const Pool& p, std::string_view id, std::string_view scope) {
                 const Scope parsed = parse_scope(scope);
                 p.call([&](PMEM& pmem) { set_scope(pmem, id, parsed); });
             })
        .def("share",
             [](const Pool& p, std::string_view group, std::string_view text, std::string_view scope) {
                 const Scope parsed = parse_scope(scope);
                 return p.call([&](PMEM& pmem) {
                     Query query = Query::parse(text);
                     if (group != "/") query.within(group);
                     return share(pmem, query, parsed);
                 });
             })
        .def("flush_index", [](const Pool& p) { p.call([](PMEM& pmem) { flush_index(pmem); }); })
        .def("erase", [](const Pool& p, std::string_view id) { p.call([&](PMEM& pmem) { pmem.erase(id); }); })
        .def("erase_all",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](PMEM& pmem) { return erase_all(pmem, id); });
             })
        .def("keep_newest",
             [](const Pool& p, std::string_view group, std::size_t count) {
                 return p.call([&](PMEM& pmem) { return keep_newest(pmem, group, count); });
             })
        .def("rename", [](const Pool& p, std::string_view from,
                          std::string_view to) { p.call([&](PMEM& pmem) { pmem.rename(from, to); }); })
        .def(
            "ids",
            [](const Pool& p, std::string_view prefix) {
                return p.call([&](const PMEM& pmem) { return pmem.ids(prefix); });
            },
            "prefix"_a = "")
        .def(
            "groups",
            [](const Pool& p, std::string_view prefix) {
                return p.call([&](const PMEM& pmem) { return pmem.groups(prefix); });
            },
            "prefix"_a = "")
        .def("members",
             [](const Pool& p, std::string_view group) {
                 return p.call([&](const PMEM& pmem) { return members(pmem, group); });
             })
        .def("count_members",
             [](const Pool& p, std::string_view group) {
                 return p.call([&](const PMEM& pmem) { return count_members(pmem, group); });
             })
        .def("info",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](const PMEM& pmem) { return pmem.info(id); });
             })
        .def("creation",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](const PMEM& pmem) { return pmem.creation(id); });
             })
        .def("blocks",
             [](const Pool& p, std::string_view id) {
                 return p.call([&](const PMEM& pmem) { return pmem.blocks(id); });
             })
        .def("begin",
             [](const Pool& p, std::uint64_t step) { p.call([&](PMEM& pmem) { pmem.begin(step); }); })
        .def("commit",
             [](const Pool& p, std::uint64_t step) { p.call([&](PMEM& pmem) { pmem.commit(step); }); })
        .def("abandon", [](const Pool& p) { p.call([&](PMEM& pmem) { pmem.abandon(); }); });

    nb::class_<Watch>(m, "Watch", "Waits for stores under one id.")
        .def(
            "wait",
            [](Watch& watch, std::optional<double> seconds) {
                bool came = false;
                {
                    const nb::gil_scoped_release released;
                    std::optional<std::chrono::nanoseconds> at_most;
                    if (seconds) at_most = std::chrono::nanoseconds(std::llround(*seconds * 1e9));
                    came = watch.wait(at_most);
                }
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
                return came;
            },
            "seconds"_a = nb::none());
    pool.def("watch", [](const Pool& p, std::string_view id) {
        return p.call([&](const PMEM& pmem) { return pmem.watch(id); });
    });

    m.def(
        "repair",
        [](const std::string& from, const std::string& to) {
            const nb::gil_scoped_release released;
            return pmemcpy::repair(from, to);
        },
        "source"_a, "target"_a);
}

}  // namespace pmemcpy::python
