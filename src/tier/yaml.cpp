// A hierarchy as YAML. Every key is known or an error: a misspelt one would be a setting that somebody believes in.

#include "tier/cores.hpp"
#include "tier/hierarchy.hpp"
#include "tier/units.hpp"

#include <pmemcpy/error.hpp>

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <functional>
#include <map>
#include <string>

namespace pmemcpy {
namespace {

[[noreturn]] void refuse(const YAML::Node& node, const std::string& what) {
    const YAML::Mark mark = node.Mark();
    const std::string where = mark.line < 0 ? "" : "line " + std::to_string(mark.line + 1) + ": ";
    throw Error(Code::invalid_argument, "hierarchy: " + where + what);
}

using Keys = std::map<std::string, std::function<void(const YAML::Node&)>>;

void read_map(const YAML::Node& node, const std::string& what, const Keys& keys) {
    if (!node.IsMap()) refuse(node, what + " is written as `key: value`, and this is not");
    std::map<std::string, bool> seen;
    for (const auto& entry : node) {
        const auto key = entry.first.as<std::string>();
        const auto reader = keys.find(key);
        if (reader == keys.end()) {
            std::string known;
            for (const auto& [name, f] : keys) known.append(known.empty() ? "" : ", ").append(name);
            refuse(
                entry.first,
                std::string(what).append(" has no key '").append(key).append("'; there are ").append(known));
        }
        if (std::exchange(seen[key], true)) refuse(entry.first, "the key '" + key + "' is there twice");
        try {
            reader->second(entry.second);
        } catch (const Error& error) {
            const std::string message = error.what();
            if (error.kind() != Code::invalid_argument || message.find("hierarchy: ") != std::string::npos)
                throw;
            refuse(entry.second, std::string(key).append(": ").append(message));
        }
    }
}

std::string text_of(const YAML::Node& node) {
    if (!node.IsScalar()) refuse(node, "one word or number is expected here");
    return node.as<std::string>();
}

template <class T>
T whole_number(const YAML::Node& node) {
    const std::string text = text_of(node);
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
        refuse(node, "'" + text + "' is no whole number");
    return number;
}

bool yes_or_no(const YAML::Node& node) {
    const std::string text = text_of(node);
    if (text == "true" || text == "yes") return true;
    if (text == "false" || text == "no") return false;
    refuse(node, "'" + text + "' is neither true nor false");
}

void read_speed(const YAML::Node& node, Speed& speed) {
    read_map(
        node, "a speed",
        {{"bandwidth", [&](const auto& n) { speed.bytes_per_second = tier::parse_bandwidth(text_of(n)); }},
         {"latency", [&](const auto& n) { speed.latency_s = tier::parse_seconds(text_of(n)); }}});
}

Durability read_durability(const YAML::Node& node) {
    const std::string text = text_of(node);
    for (const Durability durability :
         {Durability::none, Durability::page, Durability::line, Durability::byte}) {
        if (text == name_of(durability)) return durability;
    }
    refuse(node, "'" + text + "' is no durability; there are none, page, line, byte");
}

Measured read_measured(const YAML::Node& node) {
    Measured m;
    read_map(node, "what was measured",
             {{"at", [&](const auto& n) { m.at = text_of(n); }},
              {"time", [&](const auto& n) { m.time_s = tier::parse_time(text_of(n)); }},
              {"file_system", [&](const auto& n) { m.file_system = text_of(n); }},
              {"device", [&](const auto& n) { m.device = text_of(n); }},
              {"size", [&](const auto& n) { m.size_bytes = tier::parse_bytes(text_of(n)); }},
              {"durability", [&](const auto& n) { m.durability = read_durability(n); }},
              {"direct", [&](const auto& n) { m.is_direct = yes_or_no(n); }},
              {"processes", [&](const auto& n) { m.processes = whole_number<std::uint32_t>(n); }},
              {"write", [&](const auto& n) { read_speed(n, m.write); }},
              {"read", [&](const auto& n) { read_speed(n, m.read); }}});
    return m;
}

std::uint32_t read_share(const YAML::Node& node) {
    const auto share = whole_number<std::uint32_t>(node);
    if (share < 1 || share > tier::most_share)
        refuse(node, "a share is a whole number from 1 to " + std::to_string(tier::most_share));
    return share;
}

Target read_target(const YAML::Node& node) {
    Target target;
    read_map(node, "a target",
             {{"name", [&](const auto& n) { target.name = text_of(n); }},
              {"kind", [&](const auto& n) { target.kind = tier::parse_kind(text_of(n)); }},
              {"path", [&](const auto& n) { target.path = text_of(n); }},
              {"capacity", [&](const auto& n) { target.capacity_bytes = tier::parse_bytes(text_of(n)); }},
              {"write", [&](const auto& n) { read_speed(n, target.write); }},
              {"read", [&](const auto& n) { read_speed(n, target.read); }},
              {"limited", [&](const auto& n) { target.limited = yes_or_no(n); }},
              {"share", [&](const auto& n) { target.share = read_share(n); }},
              {"together", [&](const auto& n) { target.together_bytes = tier::parse_bytes(text_of(n)); }},
              {"measured", [&](const auto& n) { target.measured = read_measured(n); }}});
    while (target.path.size() > 1 && target.path.back() == '/') target.path.pop_back();
    return target;
}

Dimensions read_numbers(const YAML::Node& node) {
    if (!node.IsSequence()) refuse(node, "a list of numbers is expected here, as [0, 128]");
    Dimensions numbers;
    for (const auto& number : node) numbers.push_back(whole_number<Extent>(number));
    return numbers;
}

Box read_box(const YAML::Node& node) {
    Box box;
    read_map(node, "a box",
             {{"offset", [&](const auto& n) { box.offset = read_numbers(n); }},
              {"count", [&](const auto& n) { box.count = read_numbers(n); }}});
    if (box.offset.size() != box.count.size() || box.count.empty())
        refuse(node, "a box has an offset and a count for each dimension");
    return box;
}

// "3", or "0-15": from one rank to another.
void read_ranks(const YAML::Node& node, Rule& rule) {
    const std::string text = text_of(node);
    std::int32_t first = 0;
    const char* const last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data(), last, first);
    std::int32_t to = first;
    if (error == std::errc{} && end != last && *end == '-') {
        const auto second = std::from_chars(end + 1, last, to);
        end = second.ptr;
        error = second.ec;
    }
    if (error != std::errc{} || end != last || first < 0)
        refuse(node, "'" + text + "' names no ranks; write 3, or 0-15");
    rule.first_rank = first;
    rule.last_rank = to;
}

double read_part(const YAML::Node& node) {
    try {
        return node.as<double>();
    } catch (const YAML::Exception&) {
        refuse(node, "a part of one is expected here, as 0.9");
    }
}

// "store", or [period, close].
void read_triggers(const YAML::Node& node, Flush& flush) {
    flush.on.clear();
    if (node.IsScalar()) return flush.on.push_back(tier::parse_trigger(text_of(node)));
    if (!node.IsSequence()) refuse(node, "a trigger is expected here, or a list of them, as [period, close]");
    for (const auto& name : node) flush.on.push_back(tier::parse_trigger(text_of(name)));
}

void read_flush(const YAML::Node& node, Flush& flush) {
    read_map(
        node, "flush",
        {{"to", [&](const auto& n) { flush.to = text_of(n); }},
         {"every", [&](const auto& n) { flush.period_s = tier::parse_seconds(text_of(n)); }},
         {"on", [&](const auto& n) { read_triggers(n, flush); }},
         {"bandwidth", [&](const auto& n) { flush.bytes_per_second = tier::parse_bandwidth(text_of(n)); }},
         {"threads", [&](const auto& n) { flush.threads = whole_number<unsigned>(n); }},
         {"cores", [&](const auto& n) { flush.cores = tier::parse_cores(text_of(n)); }},
         {"as", [&](const auto& n) { flush.as = text_of(n); }},
         {"command", [&](const auto& n) { flush.command = text_of(n); }},
         {"command_timeout",
          [&](const auto& n) { flush.command_timeout_s = tier::parse_seconds(text_of(n)); }}});
    if (node["command_timeout"] && !node["command"])
        refuse(node["command_timeout"], "there is a `command_timeout`, and no `command`");
}

void read_watermarks(const YAML::Node& node, Watermarks& marks) {
    read_map(node, "watermarks",
             {{"high", [&](const auto& n) { marks.high = read_part(n); }},
              {"low", [&](const auto& n) { marks.low = read_part(n); }}});
}

Rule read_rule(const YAML::Node& node) {
    Rule rule;
    read_map(node, "a rule",
             {{"match", [&](const auto& n) { rule.match = text_of(n); }},
              {"box", [&](const auto& n) { rule.box = read_box(n); }},
              {"ranks", [&](const auto& n) { read_ranks(n, rule); }},
              {"pin", [&](const auto& n) { rule.pin = text_of(n); }},
              {"prefer",
               [&](const auto& n) {
                   if (n.IsScalar()) return rule.prefer.push_back(text_of(n));
                   for (const auto& name : n) rule.prefer.push_back(text_of(name));
               }},
              {"never_evict", [&](const auto& n) { rule.never_evict = yes_or_no(n); }},
              {"mode", [&](const auto& n) { rule.mode = parse_buffering(text_of(n)); }},
              {"drop_after_flush", [&](const auto& n) { rule.drop_after_flush = yes_or_no(n); }},
              {"drop_after_read", [&](const auto& n) { rule.drop_after_read = yes_or_no(n); }}});
    return rule;
}

void write_speed(YAML::Emitter& out, const char* verb, const Speed& speed) {
    out << YAML::Key << verb << YAML::Value << YAML::Flow << YAML::BeginMap << YAML::Key << "bandwidth"
        << YAML::Value << tier::bandwidth_text(speed.bytes_per_second) << YAML::Key << "latency"
        << YAML::Value << tier::seconds_text(speed.latency_s) << YAML::EndMap;
}

void write_numbers(YAML::Emitter& out, const char* name, const Dimensions& numbers) {
    out << YAML::Key << name << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const Extent number : numbers) out << number;
    out << YAML::EndSeq;
}

