// Attributes that come from the content, whoever stores it, and whoever is killed.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <pmemcpy/error.hpp>
#include <pmemcpy/extract.hpp>
#include <pmemcpy/scope.hpp>
#include <string>
#include <utility>
#include <vector>

#include "os/process.hpp"
#include "tests/folder.hpp"

namespace pmemcpy {
namespace {

class extracting : public ::testing::Test {
protected:
    PMEM open(Mode mode = Mode::create_or_update) const {
        Options options;
        options.max_bytes = 64 << 20;
        options.mode = mode;
        PMEM pool;
        pool.mmap(path_, options);
        return pool;
    }
    /// Sets `length` of each object, and counts how often it was called for it.
    Extract lengths() {
        return [this](PMEM& pool, const std::string& id) {
            {
                const std::lock_guard lock(mutex_);
                ++calls_[id];
            }
            pool.set_attribute(id, "length", pool.load<std::string>(id).size());
        };
    }
    std::map<std::string, int> calls() {
        const std::lock_guard lock(mutex_);
        return calls_;
    }
    static std::string ids(const PMEM& pool, const std::string& text) {
        std::string all;
        for (const Found& one : query(pool, text)) all += (all.empty() ? "" : " ") + one.id;
        return all;
    }
    static void expect(Code code, const std::function<void()>& call) {
        try {
            call();
            ADD_FAILURE() << "expected " << name_of(code);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), code) << error.what();
        }
    }

    Folder folder_;
    std::string path_ = folder_ / "pool";
    std::mutex mutex_;
    std::map<std::string, int> calls_;
};

using Calls = std::map<std::string, int>;

TEST_F(extracting, looks_once_at_each_content) {
    PMEM pool = open();
    pool.store("before", "four");
    pool.store("number", 4);
    const Query texts = Query::parse("dtype = 'string'");
    {
        Extractor extractor(path_, "length", texts, lengths());
        extractor.wait();
        EXPECT_EQ(ids(pool, "length = 4"), "before");
        pool.store("g/after", "seventh");
        pool.store("before", "seventh");
        extractor.wait();
        EXPECT_EQ(ids(pool, "length = 7"), "before g/after");
        pool.set_attribute("before", "unit", "K");
        pool.rename("g/after", "renamed");
        extractor.wait();
        EXPECT_EQ(calls(), (Calls{{"before", 2}, {"g/after", 1}}));
        EXPECT_EQ(extractor.info().looked_at, 3U);
        EXPECT_EQ(extractor.info().failed, 0U);
    }
    pool.store("later", "x");
    Extractor again(path_, "length", texts, lengths());
    again.wait();
    EXPECT_EQ(calls(), (Calls{{"before", 2}, {"g/after", 1}, {"later", 1}})) << "the rest is remembered";
    EXPECT_EQ(pool.attributes("later"), std::vector<std::string>{"length"});
    Extractor other(path_, "other", texts, lengths());
    other.wait();
    EXPECT_EQ(calls()["before"], 3) << "under another name it is looked at anew";
}

TEST_F(extracting, looks_at_steps_when_they_are_committed) {
    PMEM pool = open();
    pool.begin(1);
    pool.store("before", "one");
    Extractor extractor(path_, "length", Query::parse("dtype = 'string'"), lengths());
    extractor.wait();
    pool.store("a", "one");
    extractor.wait();
    EXPECT_EQ(calls(), Calls{});
    pool.commit(1);
    extractor.wait();
    EXPECT_EQ(calls(), (Calls{{"a", 1}, {"before", 1}}));
    pool.begin(2);
    pool.store("a", "two");
    pool.abandon();
    extractor.wait();
    EXPECT_EQ(calls(), (Calls{{"a", 1}, {"before", 1}}));
}

