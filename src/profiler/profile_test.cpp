#include <pmemcpy/profile.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>
#include <pmemcpy/error.hpp>

#include "profiler/simulated_suite.hpp"
#include "tier/hierarchy.hpp"

namespace pmemcpy::profiler {
namespace {

class Profiler : public testing::Test {
protected:
    Profiler() {
        options.seconds = 60, options.bytes = 16 << 20, options.processes = 1;
        for (const int number : {1, 2, 3}) machine.device(number).write_bytes_per_s = 99'000'000;
    }

    Profile profile_of(const std::vector<int>& devices) {
        std::vector<std::string> directories;
        directories.reserve(devices.size());
        for (const int number : devices) directories.push_back(machine.path(number));
        return profile(directories, options);
    }
    Fit::State state_of(const Hierarchy& hierarchy, std::size_t target) {
        return check_profile(hierarchy, options).at(target).state;
    }
    void slow_down(int number, std::uint64_t times) {
        machine.device(number).write_bytes_per_s = 100'000'000 / times;
        machine.device(number).read_bytes_per_s = 200'000'000 / times;
    }

    simulated::Machine machine;
    ProfileOptions options;
};

void expect_near(double found, double expected) { EXPECT_NEAR(found / expected, 1, 0.05) << found; }

std::string code_and_message(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return std::string(name_of(error.kind())) + ": " + error.what();
    }
    return "no error";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Profiler, finds_out_how_fast_a_device_is) {
    const Target target = profile_of({0}).hierarchy.targets.at(0);
    expect_near(target.write.bytes_per_second, 100e6);
    expect_near(target.read.bytes_per_second, 200e6);
    expect_near(target.write.latency_s, 20e-6 + 4096 / 100e6);
    expect_near(target.read.latency_s, 20e-6 + 4096 / 200e6);
    EXPECT_TRUE(target.path.empty());
    ASSERT_TRUE(target.measured);
    EXPECT_EQ(target.measured->at, machine.path(0));
    EXPECT_EQ(target.measured->file_system, "ext4");
    EXPECT_EQ(target.measured->device, "/dev/sim0");
    EXPECT_TRUE(target.measured->is_direct);
    EXPECT_TRUE(machine.device(0).was_direct);
}

TEST_F(Profiler, writes_a_hierarchy_that_is_accepted_as_it_is) {
    machine.device(1).write_bytes_per_s = 900'000'000;
    machine.device(2).write_bytes_per_s = 500'000'000;
    const Hierarchy h = parse_hierarchy(to_yaml(profile_of({0, 1, 2}).hierarchy));
    ASSERT_EQ(h.targets.size(), 3u);
    EXPECT_EQ(h.targets[0].name, "pool");
    EXPECT_EQ(h.targets[0].measured->at, machine.path(1));
    EXPECT_EQ(h.targets[1].path, machine.path(2));
    EXPECT_EQ(h.targets[2].path, machine.path(0));
    EXPECT_NE(h.targets[1].name, h.targets[2].name);
    EXPECT_EQ(h.targets[2].capacity_bytes, (std::uint64_t{90} << 30));  // a tenth is left to others
}

TEST_F(Profiler, measures_several_processes_at_once) {
    options.processes = 3;
    const Target target = profile_of({0}).hierarchy.targets.at(0);
    EXPECT_EQ(target.measured->processes, 3u);
    // One device: together they get no more than one does, and each waits for the others.
    EXPECT_LE(target.measured->write.bytes_per_second, 1.3 * target.write.bytes_per_second);
    EXPECT_GE(target.measured->write.latency_s, target.write.latency_s);
}

TEST_F(Profiler, leaves_nothing_behind) {
    machine.device(1).refuses_unnamed = true;
    EXPECT_EQ(profile_of({0, 1}).hierarchy.targets.size(), 2u);
    EXPECT_TRUE(std::filesystem::is_empty(machine.path(0)));
    EXPECT_TRUE(std::filesystem::is_empty(machine.path(1)));
}

TEST_F(Profiler, syncs_where_the_page_cache_cannot_be_passed) {
    machine.device(0).refuses_direct = true;
    const Target target = profile_of({0}).hierarchy.targets.at(0);
    EXPECT_FALSE(target.measured->is_direct);
    expect_near(target.write.bytes_per_second, 100e6);
}

TEST_F(Profiler, a_device_that_is_a_thousand_times_slower_takes_no_more_than_the_time_there_is) {
    slow_down(0, 5000);
    options.seconds = 20;
    const double begin = machine.seconds();
    const Target target = profile_of({0}).hierarchy.targets.at(0);
    EXPECT_LE(machine.seconds() - begin, options.seconds);
    expect_near(target.write.bytes_per_second, 20e3);
}

TEST_F(Profiler, takes_an_eighth_of_what_is_free_at_most) {
    machine.device(0).free_bytes = 16 << 20;
    profile_of({0});
    EXPECT_LE(machine.device(0).taken_bytes, std::uint64_t{2} << 20);
    EXPECT_GT(machine.device(0).taken_bytes, 0u);
    machine.device(0).free_bytes = 100 << 10;
    EXPECT_TRUE(says(profile_of({0, 1}).set_aside.at(0).why, "only 100 KiB free"));
}

TEST_F(Profiler, sets_aside_what_fails_and_says_why) {
    for (const int error : {EIO, ENOSPC, EROFS, EDQUOT}) {
        machine.device(0).error = error;
        const Profile found = profile_of({0, 1});
        ASSERT_EQ(found.set_aside.size(), 1u) << error;
        EXPECT_EQ(found.set_aside[0].path, machine.path(0));
        EXPECT_TRUE(says(found.set_aside[0].why, std::generic_category().message(error)))
            << found.set_aside[0].why;
        EXPECT_EQ(found.hierarchy.targets.at(0).measured->at, machine.path(1));
    }
}

TEST_F(Profiler, sets_aside_what_hangs_when_its_time_is_over) {
    machine.device(0).hangs = true;
    options.seconds = 100;
    const double begin = machine.seconds();
    const Profile found = profile({machine.path(0), machine.path(1)}, options, [&](const ProfileProgress& p) {
        simulated::world->waiting_takes = p.path == machine.path(0) ? 10 : 0;
    });
    EXPECT_LE(machine.seconds() - begin, options.seconds + 2);
    ASSERT_EQ(found.set_aside.size(), 1u);
    EXPECT_TRUE(says(found.set_aside[0].why, machine.path(0) + " does not answer")) << found.set_aside[0].why;
    EXPECT_EQ(found.hierarchy.targets.at(0).measured->at, machine.path(1));
}

TEST_F(Profiler, where_nothing_can_be_measured_every_reason_is_told) {
    machine.device(0).error = EIO;
    const std::string text = code_and_message([&] {
        profile({machine.path(0), machine.path(1) + "/no"}, options);
    });
    EXPECT_TRUE(says(text, "not_found")) << text;
    EXPECT_TRUE(says(text, "Input/output error")) << text;
    EXPECT_TRUE(says(text, "there is no directory " + machine.path(1) + "/no")) << text;
}

TEST_F(Profiler, the_pool_comes_first_and_what_is_faster_is_set_aside) {
    machine.device(1).write_bytes_per_s = 900'000'000;
    slow_down(2, 10);
    options.pool = machine.path(0) + "/";
    const Profile found = profile_of({0, 1, 2});
    ASSERT_EQ(found.hierarchy.targets.size(), 2u);
    EXPECT_EQ(found.hierarchy.targets[0].measured->at, machine.path(0));
    EXPECT_EQ(found.hierarchy.targets[1].path, machine.path(2));
    EXPECT_TRUE(says(found.set_aside.at(0).why, "faster to write"));
}

TEST_F(Profiler, without_the_place_of_the_pool_there_is_no_profile) {
    options.pool = machine.path(0);
    machine.device(0).error = EIO;
    const std::string text = code_and_message([&] { profile_of({1}); });
    EXPECT_TRUE(says(text, "the place of the pool could not be measured") && says(text, machine.path(0)))
        << text;
}

TEST_F(Profiler, refuses_what_makes_no_sense) {
    const auto refused = [&](const std::vector<std::string>& directories = {}) {
        return code_and_message([&] { profile(directories, options); });
    };
    const ProfileOptions sound = options;
    EXPECT_TRUE(says(refused({machine.path(0), machine.path(0) + "/"}), "are one directory"));
    std::vector<std::string> many;
    many.reserve(9);
    for (int i = 0; i < 9; ++i) many.push_back(machine.path(0) + "/" + std::to_string(i));
    EXPECT_TRUE(says(refused(many), "at most 8 targets"));
    options.seconds = 0;
    EXPECT_TRUE(says(refused(), "invalid_argument"));
    options = sound, options.seconds = -std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(says(refused(), "invalid_argument"));
    options = sound, options.bytes = 1000;
    EXPECT_TRUE(says(refused(), "1 MiB"));
    options = sound, options.reserve = 1;
    EXPECT_TRUE(says(refused(), "reserve"));
    options = sound, options.factor = 1;
    EXPECT_TRUE(says(refused(), "factor"));
    options = sound, options.processes = 1000;
    EXPECT_TRUE(says(refused(), "processes"));
}

TEST_F(Profiler, finds_mounts_and_what_hinders_them) {
    machine.device(1).free_bytes = 5 << 20;
    machine.device(2).does_not_answer = true;
    simulated::world->waiting_takes = 1;
    simulated::world->looks_before_that = 4;  // the root and three of the devices
    const std::vector<Place> places = find_places(options);
    const auto at = [&](int number) {
        const auto it = std::find_if(places.begin(), places.end(),
                                     [&](const Place& p) { return p.path == machine.path(number); });
        return it == places.end() ? Place{} : *it;
    };
    EXPECT_EQ(at(0).hindrance, "");
    EXPECT_EQ(at(0).size_bytes, std::uint64_t{200} << 30);
    EXPECT_TRUE(says(at(1).hindrance, "only 5 MiB free")) << at(1).hindrance;
    EXPECT_TRUE(says(at(2).hindrance, "does not answer")) << at(2).hindrance;
    EXPECT_TRUE(std::none_of(places.begin(), places.end(), [](const Place& p) { return p.path == "/proc"; }));
    machine.mount("ext4", "ro");
    EXPECT_TRUE(says(find_places(options).at(1).hindrance, "can only be read"));
}

TEST_F(Profiler, without_directories_measures_what_it_finds) {
    machine.device(2).error = EIO;
    machine.device(3).free_bytes = 5 << 20;
    const Profile found = profile({}, options);
    EXPECT_EQ(found.hierarchy.targets.size(), 2u);
    EXPECT_EQ(std::count_if(found.set_aside.begin(), found.set_aside.end(),
                            [&](const SetAside& s) { return s.path == machine.path(3); }),
              1);
}

TEST_F(Profiler, the_file_system_of_the_pool_is_no_target_below_it) {
    options.pool = machine.path(0) + "/pools";
    std::filesystem::create_directory(options.pool);
    const Profile found = profile({}, options);
    EXPECT_EQ(found.hierarchy.targets.at(0).measured->at, options.pool);
    for (const Target& target : found.hierarchy.targets) EXPECT_NE(target.path, machine.path(0));
}

TEST_F(Profiler, tells_how_it_goes) {
    double last = 0;
    std::vector<std::string> paths;
    profile({machine.path(0), machine.path(1)}, options, [&](const ProfileProgress& p) {
        EXPECT_GE(p.seconds, last);
        EXPECT_LE(p.seconds, p.of_seconds);
        last = p.seconds;
        if (paths.empty() || paths.back() != p.path) paths.push_back(p.path);
    });
    EXPECT_EQ(paths.front(), machine.path(0));
}

// What a profile is checked against is the world as it is now.

TEST_F(Profiler, what_has_not_changed_fits) {
    for (const Fit& fit : check_profile(profile_of({0, 1}).hierarchy, options)) {
        EXPECT_EQ(fit.state, Fit::State::fits) << fit.why;
        EXPECT_EQ(fit.why, "");
    }
}

TEST_F(Profiler, another_speed_is_noticed_beyond_the_factor) {
    const Hierarchy h = profile_of({0, 1}).hierarchy;
    machine.device(1).write_bytes_per_s = 60'000'000;
    EXPECT_EQ(state_of(h, 1), Fit::State::fits);
    machine.device(1).write_bytes_per_s = 40'000'000;
    EXPECT_EQ(state_of(h, 1), Fit::State::differs);
    EXPECT_EQ(state_of(h, 0), Fit::State::fits);
    slow_down(1, 1);
    machine.device(1).access_ns = 1'000'000;
    EXPECT_EQ(state_of(h, 1), Fit::State::differs);
}

TEST_F(Profiler, another_file_system_or_size_is_noticed) {
    const Hierarchy h = profile_of({0, 1}).hierarchy;
    machine.device(1).size_bytes = std::uint64_t{100} << 30;
    EXPECT_EQ(state_of(h, 1), Fit::State::differs);
    EXPECT_EQ(state_of(h, 0), Fit::State::fits);
    machine.mount("xfs", "rw");
    const Fit fit = check_profile(h, options).at(0);
    EXPECT_EQ(fit.state, Fit::State::differs);
    EXPECT_TRUE(says(fit.why, "(xfs) now, and was measured on /dev/sim0 (ext4)")) << fit.why;
}

TEST_F(Profiler, what_is_gone_is_told_from_what_is_full) {
    const Hierarchy h = profile_of({0, 1}).hierarchy;
    machine.device(1).free_bytes = 0;
    EXPECT_EQ(state_of(h, 1), Fit::State::fits);
    std::filesystem::remove(machine.path(1));
    const Fit fit = check_profile(h, options).at(1);
    EXPECT_EQ(fit.state, Fit::State::gone);
    EXPECT_TRUE(says(fit.why, "there is no directory " + machine.path(1))) << fit.why;
}

Hierarchy written_by_hand(Hierarchy h) {
    h.mode = Buffering::write_through;
    h.rules.push_back({.match = "mesh", .pin = h.targets.back().name});
    h.targets.back().capacity_bytes = 123 << 20;
    h.targets.back().limited = true;
    return h;
}

TEST_F(Profiler, measures_again_what_differs_and_keeps_what_people_wrote) {
    Hierarchy h = written_by_hand(profile_of({0, 1}).hierarchy);
    machine.device(1).write_bytes_per_s = 10'000'000;
    Profile again = profile_again(h, options);
    const Target& target = again.hierarchy.targets.at(1);
    expect_near(target.write.bytes_per_second, 10e6);
    EXPECT_EQ(target.capacity_bytes, std::uint64_t{123} << 20);
    // But for the figures all is as it was.
    again.hierarchy.targets[1].write = h.targets[1].write;
    again.hierarchy.targets[1].read = h.targets[1].read;
    again.hierarchy.targets[1].measured = h.targets[1].measured;
    EXPECT_EQ(to_yaml(again.hierarchy), to_yaml(h));
}

TEST_F(Profiler, measures_what_a_person_has_guessed_and_leaves_what_is_gone) {
    Hierarchy h = profile_of({0, 1, 2}).hierarchy;
    for (const std::size_t i : {1U, 2U}) h.targets[i].measured.reset();
    h.targets[1].read.bytes_per_second = 1;
    const std::string gone = h.targets[2].path;
    std::filesystem::remove(gone);
    EXPECT_EQ(state_of(h, 1), Fit::State::unmeasured);
    const Profile again = profile_again(h, options);
    expect_near(again.hierarchy.targets[1].read.bytes_per_second, 200e6);
    EXPECT_FALSE(again.hierarchy.targets[2].measured);
    EXPECT_EQ(again.set_aside.at(0).path, gone);
}

TEST_F(Profiler, what_has_become_faster_moves_up_and_blocks_are_flushed_where_they_were) {
    machine.device(0).write_bytes_per_s = 900'000'000;
    slow_down(1, 2);
    slow_down(2, 10);
    const Hierarchy h = profile_of({0, 1, 2}).hierarchy;
    const std::string lowest = h.targets[2].name;
    machine.device(2).write_bytes_per_s = 500'000'000;
    const Hierarchy again = parse_hierarchy(to_yaml(profile_again(h, options).hierarchy));
    EXPECT_EQ(again.targets[1].name, lowest);
    EXPECT_EQ(again.flush.to, lowest);
    machine.device(2).write_bytes_per_s = 3'000'000'000;
    const std::string text = code_and_message([&] { profile_again(h, options); });
    EXPECT_TRUE(says(text, "faster to write now than the pool above it")) << text;
}

}  // namespace
}  // namespace pmemcpy::profiler
