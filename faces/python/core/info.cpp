#include "bindings.hpp"
#include "dimensions.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <pmemcpy/index.hpp>
#include <pmemcpy/info.hpp>
#include <pmemcpy/repair.hpp>
#include <pmemcpy/serializer.hpp>

namespace nb = nanobind;

namespace pmemcpy::python {
namespace {

nb::bytes bytes_of(std::span<const std::byte> bytes) { return nb::bytes(bytes.data(), bytes.size()); }

}  // namespace

void bind_info(nb::module_& m) {
    nb::enum_<VariableKind>(m, "VariableKind")
        .value("value", VariableKind::value)
        .value("array", VariableKind::array)
        .value("group", VariableKind::group);

    nb::class_<Info>(m, "Info", "The properties of a variable or group, without its data.")
        .def_ro("id", &Info::id)
        .def_ro("kind", &Info::kind)
        .def_ro("type", &Info::type)
        .def_ro("dims", &Info::dims)
        .def_ro("is_unlimited", &Info::is_unlimited)
        .def_prop_ro("order", [](const Info& info) { return info.order == Order::fortran ? "F" : "C"; })
        .def_prop_ro("serializer", [](const Info& info) { return name_of(info.serializer); })
        .def_prop_ro("codec", [](const Info& info) { return to_string(info.codec); })
        .def_ro("is_contiguous", &Info::is_contiguous)
        .def_ro("is_frozen", &Info::is_frozen)
        .def_prop_ro("fill_value", [](const Info& info) { return bytes_of(info.fill_value); })
        .def_ro("blocks", &Info::blocks)
        .def_ro("size_bytes", &Info::bytes)
        .def_ro("stored_bytes", &Info::stored_bytes)
        .def_ro("step", &Info::step)
        .def_ro("written_ns", &Info::written_ns)
        .def_ro("attributes", &Info::attributes);

    nb::class_<Creation>(m, "Creation", "Creator and time of creation of a variable or group.")
        .def_ro("created_ns", &Creation::created_ns)
        .def_ro("user", &Creation::user)
        .def_ro("host", &Creation::host)
        .def_ro("program", &Creation::program)
        .def_ro("ranks", &Creation::ranks);

    nb::class_<BlockInfo>(m, "BlockInfo", "One block of an array: the result of one store.")
        .def_prop_ro("offset", [](const BlockInfo& block) { return block.box.offset; })
        .def_prop_ro("count", [](const BlockInfo& block) { return block.box.count; })
        .def_prop_ro("stride", [](const BlockInfo& block) { return block.box.stride; })
        .def_ro("version", &BlockInfo::version)
        .def_ro("step", &BlockInfo::step)
        .def_ro("written_ns", &BlockInfo::written_ns)
        .def_ro("writer_pid", &BlockInfo::writer_pid)
        .def_ro("writer_rank", &BlockInfo::writer_rank)
        .def_ro("size_bytes", &BlockInfo::bytes)
        .def_ro("stored_bytes", &BlockInfo::stored_bytes)
        .def_ro("crc", &BlockInfo::crc)
        .def_ro("is_frozen", &BlockInfo::is_frozen)
        .def_prop_ro("codec", [](const BlockInfo& block) { return to_string(Codec{.kind = block.codec}); })
        .def_ro("has_range", &BlockInfo::has_range)
        .def_prop_ro("minimum", [](const BlockInfo& block) { return bytes_of(block.minimum); })
        .def_prop_ro("maximum", [](const BlockInfo& block) { return bytes_of(block.maximum); });

    nb::class_<IndexInfo>(m, "IndexInfo", "The state of the index of a pool.")
        .def_prop_ro("mode", [](const IndexInfo& info) { return name_of(info.mode); })
        .def_ro("is_complete", &IndexInfo::is_complete)
        .def_ro("objects", &IndexInfo::objects)
        .def_ro("objects_to_do", &IndexInfo::objects_to_do)
        .def_ro("changes_behind", &IndexInfo::changes_behind)
        .def_ro("size_bytes", &IndexInfo::bytes)
        .def_ro("trouble", &IndexInfo::trouble);
    nb::class_<PoolInfo>(m, "PoolInfo", "The properties of the pool itself.")
        .def_ro("path", &PoolInfo::path)
        .def_ro("layout", &PoolInfo::layout)
        .def_prop_ro("uuid",
                     [](const PoolInfo& info) { return bytes_of(std::as_bytes(std::span(info.uuid))); })
        .def_prop_ro("durability", [](const PoolInfo& info) { return name_of(info.durability); })
        .def_ro("durability_reason", &PoolInfo::durability_reason)
        .def_ro("map_sync", &PoolInfo::map_sync)
        .def_ro("created_ns", &PoolInfo::created_ns)
        .def_ro("chunk_bytes", &PoolInfo::chunk_bytes)
        .def_ro("max_bytes", &PoolInfo::max_bytes)
        .def_ro("allocated_bytes", &PoolInfo::allocated_bytes)
        .def_ro("free_bytes", &PoolInfo::free_bytes)
        .def_ro("metadata_bytes", &PoolInfo::metadata_bytes)
        .def_ro("data_bytes", &PoolInfo::data_bytes)
        .def_ro("retired_records", &PoolInfo::retired_records)
        .def_ro("attached", &PoolInfo::attached)
        .def_ro("committed_step", &PoolInfo::committed_step)
        .def_ro("wipes", &PoolInfo::wipes)
        .def_ro("others_in_step", &PoolInfo::others_in_step)
        .def_ro("variables", &PoolInfo::variables)
        .def_ro("groups", &PoolInfo::groups);

    nb::class_<Damage>(m, "Damage", "One damaged block or value that verify() found.")
        .def_ro("id", &Damage::id)
        .def_prop_ro("offset", [](const Damage& damage) { return damage.box.offset; })
        .def_prop_ro("count", [](const Damage& damage) { return damage.box.count; })
        .def_ro("what", &Damage::what);

    nb::class_<Repair>(m, "Repair", "What repair() saved, and what it did not.")
        .def_ro("variables", &Repair::variables)
        .def_ro("unreadable_bytes", &Repair::unreadable_bytes)
        .def_ro("damages", &Repair::damages)
        .def_ro("private_files", &Repair::private_files);
}

}  // namespace pmemcpy::python
