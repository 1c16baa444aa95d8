#include "tier/hierarchy.hpp"
#include "tier/rules.hpp"

#include <pmemcpy/error.hpp>

#include <gtest/gtest.h>

#include <string>

namespace pmemcpy::tier {
namespace {

const std::string whole = R"(targets:
  - name: pool
    kind: tmpfs
    write: {bandwidth: 6.1 GB/s, latency: 1.2 us}
    read: {bandwidth: 7 GB/s, latency: 1 us}
  - name: nvme
    kind: file
    path: /local/scratch/
    capacity: 400 GB
    write: {bandwidth: 2 GB/s, latency: 80 us}
    read: {bandwidth: 3 GB/s, latency: 90 us}
policy: hot-data
granularity: 4 MiB
replacement: lfu
half_life: 90 s
rules:
  - match: "checkpoint/**"
    ranks: 0-3
    pin: nvme
  - match: u
    box: {offset: [0, 0], count: [4, 8]}
    prefer: [nvme, pool]
    never_evict: true
)";

std::string refusal(const std::string& yaml) {
    try {
        parse_hierarchy(yaml);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::invalid_argument);
        return error.what();
    }
    return "accepted";
}

std::string changed(const std::string& from, const std::string& to) {
    std::string text = whole;
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(hierarchy, is_what_its_file_says) {
    const Hierarchy h = parse_hierarchy(whole);
    ASSERT_EQ(h.targets.size(), 2u);
    EXPECT_EQ(h.targets[0].kind, TargetKind::tmpfs);
    EXPECT_DOUBLE_EQ(h.targets[0].write.bytes_per_second, 6.1e9);
    EXPECT_DOUBLE_EQ(h.targets[1].read.latency_s, 90e-6);
    EXPECT_EQ(h.targets[1].path, "/local/scratch");
    EXPECT_EQ(h.targets[1].capacity_bytes, 400'000'000'000u);
    EXPECT_EQ(h.policy, Policy::hot_data);
    EXPECT_EQ(h.granularity_bytes, 4u << 20);
    EXPECT_EQ(h.replacement, Replacement::lfu);
    EXPECT_DOUBLE_EQ(h.half_life_s, 90);
    ASSERT_EQ(h.rules.size(), 2u);
    EXPECT_EQ(h.rules[0].last_rank, 3);
    EXPECT_EQ(h.rules[1].prefer, (std::vector<std::string>{"nvme", "pool"}));
    EXPECT_TRUE(h.rules[1].never_evict);
}

TEST(hierarchy, written_and_read_again_is_the_same) {
    const std::string text = to_yaml(parse_hierarchy(whole));
    EXPECT_EQ(to_yaml(parse_hierarchy(text)), text);
    const Hierarchy h = parse_hierarchy(text);
    EXPECT_EQ(h.rules[1].box, (Box{{0, 0}, {4, 8}}));
    EXPECT_EQ(h.targets[1].capacity_bytes, 400'000'000'000u);
}

TEST(hierarchy, is_written_as_a_person_would) {
    EXPECT_NE(to_yaml(Hierarchy{.targets = parse_hierarchy(whole).targets}).find("{high: 0.9, low: 0.75}"),
              std::string::npos);
}

TEST(hierarchy, says_how_a_target_is_shared) {
    const std::string text =
        to_yaml(parse_hierarchy(changed("capacity: 400 GB", "share: 3\n    together: 2 TB")));
    const Hierarchy h = parse_hierarchy(text);
    EXPECT_EQ(h.targets[1].share, 3u);
    EXPECT_EQ(h.targets[1].together_bytes, 2'000'000'000'000u);
    EXPECT_EQ(h.targets[0].share, 1u);
    EXPECT_EQ(to_yaml(h), text);
    Hierarchy odd = h;
    odd.targets[0].together_bytes = 1;
    EXPECT_THROW(tier::check(odd), Error);
    odd = h;
    odd.targets[1].share = 1001;
    EXPECT_THROW(tier::check(odd), Error);
}

TEST(hierarchy, says_what_is_wrong_with_it_and_where) {
    const auto expect = [](const std::string& yaml, const std::string& part) {
        EXPECT_NE(refusal(yaml).find(part), std::string::npos) << refusal(yaml);
    };
    expect(changed("capacity: 400 GB", "capacity: -400 GB"), "line 9: capacity: '-400 GB' is negative");
    expect(changed("capacity: 400 GB", "capactiy: 400 GB"),
           "line 9: a target has no key 'capactiy'; there are capacity");
    expect(changed("capacity: 400 GB", "capacity: 400 furlongs"), "the unit 'furlongs'");
    expect(changed("capacity: 400 GB", "share: 0"), "line 9: a share is a whole number from 1 to 1000");
    expect(changed("capacity: 400 GB", "share: -3"), "line 9: '-3' is no whole number");
    expect(changed("capacity: 400 GB", "together: some"), "line 9: together: ");
    expect(changed("kind: file", "kind: floppy"), "'floppy' is no kind of target; there are dax, tmpfs");
    expect(changed("policy: hot-data", "policy: hot"), "'hot' is no policy");
    expect(changed("2 GB/s", "20 GB/s"), "'nvme' is faster to write than 'pool' above it");
    expect(changed("    path: /local/scratch/\n", ""), "'nvme' has no path");
    expect(changed("/local/scratch/", "scratch"), "begin it with a slash");
    expect(changed("name: nvme", "name: pool"), "two targets have the name 'pool'");
    expect(changed("pin: nvme", "pin: tape"), "there is no target 'tape'; there are pool, nvme");
    expect(changed("ranks: 0-3", "ranks: 3-0"), "higher rank");
    expect(changed("ranks: 0-3", "ranks: all"), "'all' names no ranks");
    expect(changed("replacement: lfu", "replacement: oldest"),
           "'oldest' is no replacement; there are fifo, lru, lfu, application");
    expect(changed("half_life: 90 s", "half_life: 0 s"), "`half_life` is a time above zero");
    expect(changed("granularity: 4 MiB", "granularity: 0"), "granularity of 0");
    expect(changed("    read: {bandwidth: 3 GB/s, latency: 90 us}\n", ""), "how fast it is to read");
    expect(changed("count: [4, 8]", "count: [4]"), "an offset and a count for each dimension");
    expect(changed("policy: hot-data", "policy: hot-data\npolicy: hot-data"), "there twice");
    expect("targets: [", "no YAML");
    expect("", "written as `key: value`");
    expect("policy: hot-data", "no targets");
    EXPECT_EQ(refusal(whole), "accepted");
}

TEST(hierarchy, triggers_and_lifetimes_are_what_its_file_says) {
    const std::string more = "  - match: log\n    mode: scratch\n    drop_after_read: yes\n";
    const Hierarchy h = parse_hierarchy(whole + more + "flush: {on: [store, close], every: 2 s}\n");
    EXPECT_EQ(h.flush.on, (std::vector<Trigger>{Trigger::store, Trigger::close}));
    EXPECT_EQ(h.rules[2].mode, Buffering::scratch);
    EXPECT_TRUE(h.rules[2].drop_after_read);
    EXPECT_EQ(to_yaml(parse_hierarchy(to_yaml(h))), to_yaml(h));
    EXPECT_EQ(parse_hierarchy(to_yaml(h)).flush.on, h.flush.on);
    EXPECT_EQ(parse_hierarchy(whole + "flush: {on: exit}\n").flush.on, std::vector<Trigger>{Trigger::exit});
    EXPECT_EQ(parse_hierarchy(whole).flush.on, std::vector<Trigger>{Trigger::period});
    const auto expect = [](const std::string& yaml, const std::string& part) {
        EXPECT_NE(refusal(yaml).find(part), std::string::npos) << refusal(yaml);
    };
    expect(whole + "flush: {on: never}\n", "'never' is no trigger; there are period, store, close, exit");
    expect(whole + "flush: {on: []}\n", "names no trigger");
    expect(whole + "flush: {on: {store: 1}}\n", "a trigger is expected here");
    expect(whole + "flush: {on_close: yes}\n", "has no key 'on_close'");
    expect(whole + more + "    drop_after_flush: yes\n", "scratch, which is never flushed");
}

TEST(hierarchy, a_mode_that_is_set_comes_before_all_rules_and_keeps_what_was_said_of_the_id) {
    Hierarchy h = parse_hierarchy(whole);
    set_mode(h, "/", Buffering::none);
    EXPECT_EQ(h.mode, Buffering::none);
    h.rules.push_back({.match = "v", .never_evict = true});
    set_mode(h, "v", Buffering::scratch);
    ASSERT_EQ(h.rules.size(), 3u) << "it has changed the rule that there was";
    EXPECT_EQ(h.rules[0].match, "v");
    EXPECT_TRUE(h.rules[0].never_evict);
    set_mode(h, "u", Buffering::bypass);
    ASSERT_EQ(h.rules.size(), 4u) << "the rule for a box of it stays";
    EXPECT_FALSE(h.rules[0].never_evict);
    EXPECT_EQ(h.rules[0].mode, Buffering::bypass);
    EXPECT_EQ(Rules(h.rules).find("u", Box{{2, 2}, {1, 1}}, -1)->mode, Buffering::bypass);
    set_mode(h, "u", Buffering::none);
    EXPECT_EQ(h.rules.size(), 4u);
}

const std::string measured =
    "    measured: {at: /local/scratch, time: 2026-11-24T21:40:12Z, file_system: ext4, device: "
    "/dev/nvme0n1p2, size: 500 GB, "
    "durability: page, direct: true, processes: 4, write: {bandwidth: 2.5 GB/s, latency: 90 us}, "
    "read: {bandwidth: 5 GB/s, latency: 95 us}}\n";

std::string with_measured(const std::string& from = "", const std::string& to = "") {
    std::string text = measured;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return changed("policy: hot-data", text + "policy: hot-data");
}

TEST(hierarchy, remembers_what_it_was_measured_on) {
    const Hierarchy h = parse_hierarchy(to_yaml(parse_hierarchy(with_measured())));
    EXPECT_FALSE(h.targets[0].measured);
    ASSERT_TRUE(h.targets[1].measured);
    const Measured& m = *h.targets[1].measured;
    EXPECT_EQ(m.at, "/local/scratch");
    EXPECT_EQ(m.time_s, 1'795'556'412u);
    EXPECT_EQ(m.file_system, "ext4");
    EXPECT_EQ(m.device, "/dev/nvme0n1p2");
    EXPECT_EQ(m.size_bytes, 500'000'000'000u);
    EXPECT_EQ(m.durability, Durability::page);
    EXPECT_TRUE(m.is_direct);
    EXPECT_EQ(m.processes, 4u);
    EXPECT_DOUBLE_EQ(m.write.bytes_per_second, 2.5e9);
    EXPECT_DOUBLE_EQ(m.read.latency_s, 95e-6);
}

TEST(hierarchy, says_what_is_wrong_with_what_was_measured) {
    EXPECT_NE(refusal(with_measured("2026-11", "2026-13")).find("is no time"), std::string::npos);
    EXPECT_NE(refusal(with_measured("page", "paper")).find("'paper' is no durability"), std::string::npos);
    EXPECT_NE(refusal(with_measured("processes: 4", "processes: 0")).find("not whole"), std::string::npos);
    EXPECT_NE(refusal(with_measured("device", "devise")).find("has no key 'devise'"), std::string::npos);
}

TEST(hierarchy, without_speeds_it_names_who_measures_them) {
    const std::string text = refusal(changed("    write: {bandwidth: 2 GB/s, latency: 80 us}\n", ""));
    EXPECT_NE(text.find("`pmemcpy profile`"), std::string::npos) << text;
}

TEST(hierarchy, the_first_rule_that_matches_counts) {
    const Rules rules(parse_hierarchy(whole).rules);
    const Box box{{2, 2}, {1, 1}};
    EXPECT_EQ(rules.find("checkpoint/a/b", box, 3)->pin, "nvme");
    EXPECT_EQ(rules.find("checkpoint/a/b", box, 4), nullptr);
    EXPECT_TRUE(rules.find("u", box, -1)->never_evict);
    EXPECT_EQ(rules.find("u", Box{{4, 0}, {1, 8}}, -1), nullptr);
    EXPECT_EQ(rules.find("v", box, -1), nullptr);
}

}  // namespace
}  // namespace pmemcpy::tier
