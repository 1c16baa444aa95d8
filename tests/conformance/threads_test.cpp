// Threads share one PMEM: each does to its own variables as it likes, and shared ones are never seen half.

#include <atomic>
#include <cstdint>
#include <functional>
#include <pmemcpy/pmemcpy.hpp>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "pool_suite.hpp"

namespace pmemcpy::conformance {
namespace {

class threads : public PoolSuite {
protected:
    static constexpr unsigned count = 8;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    static constexpr int rounds = 150;
#else
    static constexpr int rounds = 800;
#endif

    /// Runs work(number of the thread) in all of them; what one throws is a failure.
    void in_threads(const std::function<void(unsigned)>& work) {
        std::vector<std::thread> running;
        std::atomic<int> failed{0};
        for (unsigned t = 0; t < count; ++t) {
            running.emplace_back([&, t] {
                try {
                    work(t);
                } catch (const std::exception& error) {
                    ++failed;
                    ADD_FAILURE() << "thread " << t << ": " << error.what();
                }
            });
        }
        for (std::thread& thread : running) thread.join();
        ASSERT_EQ(failed, 0);
    }
};
INSTANTIATE_TEST_SUITE_P(layouts, threads, layouts(), name_of_layout);

TEST_P(threads, each_with_its_own_variables) {
    open();
    in_threads([&](unsigned t) {
        std::mt19937 random(t);
        const std::string mine = "t" + std::to_string(t) + "/";
        std::vector<std::string> model(10);
        for (int i = 0; i < rounds; ++i) {
            const auto n = static_cast<std::size_t>(random() % model.size());
            const std::string id = mine + std::to_string(n);
            switch (random() % 4) {
                case 0:
                case 1: {
                    model[n] = std::string(1 + (std::size_t{1} << (random() % 15)),
                                           static_cast<char>('a' + random() % 26));
                    pmem.store(id, model[n]);
                    break;
                }
                case 2:
                    if (!model[n].empty()) pmem.erase(id);
                    model[n].clear();
                    break;
                default:
                    EXPECT_EQ(pmem.exists(id), !model[n].empty());
                    if (!model[n].empty()) {
                        ASSERT_EQ(pmem.load<std::string>(id), model[n]);
                    }
            }
        }
        for (std::size_t n = 0; n < model.size(); ++n) {
            if (model[n].empty()) continue;
            ASSERT_EQ(pmem.load<std::string>(mine + std::to_string(n)), model[n]);
        }
    });
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    pmem.compact();
    EXPECT_EQ(pmem.info().data_bytes, 0u);
    EXPECT_EQ(pmem.info().retired_records, 0u);
}

TEST_P(threads, boxes_of_one_array) {
    open();
    pmem.alloc<int>("A", Dimensions{count, 1000});
    in_threads([&](unsigned t) {
        std::vector<int> row(1000);
        for (int i = 0; i < rounds; ++i) {
            row.assign(1000, i);
            pmem.store<int>("A", row.data(), Box{{t, 0}, {1, 1000}});
            std::vector<int> back(1000);
            pmem.load<int>("A", back.data(), Box{{t, 0}, {1, 1000}});
            ASSERT_EQ(back, row);
        }
    });
    EXPECT_EQ(pmem.blocks("A").size(), count);
}

TEST_P(threads, one_shared_variable_is_never_seen_half) {
    open();
    pmem.alloc<unsigned>("A", Dimensions{4000});
    const std::vector<unsigned> first(4000, 0);
    pmem.store<unsigned>("A", first.data(), Box{{0}, {4000}});
    pmem.store("v", first);
    pmem.store("small", std::vector<unsigned>(20, 0));
    in_threads([&](unsigned t) {
        std::vector<unsigned> data(4000);
        for (int i = 0; i < rounds; ++i) {
            if (t % 2 == 0) {
                data.assign(4000, static_cast<unsigned>(i) * count + t);
                pmem.store<unsigned>("A", data.data(), Box{{0}, {4000}});
                pmem.store("v", data);
                pmem.store("small", std::vector<unsigned>(20, t));
            } else {
                pmem.load<unsigned>("A", data.data(), Box{{0}, {4000}});
                ASSERT_EQ(data, std::vector<unsigned>(4000, data[0]));
                const auto v = pmem.load<std::vector<unsigned>>("v");
                ASSERT_EQ(v, std::vector<unsigned>(4000, v[0]));
                const auto small = pmem.load<std::vector<unsigned>>("small");
                ASSERT_EQ(small, std::vector<unsigned>(20, small[0]));
                const auto view = pmem.view<unsigned>("A");
                ASSERT_EQ(view[0], view[3999]);
            }
        }
    });
    EXPECT_EQ(pmem.blocks("A").size(), 1u);
}

TEST_P(threads, the_same_ids_at_once) {
    open();
    in_threads([&](unsigned t) {
        for (int i = 0; i < rounds; ++i) {
            pmem.store("g" + std::to_string(i % 100) + "/k", static_cast<int>(t));
            pmem.alloc<int>("array " + std::to_string(i), Dimensions{4});
            pmem.set_attribute("g" + std::to_string(i % 100), "by", static_cast<int>(t));
        }
    });
    EXPECT_EQ(pmem.ids("g").size(), static_cast<std::size_t>(std::min(rounds, 100)));
    EXPECT_EQ(pmem.ids("array").size(), static_cast<std::size_t>(rounds));
    EXPECT_EQ(pmem.groups().size(), static_cast<std::size_t>(std::min(rounds, 100)));
    EXPECT_EQ(pmem.attributes("g7"), std::vector<std::string>{"by"});
}

// A look whether it is there, and then a store, let two believe that it is theirs.
TEST_P(threads, of_those_that_make_one_new_thing_one_succeeds) {
    open();
    pmem.store("owner", 1);
    const std::int64_t number = 1;
    const BytesEncoder bytes(std::as_bytes(std::span(&number, 1)));
    const Type type = type_of<std::int64_t>();
    ArrayOptions fresh;
    fresh.must_be_new = true;
    std::atomic<int> arrays{0}, values{0}, attributes{0};
    const auto count_if_made = [](std::atomic<int>& made, const std::function<void()>& make) {
        try {
            make();
            ++made;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::already_exists) << error.what();
        }
    };
    const int most = std::min(rounds, 500);
    in_threads([&](unsigned) {
        for (int i = 0; i < most; ++i) {
            const std::string id = "g" + std::to_string(i);
            count_if_made(arrays, [&] { pmem.alloc<double>(id + "/array", {4}, fresh); });
            count_if_made(
                values, [&] { pmem.store_encoded(id + "/value", type, SerializerType::none, bytes, true); });
            count_if_made(attributes, [&] {
                pmem.set_attribute_encoded("owner", id, type, SerializerType::none, bytes, true);
            });
        }
    });
    EXPECT_EQ(arrays, most);
    EXPECT_EQ(values, most);
    EXPECT_EQ(attributes, most);
}

TEST_P(threads, storing_erasing_and_renaming_one_id) {
    open();
    in_threads([&](unsigned t) {
        std::mt19937 random(t);
        for (int i = 0; i < rounds; ++i) {
            const std::string id = "x" + std::to_string(random() % 3);
            try {
                switch (random() % 6) {
                    case 0:
                        pmem.store(id, std::string(2000, 's'));
                        break;
                    case 1:
                        pmem.erase(id);
                        break;
                    case 2:
                        pmem.rename(id, "x" + std::to_string(random() % 3));
                        break;
                    case 3:
                        pmem.alloc<char>(id, Dimensions{2000});
                        break;
                    case 4:
                        pmem.store<char>(id, std::string(2000, 'a').data(), Box{{0}, {2000}});
                        break;
                    default:
                        EXPECT_EQ(pmem.load<std::string>(id), std::string(2000, 's'));
                }
            } catch (const Error& error) {  // somebody was faster
                const Code kind = error.kind();
                ASSERT_TRUE(kind == Code::not_found || kind == Code::already_exists ||
                            kind == Code::type_mismatch)
                    << error.what();
            }
        }
    });
    for (const std::string& id : pmem.ids()) pmem.erase(id);
    EXPECT_TRUE(pmem.ids().empty());
    pmem.compact();
    EXPECT_EQ(pmem.info().data_bytes, 0u) << "space was lost";
    EXPECT_EQ(pmem.info().metadata_bytes, 0u) << "a record was lost";
}

TEST_P(threads, steps_by_many_threads) {
    open();
    pmem.alloc<int>("A", Dimensions{count});
    for (std::uint64_t step = 1; step <= 20; ++step) {
        pmem.begin(step);
        in_threads([&](unsigned t) {
            const auto value = static_cast<int>(step);
            pmem.store<int>("A", &value, Box{{t}, {1}});
        });
        pmem.commit(step);
        std::vector<int> all(count);
        pmem.load<int>("A", all.data(), Box{{0}, {count}});
        ASSERT_EQ(all, std::vector<int>(count, static_cast<int>(step)));
    }
}

}  // namespace
}  // namespace pmemcpy::conformance