void write_measured(YAML::Emitter& out, const Measured& m) {
    out << YAML::Key << "measured" << YAML::Value << YAML::BeginMap << YAML::Key << "at" << YAML::Value
        << m.at << YAML::Key << "time" << YAML::Value << tier::time_text(m.time_s) << YAML::Key
        << "file_system" << YAML::Value << m.file_system << YAML::Key << "device" << YAML::Value << m.device
        << YAML::Key << "size" << YAML::Value << tier::bytes_text(m.size_bytes) << YAML::Key << "durability"
        << YAML::Value << name_of(m.durability) << YAML::Key << "direct" << YAML::Value << m.is_direct
        << YAML::Key << "processes" << YAML::Value << m.processes;
    write_speed(out, "write", m.write);
    write_speed(out, "read", m.read);
    out << YAML::EndMap;
}

void write_target(YAML::Emitter& out, const Target& target) {
    out << YAML::BeginMap << YAML::Key << "name" << YAML::Value << target.name << YAML::Key << "kind"
        << YAML::Value << name_of(target.kind);
    if (!target.path.empty()) out << YAML::Key << "path" << YAML::Value << target.path;
    if (target.capacity_bytes != 0)
        out << YAML::Key << "capacity" << YAML::Value << tier::bytes_text(target.capacity_bytes);
    write_speed(out, "write", target.write);
    write_speed(out, "read", target.read);
    if (target.limited) out << YAML::Key << "limited" << YAML::Value << true;
    if (target.share != 1) out << YAML::Key << "share" << YAML::Value << target.share;
    if (target.together_bytes != 0)
        out << YAML::Key << "together" << YAML::Value << tier::bytes_text(target.together_bytes);
    if (target.measured) write_measured(out, *target.measured);
    out << YAML::EndMap;
}