// An array is made by one call and stored into by another: a test on a busy machine met an extractor in between.
TEST_F(extracting, looks_at_no_array_in_which_nothing_is_stored) {
    PMEM pool = open();
    Extractor extractor(path_, "sum", Query{}, [](PMEM& own, const std::string& id) {
        std::vector<int> all(4);
        own.load(id, all.data(), Box{{0}, {4}});
        own.set_attribute(id, "sum", std::accumulate(all.begin(), all.end(), 0));
    });
    pool.alloc<int>("a", {4});
    extractor.wait();
    EXPECT_EQ(extractor.info().looked_at, 0U);
    const std::vector<int> all = {1, 2, 3, 4};
    pool.store("a", all.data(), Box{{0}, {4}});
    extractor.wait();
    EXPECT_EQ(extractor.info().failed, 0U) << extractor.info().trouble;
    EXPECT_EQ(ids(pool, "sum = 10"), "a");
}

TEST_F(extracting, goes_on_after_an_error_and_tells_it) {
    PMEM pool = open();
    pool.store("bad", "b");
    pool.store("good", "g");
    std::atomic<bool> throws = true;
    const Extract moody = [&](PMEM& own, const std::string& id) {
        if (id == "bad" && throws) throw std::runtime_error("it cannot be read");
        own.set_attribute(id, "seen", true);
    };
    {
        Extractor extractor(path_, "moody", Query{}, moody);
        extractor.wait();
        EXPECT_EQ(extractor.info().looked_at, 2U);
        EXPECT_EQ(extractor.info().failed, 1U);
        EXPECT_EQ(extractor.info().trouble, "bad: it cannot be read");
        EXPECT_EQ(ids(pool, "seen = true"), "good");
    }
    throws = false;
    Extractor extractor(path_, "moody", Query{}, moody);
    extractor.wait();
    EXPECT_EQ(ids(pool, "seen = true"), "bad good");
}

TEST_F(extracting, leaves_the_rest_to_the_next_when_it_is_killed) {
    PMEM pool = open();
    for (int i = 0; i < 200; ++i) pool.store("v" + std::to_string(i), std::string(10, 'x'));
    for (int round = 0; round < 5; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            Extractor extractor(path_, "length", Query{}, lengths());
            ::pause();
        }
        os::sleep_ns(20'000'000);
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    Extractor extractor(path_, "length", Query{}, lengths());
    extractor.wait();
    EXPECT_EQ(count(pool, "length = 10 count").front().objects, 200U);
    for (const auto& [id, count] : calls()) EXPECT_EQ(count, 1) << id;
}

TEST_F(extracting, looks_at_what_is_private_too) {
    PMEM pool = open();
    pool.store("mine", "private");
    set_scope(pool, "mine", Scope::own);
    Extractor extractor(path_, "length", Query{}, lengths());
    extractor.wait();
    EXPECT_EQ(pool.get_attribute<std::uint64_t>("mine", "length"), 7U);
    EXPECT_EQ(scope_of(pool, "mine"), Scope::own);
}

