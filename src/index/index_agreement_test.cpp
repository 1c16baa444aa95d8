// With an index and without one the same is found, whatever was done to the pool, by whom, and whoever was killed in it.

#include "index/index_suite.hpp"

#include <csignal>
#include <pmemcpy/json.hpp>
#include <random>

#include "os/process.hpp"

namespace pmemcpy {
namespace {

std::string draw_change(std::mt19937& random, PMEM& pool) {
    const auto draw = [&](unsigned n) { return static_cast<int>(random() % n); };
    std::string id = (draw(2) == 0 ? "g/" : "") + std::string("v") + std::to_string(draw(30));
    if (draw(50) == 0) id += std::string(450, 'v');  // of so long a one only the beginning is posted
    try {
        switch (draw(10)) {
            case 0:
                if (draw(2) == 0)
                    pool.store(id, draw(10));
                else  // of long ones the numbers are not posted
                    pool.store(id, std::vector<double>(static_cast<std::size_t>(draw(20)), draw(10)));
                break;
            case 1:
                pool.store(id, std::string(static_cast<std::size_t>(draw(3)), 'x'));
                break;
            case 2:
                pool.alloc<double>(id, Dimensions{4, 2});
                break;
            case 3: {
                const std::vector<double> numbers(4, draw(10));
                pool.store(id, numbers.data(), Box{{static_cast<Extent>(draw(3)), 0}, {2, 2}});
                break;
            }
            case 4:
                switch (draw(8)) {
                    case 0:  // that their members have, too
                        pool.set_attribute("g", "a", draw(10) - 5);
                        break;
                    case 1:
                        pool.set_attribute("/", draw(2) == 0 ? "j" : "step", draw(10));
                        break;
                    case 2:
                        pool.remove_attribute("g", "a");
                        break;
                    case 3:
                        pool.remove_attribute("/", "j");
                        break;
                    default:
                        pool.set_attribute(id, "a", draw(10) - 5);
                }
                break;
            case 5:
                pool.set_attribute(id, "a",
                                   std::string(draw(2) == 0 ? 500U : 3U, static_cast<char>('a' + draw(3))));
                break;
            case 6:
                pool.set_attribute(id, "l", std::vector<int>{draw(5), draw(5)});
                pool.set_attribute(
                    id, "j", nlohmann::json{{"b", draw(5)}, {"list", {draw(3), "t", {{"c", draw(3)}}}}});
                break;
            case 7:
                pool.erase(id);
                break;
            case 8: {
                const std::optional<IndexMode> modes[] = {
                    IndexMode::none, IndexMode::async, IndexMode::sync, {}};
                set_index_mode(pool, draw(4) == 0 ? "g" : id, modes[draw(4)]);
                break;
            }
            default:
                switch (draw(3)) {
                    case 0:
                        pool.rename(id, "r" + std::to_string(draw(5)));
                        break;
                    case 1:
                        pool.remove_attribute(id, "a");
                        break;
                    default:  // where a variable was, or will be
                        pool.make_group(id);
                        break;
                }
                break;
        }
    } catch (const Error&) {
        // Not there, of another kind: as good.
    }
    return id;
}

const std::vector<std::string> questions = {
    "value = 3",
    "value > 2 and a < 0",
    "a = \"aaa\"",
    "a >= \"b\"",
    "a begins \"bb\"",
    "a contains \"cc\"",
    "exists(a)",
    "not exists(a)",
    "a != 2",
    "j.b >= 2",
    "j.list = 1",
    "j.list.c = 2",
    "j.list.0 = 1",
    "j.list = \"t\"",
    "max > 5",
    "min <= 3 and kind = \"array\"",
    "mean > 2",
    "mean < 4 and mean >= 1 and exists(a)",
    "created > now - 1d and creator.ranks > 2",
    "creator.program != \"x\" and kind = \"value\"",
    "name ~ \"g/v1*\"",
    "under \"g\"",
    "under \"g\" and kind != \"group\"",
    "kind != \"group\" and kind != \"array\"",
    "a > 0 and kind != \"group\"",
    "name begins \"v\" and kind != \"group\"",
    "exists(a) and kind = \"group\"",
    "a > 0 and kind != \"value\" and kind != \"array\"",
    "name contains \"v\" and kind != \"array\"",
    "name = \"g/v1\"",
    "name > \"g/v2\" and kind != \"group\"",
    "kind != \"group\" and name ~ \"*v1*\"",
    "name in \"g/v1\"..\"r3\"",
    "name in (\"v1\", \"r2\", \"g\") and kind != \"group\"",
    "name < \"v\" and name contains \"v\"",
    "name != \"g/v1\"",
    "name = \"2026-11-26\"",
    "kind = \"group\"",
    "dtype = \"float64\" or a = 1",
    "bytes > 8",
    "group = \"/\" and value = \"x\"",
    "a in -3..2",
    "a in (1, 2, \"aaa\")",
    "shape = (4, 2)",
    "blocks >= 2",
    "changed > now - 1d",
    "exists(j)",
    "l > 3 and l < 1",
    "l >= 2 and l <= 3 and exists(a)",
    "a > -3 and a <= 2 and name ~ \"**v*\"",
    "changed > now - 1d and changed < now + 1d and bytes >= 8 and bytes < 100",
    "a >= 1 and a <= \"b\"",
    "name contains \"1\" and (a > 0 or max > 3)",
    "value in 1..4 and not under \"g\"",
    "a ~ \"*b\"",
    "not a = \"none\" and value = 3",
    "under \"g\" and j.b > \"x\"",
    "name ~ \"g/*\" and a > 2",
    "l = \"x\" or kind = \"array\"",
    "value = \"x\" and kind = \"array\"",
    "@value = 3 and @kind != \"group\"",
    "@name begins \"v\"",
    "under \"g\" and not exists(a)",
    "j = 3",
    "step > 2",
    "@step > 2",
    "j > \"x\" and under \"g\""};

// Whatever is stored, erased and renamed, in whatever order, in one process or in two of which one dies now and then.
TEST_F(index_beside_a_pool, finds_what_a_look_at_all_objects_finds) {
    for (const IndexMode mode : {IndexMode::sync, IndexMode::async}) {
        for (unsigned seed = 0; seed < 6; ++seed) {
            remove_index();
            std::filesystem::remove(path_);
            std::filesystem::remove(path_ + ".rt");
            PMEM pool = open(mode);
            flush_index(pool);
            std::mt19937 random(seed);
            int used = 0;
            for (int round = 0; round < 25; ++round) {
                if (round % 8 == 7) {
                    const auto theirs = static_cast<unsigned>(random());
                    in_another([&](PMEM& other) {
                        std::mt19937 own(theirs);
                        for (int i = 0; i < 20; ++i) draw_change(own, other);
                    });
                }
                if (round == 12) remove_index();
                if (round % 10 == 9) {
                    pool.munmap();
                    pool = open();
                }
                for (int i = 0; i < 20; ++i) draw_change(random, pool);
                if (round % 5 == 4) flush_index(pool);
                for (const std::string& question : questions) {
                    const auto wanted = answer_or_error([&] { return looked_for(pool, question); });
                    ASSERT_EQ(answer_or_error([&] { return found(pool, question); }), wanted)
                        << question << ", seed " << seed << ", round " << round << "\n"
                        << explain(pool, question);
                    ASSERT_EQ(answer_or_error([&] { return ids(pool, question); }), wanted)
                        << question << ", seed " << seed << ", round " << round;
                    used += by_index(pool, question) ? 1 : 0;
                }
            }
            EXPECT_GT(used, 200) << "seed " << seed;
        }
    }
}

// Killed anywhere, whoever kept it leaves an index that is caught up, or not believed.
TEST_F(index_beside_a_pool, is_as_good_when_those_who_keep_it_are_killed) {
    PMEM pool = open(IndexMode::sync);
    std::mt19937 random(7);
    for (int round = 0; round < 40; ++round) {
        const auto theirs = static_cast<unsigned>(random());
        const pid_t child = quiet_fork();
        if (child == 0) {
            PMEM other = open();
            std::mt19937 own(theirs);
            for (;;) draw_change(own, other);
        }
        os::sleep_ns(random() % 20'000'000);
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        draw_change(random, pool);
        if (round % 4 != 3) continue;
        pool.munmap();  // cleans up
        pool = open();
        flush_index(pool);
        for (const std::string& question : questions) {
            const auto wanted = answer_or_error([&] { return looked_for(pool, question); });
            ASSERT_EQ(answer_or_error([&] { return found(pool, question); }), wanted)
                << question << ", round " << round;
            ASSERT_EQ(answer_or_error([&] { return ids(pool, question); }), wanted)
                << question << ", round " << round;
        }
        EXPECT_TRUE(by_index(pool, "value = 3"));
    }
}

}  // namespace
}  // namespace pmemcpy
