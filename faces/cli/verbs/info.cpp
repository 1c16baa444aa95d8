#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <pmemcpy/tiers.hpp>

#include "cli/call/exit_code.hpp"
#include "cli/call/invocation.hpp"
#include "cli/element/element.hpp"
#include "cli/pool/attributes.hpp"
#include "cli/pool/describe.hpp"
#include "cli/pool/open.hpp"
#include "cli/terminal/size.hpp"
#include "cli/terminal/table.hpp"

namespace pmemcpy::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_blocks = 20;  // that a person wants to read unasked
constexpr std::string_view pool_id = "/";

struct Arguments {
    std::string pool;
    std::string id;
    bool all_blocks = false;
    bool with_notes = false;
};

std::string hexadecimal(std::span<const std::uint8_t> bytes) {
    std::string text;
    for (const std::uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
}

void print_attributes(const std::vector<Attribute>& attributes) {
    if (attributes.empty()) return;
    Table table({{}, {}, {}});
    for (const Attribute& attribute : attributes) table.add({attribute.name, attribute.type, attribute.text});
    fmt::print("attributes\n{}", table.text(2));
}

Json attributes_json(const std::vector<Attribute>& attributes) {
    Json json = Json::object();
    for (const Attribute& attribute : attributes)
        json[attribute.name] = {{"type", attribute.type}, {"value", attribute.json}};
    return json;
}

Json pool_json(const PoolInfo& info) {
    return {{"pool", info.path},
            {"layout", info.layout},
            {"uuid", hexadecimal(info.uuid)},
            {"durability", pmemcpy::name_of(info.durability)},
            {"durability_reason", info.durability_reason},
            {"map_sync", info.map_sync},
            {"created_ns", info.created_ns},
            {"chunk_bytes", info.chunk_bytes},
            {"max_bytes", info.max_bytes},
            {"allocated_bytes", info.allocated_bytes},
            {"free_bytes", info.free_bytes},
            {"metadata_bytes", info.metadata_bytes},
            {"data_bytes", info.data_bytes},
            {"table_bytes", table_bytes(info)},
            {"retired_records", info.retired_records},
            {"attached", info.attached},
            {"committed_step", info.committed_step},
            {"wipes", info.wipes},
            {"others_in_step", info.others_in_step},
            {"variables", info.variables},
            {"groups", info.groups}};
}

struct Pending {
    Buffering mode;
    FlushProgress left;
    std::size_t others;  // pools, in all targets
    std::string command_trouble;
};

// Of a pool that has targets below it.
std::optional<Pending> pending(const PMEM& pmem) {
    const auto hierarchy = hierarchy_of(pmem);
    if (!hierarchy) return std::nullopt;
    Pending pending{hierarchy->mode, unflushed(pmem), 0, {}};
    for (const TargetInfo& target : targets(pmem)) {
        pending.others += target.others.size();
        pending.command_trouble += target.command_trouble;
    }
    return pending;
}

void print_pool(const PoolInfo& info, const std::optional<Pending>& pending) {
    Table table({{}, {}});
    table.add({"pool", info.path});
    table.add({"layout", info.layout});
    table.add({"uuid", hexadecimal(info.uuid)});
    table.add({"created", human_time(info.created_ns)});
    table.add(
        {"durability", fmt::format("{} ({})", pmemcpy::name_of(info.durability), info.durability_reason)});
    table.add({"map_sync", info.map_sync ? "on" : "off"});
    table.add({"chunk", human_size(info.chunk_bytes)});
    table.add({"may grow to", human_size(info.max_bytes)});
    table.add({"allocated", human_size(info.allocated_bytes)});
    table.add({"  free", human_size(info.free_bytes)});
    table.add({"  data", human_size(info.data_bytes)});
    table.add({"  metadata", human_size(info.metadata_bytes)});
    table.add({"  tables", human_size(table_bytes(info))});
    table.add(
        {"retired", fmt::format("{} records, kept by views or until the next sync", info.retired_records)});
    table.add({"attached", fmt::format("{} processes for writing", info.attached)});
    table.add({"step", info.committed_step == 0 ? "none committed" : std::to_string(info.committed_step)});
    table.add({"variables", std::to_string(info.variables)});
    table.add({"groups", std::to_string(info.groups)});
    if (pending) {
        table.add({"mode", pmemcpy::name_of(pending->mode)});
        table.add(
            {"not flushed", pending->left.of_blocks == 0
                                ? "nothing"
                                : fmt::format("{} in {} blocks; `pmemcpy drain` waits for them",
                                              human_size(pending->left.of_bytes), pending->left.of_blocks)});
        if (pending->others > 0)
            table.add(
                {"shared with",
                 fmt::format("{} other pools, in its targets; `pmemcpy tiers` shows them", pending->others)});
        if (!pending->command_trouble.empty()) table.add({"not handed over", pending->command_trouble});
    }
    fmt::print("{}", table.text());
}

std::string layout_text(const Info& info) {
    if (info.is_contiguous)
        return info.is_frozen ? "contiguous, frozen" : "contiguous, in place: no promise until freeze()";
    return "blocks as produced";
}

Json creator_json(const Creation& creation) {
    if (creation.created_ns == 0) return nullptr;
    return {{"user", creation.user},
            {"host", creation.host},
            {"program", creation.program},
            {"ranks", creation.ranks}};
}

std::string creator_text(const Creation& creation) {
    std::string text = creation.user + " on " + creation.host + ", by " + creation.program;
    if (creation.ranks != 0) text += fmt::format(", of {} ranks", creation.ranks);
    return text;
}

void print_variable(const Info& info, const Creation& creation) {
    Table table({{}, {}});
    table.add({"id", info.id});
    table.add({"kind", name_of(info.kind)});
    if (info.kind != VariableKind::group) {
        table.add({"type", info.type.name()});
        if (info.kind == VariableKind::array) {
            table.add({"shape", shape_text(info)});
            table.add({"order",
                       info.order == Order::c ? "c (last index fastest)" : "fortran (first index fastest)"});
            table.add({"layout", layout_text(info)});
            table.add({"codec", to_string(info.codec)});
            std::string fill = info.fill_value.empty() ? "none" : "";
            if (fill.empty()) append_text(fill, info.type, info.fill_value);
            table.add({"fill value", fill});
        }
        table.add({"serializer", name_of(info.serializer)});
        table.add({"size",
                   fmt::format("{}, {} in the pool", human_size(info.bytes), human_size(info.stored_bytes))});
        if (info.step != 0) table.add({"step", std::to_string(info.step)});
    }
    table.add({"written", human_time(info.written_ns)});
    if (creation.created_ns != 0) {
        table.add({"created", human_time(creation.created_ns)});
        table.add({"creator", creator_text(creation)});
    }
    fmt::print("{}", table.text());
}

std::string range_text(const BlockInfo& block, const Type& type) {
    if (!block.has_range || !type.is_fixed_size() || type.size() > block.minimum.size()) return "-";
    std::string text;
    append_text(text, type, std::span(block.minimum).first(type.size()));
    text += " .. ";
    append_text(text, type, std::span(block.maximum).first(type.size()));
    return text;
}

void print_blocks(const std::vector<BlockInfo>& blocks, const Type& type, bool all) {
    if (blocks.empty()) return;
    using Align = Table::Align;
    Table table({{"box"},
                 {"size", Align::right},
                 {"stored", Align::right},
                 {"written"},
                 {"writer", Align::right},
                 {"rank", Align::right},
                 {"step", Align::right},
                 {"min .. max"}});
    const std::size_t shown = all ? blocks.size() : std::min(blocks.size(), most_blocks);
    for (const BlockInfo& block : std::span(blocks).first(shown)) {
        table.add({to_string(block.box), human_size(block.bytes), human_size(block.stored_bytes),
                   human_time(block.written_ns), std::to_string(block.writer_pid),
                   block.writer_rank < 0 ? "-" : std::to_string(block.writer_rank),
                   block.step == 0 ? "-" : std::to_string(block.step), range_text(block, type)});
    }
    fmt::print("blocks ({})\n{}", blocks.size(), table.text(2));
    if (shown < blocks.size())
        fmt::print("  ... and {} more; --blocks shows them all\n", blocks.size() - shown);
}

int info(const Arguments& arguments, bool json) {
    const PMEM pmem = open_for_reading(arguments.pool);
    if (arguments.id.empty() || arguments.id == pool_id) {
        const PoolInfo pool = pmem.info();
        const auto attributes = attributes_of(pmem, pool_id, arguments.with_notes);
        if (json) {
            Json answer = pool_json(pool);
            const auto waits = pending(pmem);
            answer["mode"] = waits ? Json(pmemcpy::name_of(waits->mode)) : Json(nullptr);
            answer["unflushed_bytes"] = waits ? waits->left.of_bytes : 0;
            answer["shared_with"] = waits ? waits->others : 0;
            answer["command_trouble"] = waits ? waits->command_trouble : "";
            answer["attributes"] = attributes_json(attributes);
            fmt::print("{}\n", dump(answer));
        } else {
            print_pool(pool, pending(pmem));
            print_attributes(attributes);
        }
        return exit_ok;
    }
    const Info variable = pmem.info(arguments.id);
    const auto blocks =
        variable.kind == VariableKind::array ? pmem.blocks(arguments.id) : std::vector<BlockInfo>{};
    const auto attributes = attributes_of(pmem, arguments.id, arguments.with_notes);
    const Creation creation = pmem.creation(arguments.id);
    if (json) {
        Json answer = to_json(variable);
        answer["created_ns"] = creation.created_ns;
        answer["creator"] = creator_json(creation);
        answer["attributes"] = attributes_json(attributes);
        if (variable.kind == VariableKind::array) {
            answer["blocks"] = Json::array();
            for (const BlockInfo& block : blocks) answer["blocks"].push_back(to_json(block, variable.type));
        }
        fmt::print("{}\n", dump(answer));
    } else {
        print_variable(variable, creation);
        print_blocks(blocks, variable.type, arguments.all_blocks);
        print_attributes(attributes);
    }
    return exit_ok;
}

}  // namespace

void add_info(CLI::App& command, Invocation& invocation) {
    const auto arguments = std::make_shared<Arguments>();
    Verb(command, invocation, "info", "Tell what is known of a pool, a variable or a group")
        .needs("POOL", arguments->pool, "The pool")
        .takes("ID", arguments->id, "The variable or group (default: the pool itself)")
        .takes("--blocks", arguments->all_blocks, "All blocks of an array, not only the first 20")
        .takes("-a,--all", arguments->with_notes,
               "The attribute `_exchange`, too, in which an import leaves what an export of the same format "
               "needs")
        .takes_json("Print JSON, with all blocks")
        .runs([arguments](bool json) { return info(*arguments, json); });
}

}  // namespace pmemcpy::cli