void write_rule(YAML::Emitter& out, const Rule& rule) {
    out << YAML::BeginMap << YAML::Key << "match" << YAML::Value << YAML::DoubleQuoted << rule.match;
    if (rule.box) {
        out << YAML::Key << "box" << YAML::Value << YAML::Flow << YAML::BeginMap;
        write_numbers(out, "offset", rule.box->offset);
        write_numbers(out, "count", rule.box->count);
        out << YAML::EndMap;
    }
    if (rule.first_rank) {
        out << YAML::Key << "ranks" << YAML::Value
            << std::to_string(*rule.first_rank) + "-" +
                   std::to_string(rule.last_rank.value_or(*rule.first_rank));
    }
    if (!rule.pin.empty()) out << YAML::Key << "pin" << YAML::Value << rule.pin;
    if (!rule.prefer.empty()) {
        out << YAML::Key << "prefer" << YAML::Value << YAML::Flow << YAML::BeginSeq;
        for (const std::string& name : rule.prefer) out << name;
        out << YAML::EndSeq;
    }
    if (rule.never_evict) out << YAML::Key << "never_evict" << YAML::Value << true;
    if (rule.mode) out << YAML::Key << "mode" << YAML::Value << name_of(*rule.mode);
    if (rule.drop_after_flush) out << YAML::Key << "drop_after_flush" << YAML::Value << true;
    if (rule.drop_after_read) out << YAML::Key << "drop_after_read" << YAML::Value << true;
    out << YAML::EndMap;
}

