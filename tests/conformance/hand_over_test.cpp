// What is durable in the flush target is handed to a command: a shell script here, as a stager would be.

#include <pmemcpy/tiers.hpp>

#include "tests/conformance/outcome.hpp"
#include "tests/conformance/two_targets.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::uint64_t width = 1024;

class handing_over : public TwoTargets {
protected:
    handing_over() { fs::create_directory(below_ / "archive"); }
    PMEM open(unsigned permissions = 0600) const {
        Options options;
        options.max_bytes = 8 * mebibyte;
        options.chunk_bytes = 64 << 10;
        options.permissions = permissions;
        PMEM pool;
        pool.mmap(here_ / "pool", options);
        return pool;
    }
    Hierarchy hierarchy(const std::string& command, double timeout_s = 60) const {
        Hierarchy h = TwoTargets::hierarchy(Buffering::none, 5);
        h.promotion = Promotion::never;
        h.flush.on = {Trigger::close};
        h.flush.command = command;
        h.flush.command_timeout_s = timeout_s;
        return h;
    }
    /// A program that a user wrote.
    std::string script(const std::string& body) const {
        std::string path = below_ / "stager";
        std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
        ::chmod(path.c_str(), 0755);
        return path;
    }
    static void store(PMEM& pool, std::uint64_t i) {
        pool.alloc<double>("a", {unlimited, width});
        pool.store<double>("a", numbers(static_cast<double>(i), width).data(), Box{{i, 0}, {1, width}});
    }
    static std::size_t staged(const PMEM& pool) {
        std::size_t count = 0;
        for (const Receipt& each : receipts(pool, "a")) count += each.is_staged ? 1U : 0U;
        return count;
    }
    /// What the command has written down, without what it wrote of inventories, of which the background makes some too.
    std::vector<std::string> log() const {
        std::ifstream file(below_ / "log");
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) {
            if (line.find("inventory-") == std::string::npos) lines.push_back(line);
        }
        return lines;
    }
};

TEST_F(handing_over, takes_each_file_once_and_the_pool_can_be_rebuilt_where_they_were_taken) {
    {
        PMEM pool = open();
        set_hierarchy(
            pool, hierarchy(script("echo \"$3\" >> '" + std::string(below_ / "log") + "'; cp \"$1\" \"$2\"") +
                            " {file} '" + std::string(below_ / "archive") + "/{name}' \"{name} id={id}\""));
        store(pool, 0);
        store(pool, 1);
        EXPECT_EQ(staged(pool), 0u);
        flush(pool);
        EXPECT_EQ(staged(pool), 2u);
        EXPECT_EQ(unstaged(pool).of_blocks, 0u);
        flush(pool);
        EXPECT_EQ(log().size(), 2u);
        store(pool, 2);
        flush(pool);
        EXPECT_EQ(staged(pool), 3u);
        EXPECT_EQ(log().size(), 3u);
        EXPECT_EQ(log()[0].substr(16), " id=a");
    }
    fs::remove(here_ / "pool");
    fs::remove_all(below_ / "pfs");
    EXPECT_EQ(rebuild(below_ / "archive", here_ / "again").blocks, 3u);
}

TEST_F(handing_over, that_fails_says_why_and_is_tried_again) {
    PMEM pool = open();
    const std::string ready = below_ / "ready";
    set_hierarchy(pool,
                  hierarchy(script("[ -e '" + ready + "' ] || { echo no route to host >&2; exit 7; }")));
    store(pool, 0);
    EXPECT_EQ(code_of([&] { flush(pool); }, "exit code 7: no route to host"), Code::io_error);
    EXPECT_TRUE(receipts(pool, "a")[0].is_flushed) << "it lies in the flush target";
    EXPECT_EQ(staged(pool), 0u);
    EXPECT_EQ(unstaged(pool).of_blocks, 1u);
    PMEM reader;
    reader.mmap(here_ / "pool", {.mode = Mode::read});
    EXPECT_NE(targets(reader)[1].command_trouble.find("no route to host"), std::string::npos)
        << "all who look are told";
    EXPECT_EQ(targets(reader)[1].trouble, "") << "the target itself is well";
    std::ofstream(ready) << "yes";
    flush(pool);
    EXPECT_EQ(staged(pool), 1u);
    EXPECT_EQ(targets(reader)[1].command_trouble, "");
}

TEST_F(handing_over, of_many_files_gives_up_after_three_failures) {
    PMEM pool = open();
    set_hierarchy(pool,
                  hierarchy(script("echo $1 >> '" + std::string(below_ / "log") + "'; exit 1") + " {name}"));
    for (std::uint64_t i = 0; i < 10; ++i) store(pool, i);
    EXPECT_EQ(code_of([&] { flush(pool); }, "exit code 1"), Code::io_error);
    const auto tried = log();
    EXPECT_EQ(std::set<std::string>(tried.begin(), tried.end()).size(), 3u);
}

