#include "operate/job.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <pmemcpy/pmemcpy.hpp>
#include <string>
#include <vector>

#include "tests/folder.hpp"

namespace pmemcpy::operate {
namespace {

class job : public testing::Test {
protected:
    job() {
        Options options;
        options.max_bytes = 16 << 20;
        user_.mmap(here_ / "pool", options);
        const std::vector<double> values(100, 1.0);
        user_.alloc<double>("u", {100});
        user_.store<double>("u", values.data(), Box{{0}, {100}});
        store_ = store::Store::open(here_ / "pool", options);
    }
    /// `meanwhile` runs when the result is there, and does not have its name yet.
    void run(const std::function<void()>& meanwhile = {}) {
        Hint hint;
        hint.mask = operation::sum;
        operate_on(*store_, "u", hint, {}, [&] {
            if (meanwhile) meanwhile();
            return true;
        });
    }
    void expect_refused(const std::function<void()>& meanwhile) {
        try {
            run(meanwhile);
            ADD_FAILURE() << "the name was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), Code::already_exists) << error.what();
        }
        EXPECT_TRUE(user_.ids(".operating-").empty());
    }

    Folder here_;
    PMEM user_;
    std::shared_ptr<store::Store> store_;
};

// It moved away, and erased, whatever had the name when the result was ready.
TEST_F(job, leaves_a_variable_that_a_user_stores_under_the_name_of_its_result) {
    expect_refused([&] { user_.store("u.sum", "mine"); });
    EXPECT_EQ(user_.load<std::string>("u.sum"), "mine");
    user_.erase("u.sum");
    run();
    EXPECT_EQ(user_.load<double>("u.sum"), 100);
    expect_refused([&] {
        user_.erase("u.sum");
        user_.store("u.sum", "mine");
    });
    EXPECT_EQ(user_.load<std::string>("u.sum"), "mine");
}

TEST_F(job, leaves_an_earlier_result_that_a_user_has_given_another_name) {
    run();
    run([&] { user_.rename("u.sum", "kept"); });
    EXPECT_EQ(user_.load<double>("kept"), 100);
    EXPECT_EQ(user_.load<double>("u.sum"), 100);
    run();
    EXPECT_EQ(user_.ids(), (std::vector<std::string>{"kept", "u", "u.sum"}));
}

}  // namespace
}  // namespace pmemcpy::operate