template <class T, class Read>
std::vector<T> read_list(const YAML::Node& node, const char* what, const Read& read) {
    if (!node.IsSequence())
        refuse(node, std::string("a list of ") + what + " is expected here, each begun with `- `");
    std::vector<T> list;
    for (const auto& entry : node) list.push_back(read(entry));
    return list;
}

}  // namespace

Hierarchy parse_hierarchy(std::string_view yaml) {
    Hierarchy h;
    try {
        const YAML::Node root = YAML::Load(std::string(yaml));
        read_map(
            root, "a hierarchy",
            {{"targets", [&](const auto& n) { h.targets = read_list<Target>(n, "targets", read_target); }},
             {"policy", [&](const auto& n) { h.policy = tier::parse_policy(text_of(n)); }},
             {"granularity", [&](const auto& n) { h.granularity_bytes = tier::parse_bytes(text_of(n)); }},
             {"mode", [&](const auto& n) { h.mode = parse_buffering(text_of(n)); }},
             {"promotion", [&](const auto& n) { h.promotion = tier::parse_promotion(text_of(n)); }},
             {"replacement", [&](const auto& n) { h.replacement = tier::parse_replacement(text_of(n)); }},
             {"half_life", [&](const auto& n) { h.half_life_s = tier::parse_seconds(text_of(n)); }},
             {"flush", [&](const auto& n) { read_flush(n, h.flush); }},
             {"watermarks", [&](const auto& n) { read_watermarks(n, h.watermarks); }},
             {"rules", [&](const auto& n) { h.rules = read_list<Rule>(n, "rules", read_rule); }}});
    } catch (const YAML::Exception& error) {
        throw Error(Code::invalid_argument, std::string("hierarchy: it is no YAML: ") + error.what());
    }
    tier::check(h);
    return h;
}

std::string to_yaml(const Hierarchy& h) {
    YAML::Emitter out;
    out.SetDoublePrecision(17);
    out << YAML::BeginMap << YAML::Key << "targets" << YAML::Value << YAML::BeginSeq;
    for (const Target& target : h.targets) write_target(out, target);
    out << YAML::EndSeq << YAML::Key << "policy" << YAML::Value << name_of(h.policy) << YAML::Key
        << "granularity" << YAML::Value << tier::bytes_text(h.granularity_bytes) << YAML::Key << "mode"
        << YAML::Value << name_of(h.mode) << YAML::Key << "promotion" << YAML::Value << name_of(h.promotion);
    out << YAML::Key << "replacement" << YAML::Value << name_of(h.replacement) << YAML::Key << "half_life"
        << YAML::Value << tier::seconds_text(h.half_life_s);
    out << YAML::Key << "flush" << YAML::Value << YAML::Flow << YAML::BeginMap;
    if (!h.flush.to.empty()) out << YAML::Key << "to" << YAML::Value << h.flush.to;
    out << YAML::Key << "on" << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const Trigger trigger : h.flush.on) out << name_of(trigger);
    out << YAML::EndSeq << YAML::Key << "every" << YAML::Value << tier::seconds_text(h.flush.period_s);
    if (h.flush.threads != 0) out << YAML::Key << "threads" << YAML::Value << h.flush.threads;
    if (h.flush.bytes_per_second > 0)
        out << YAML::Key << "bandwidth" << YAML::Value << tier::bandwidth_text(h.flush.bytes_per_second);
    if (!h.flush.cores.empty()) out << YAML::Key << "cores" << YAML::Value << tier::cores_text(h.flush.cores);
    if (!h.flush.as.empty()) out << YAML::Key << "as" << YAML::Value << h.flush.as;
    if (!h.flush.command.empty())
        out << YAML::Key << "command" << YAML::Value << YAML::DoubleQuoted << h.flush.command << YAML::Key
            << "command_timeout" << YAML::Value << tier::seconds_text(h.flush.command_timeout_s);
    out << YAML::EndMap << YAML::Key << "watermarks" << YAML::Value << YAML::Flow << YAML::BeginMap
        << YAML::Key << "high" << YAML::Value << tier::number_text(h.watermarks.high) << YAML::Key << "low"
        << YAML::Value << tier::number_text(h.watermarks.low) << YAML::EndMap;
    if (!h.rules.empty()) {
        out << YAML::Key << "rules" << YAML::Value << YAML::BeginSeq;
        for (const Rule& rule : h.rules) write_rule(out, rule);
        out << YAML::EndSeq;
    }
    out << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

}  // namespace pmemcpy