TEST_F(handing_over, goes_on_in_the_background) {
    PMEM pool = open();
    const std::string ready = below_ / "ready";
    Hierarchy h = hierarchy(script("[ -e '" + ready + "' ]"));
    h.mode = Buffering::write_back;
    h.flush.on = {Trigger::period};
    h.flush.period_s = 0.05;
    set_hierarchy(pool, h);
    store(pool, 0);
    wait_until("the command failed", [&] { return !targets(pool)[1].command_trouble.empty(); });
    std::ofstream(ready) << "yes";
    wait_until("it was tried again", [&] { return staged(pool) == 1; });
    wait_until("all was done", [&] { return targets(pool)[1].command_trouble.empty(); });
}

TEST_F(handing_over, a_command_that_hangs_is_killed_with_what_it_has_started) {
    const std::string child = below_ / "child";
    {
        PMEM pool = open();
        Hierarchy h = hierarchy(script("sleep 10000 & echo $! > '" + child + "'; wait"), 0.3);
        h.mode = Buffering::write_back;
        h.flush.on = {Trigger::close};
        set_hierarchy(pool, h);
        store(pool, 0);
    }  // returns
    PMEM pool = open();
    EXPECT_NE(targets(pool)[1].command_trouble.find("longer than"), std::string::npos);
    EXPECT_EQ(staged(pool), 0u);
    pid_t its = 0;
    std::ifstream(child) >> its;
    ASSERT_GT(its, 0);
    wait_until("its child was gone", [&] {
        std::ifstream stat("/proc/" + std::to_string(its) + "/stat");
        std::string text;
        std::getline(stat, text);
        return text.empty() || text.find(") Z") != std::string::npos;
    });
}

TEST_F(handing_over, of_a_process_that_is_killed_meanwhile_is_done_by_the_next) {
    const std::string begun = below_ / "begun";
    const pid_t child = fork();
    if (child == 0) {
        PMEM pool = open();
        set_hierarchy(pool, hierarchy(script("if [ -e '" + begun + "' ]; then exit 0; fi; echo $$ > '" +
                                             begun + "'; exec sleep 10000")));
        store(pool, 0);
        flush(pool);
        _exit(0);
    }
    pid_t command = 0;
    wait_until("it began", [&] { return std::ifstream(begun) >> command && command > 0; });
    PMEM reader;
    reader.mmap(here_ / "pool", {.mode = Mode::read});
    wait_until("the block was flushed", [&] { return unstaged(reader).of_blocks == 1; });
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    kill(command, SIGKILL);  // which has outlived who started it
    EXPECT_EQ(staged(reader), 0u);
    PMEM pool = open();
    flush(pool);
    EXPECT_EQ(staged(pool), 1u);
}

TEST_F(handing_over, needs_a_program_that_is_there) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy("no-such-stager {file}"));
    store(pool, 0);
    EXPECT_EQ(code_of([&] { flush(pool); }, "no such program in PATH"), Code::io_error);
    set_hierarchy(pool, hierarchy(std::string(below_ / "nothing") + " {file}"));
    EXPECT_EQ(code_of([&] { flush(pool); }, "no such program"), Code::io_error);
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, hierarchy("put {fiel}")); }, "{file}"),
              Code::invalid_argument);
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, hierarchy("put 'a")); }, "quote"), Code::invalid_argument);
    EXPECT_EQ(code_of([&] { set_hierarchy(pool, hierarchy("put", 0)); }, "command_timeout"),
              Code::invalid_argument);
    set_hierarchy(pool, hierarchy("true {file}"));
    flush(pool);
    EXPECT_EQ(staged(pool), 1u);
}

TEST_F(handing_over, is_not_done_in_a_pool_where_others_may_choose_the_command) {
    PMEM pool = open();
    set_hierarchy(pool, hierarchy("true"));
    store(pool, 0);
    fs::permissions(here_ / "pool", fs::perms(0620));
    EXPECT_EQ(code_of([&] { flush(pool); }, "others may write the pool"), Code::permission_denied);
    EXPECT_EQ(staged(pool), 0u);
}

TEST_F(handing_over, is_in_the_hierarchy_as_it_was_given) {
    Hierarchy h = hierarchy("put \"a b\" '{file}' {name}", 90);
    const Hierarchy again = parse_hierarchy(to_yaml(h));
    EXPECT_EQ(again.flush.command, h.flush.command);
    EXPECT_EQ(again.flush.command_timeout_s, 90);
    Hierarchy without = hierarchy("");
    without.flush.threads = 2;
    std::string yaml = to_yaml(without);
    yaml.replace(yaml.find("threads: 2"), 10, "command_timeout: 5 s");
    EXPECT_EQ(code_of([&] { parse_hierarchy(yaml); }, "no `command`"), Code::invalid_argument);
}

}  // namespace
}  // namespace pmemcpy