TEST_F(extracting, is_none_of_a_forked_child) {
    PMEM pool = open();
    auto extractor = std::make_unique<Extractor>(path_, "length", Query{}, lengths());
    const pid_t child = ::fork();
    if (child == 0) {
        bool is_refused = false;
        try {
            extractor->wait();
        } catch (const Error& error) {
            is_refused = error.kind() == Code::busy;
        }
        extractor.reset();
        ::_exit(is_refused ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    pool.store("a", "b");
    extractor->wait();
    EXPECT_EQ(calls(), (Calls{{"a", 1}}));
}

// wait() hung: the thread waited for itself.
TEST_F(extracting, waits_for_nothing_in_its_own_function) {
    PMEM pool = open();
    pool.store("a", "text");
    std::atomic<Extractor*> self = nullptr;
    Extractor extractor(pool, "waits", {}, [&](PMEM&, const std::string&) {
        while (self == nullptr) os::sleep_ns(1'000'000);
        self.load()->wait();
    });
    self = &extractor;
    extractor.wait();
    EXPECT_EQ(extractor.info().failed, 1U);
    EXPECT_NE(extractor.info().trouble.find("inside the function of one"), std::string::npos);
}

// It ended the process: the destructor waited for the thread that had called it.
TEST_F(extracting, ends_after_its_own_function_has_destroyed_it) {
    PMEM pool = open();
    pool.store("a", "text");
    pool.store("b", "text");
    std::promise<std::unique_ptr<Extractor>> given;
    std::atomic<int> looks = 0;
    std::promise<void> ended;
    std::shared_ptr<void> at_end(nullptr, [&](void*) { ended.set_value(); });
    auto extractor = std::make_unique<Extractor>(
        pool, "ends", Query{}, [&, held = std::move(at_end)](PMEM& inside, const std::string& id) {
            ++looks;
            given.get_future().get().reset();
            inside.set_attribute(id, "seen", true);
        });
    given.set_value(std::move(extractor));
    ended.get_future().wait();
    EXPECT_EQ(looks, 1);
    EXPECT_EQ(pool.attributes("a").size() + pool.attributes("b").size(), 1U);
}

// The statistics of damaged bytes were set, and queries found the object by them.
TEST_F(extracting, sets_nothing_of_damaged_bytes) {
    PMEM pool = open();
    const std::vector<double> numbers(100, 1);
    pool.alloc<double>("u", {100});
    pool.store<double>("u", numbers.data(), Box{{0}, {100}});
    const_cast<double*>(pool.view<double>("u").data())[7] = 1e9;
    Extractor extractor(pool, "statistics", {}, extract_statistics());
    extractor.wait();
    EXPECT_NE(extractor.info().trouble.find("another checksum"), std::string::npos)
        << extractor.info().trouble;
    EXPECT_TRUE(pool.attributes("u").empty());
}

TEST_F(extracting, refuses_what_it_cannot_do) {
    expect(Code::not_found, [&] { Extractor(path_, "length", Query{}, lengths()); });
    open();
    for (const std::string& name : {std::string(), std::string("a/b"), std::string(65, 'a')})
        expect(Code::invalid_argument, [&] { Extractor(path_, name, Query{}, lengths()); });
    for (const char* text : {"kind = 'value' limit 3", "order by name", "count"})
        expect(Code::invalid_argument, [&] { Extractor(path_, "length", Query::parse(text), lengths()); });
}

TEST_F(extracting, knows_statistics) {
    PMEM pool = open();
    pool.alloc<float>("a", Dimensions{4, 5});
    std::vector<float> numbers(20);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    numbers[7] = std::nanf("");
    pool.store("a", numbers.data(), Box{{0, 0}, {4, 5}});
    pool.store("a", std::vector<float>(2, 100).data(), Box{{3, 3}, {1, 2}});
    pool.store("v", std::vector<int>{2, 4});
    pool.store("text", "2");
    Extractor extractor(path_, "statistics", Query{}, extract_statistics());
    extractor.wait();
    const auto found = pool.get_attribute<Statistics>("a", "statistics");
    EXPECT_EQ(found.numbers, 19U);
    EXPECT_EQ(found.min, 0);
    EXPECT_EQ(found.max, 100);
    double sum = 200;
    for (int i = 0; i < 18; ++i) sum += i == 7 ? 0 : i;
    const double mean = sum / 19;
    double squares = 2 * (100 - mean) * (100 - mean);
    for (int i = 0; i < 18; ++i) squares += i == 7 ? 0 : (i - mean) * (i - mean);
    EXPECT_NEAR(found.mean, mean, 1e-12);
    EXPECT_NEAR(found.deviation, std::sqrt(squares / 19), 1e-12);
    EXPECT_EQ(ids(pool, "statistics.mean = 3 and statistics.deviation = 1"), "v");
    EXPECT_EQ(ids(pool, "exists(statistics)"), "a v");
}

}  // namespace
}  // namespace pmemcpy
