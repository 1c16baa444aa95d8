#include "cli/copy/transfer.hpp"

#include <gtest/gtest.h>

#include <pmemcpy/scope.hpp>

#include <utility>

#include "tests/folder.hpp"

using namespace pmemcpy;
using namespace pmemcpy::cli;

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

class cli_transfer : public testing::Test {
protected:
    cli_transfer() {
        Options options;
        options.max_bytes = 16 << 20;
        options.chunk_bytes = 64 << 10;
        pmem.mmap(folder_ / "pool", options);
        other.mmap(folder_ / "other", options);
        for (const char* id : {"a", "g/b", "g/h/c"}) pmem.store(id, 1);
    }

    Names planned(const std::string& from, const std::string& to) {
        Names names;
        for (const Transfer& transfer : plan(pmem, {"pool", from}, to))
            names.emplace_back(transfer.info.id, transfer.to);
        return names;
    }

    Code refusal(const std::vector<Transfer>& transfers, const PMEM& target, bool force = false) const {
        try {
            check(transfers, target, force);
        } catch (const Error& error) {
            return error.kind();
        }
        return Code{};
    }

    PMEM pmem;
    PMEM other;

private:
    Folder folder_;
};

}  // namespace

TEST_F(cli_transfer, gives_a_variable_the_id_that_is_asked_for) {
    EXPECT_EQ(planned("g/b", ""), (Names{{"g/b", "g/b"}}));
    EXPECT_EQ(planned("g/b", "x"), (Names{{"g/b", "x"}}));
    EXPECT_EQ(planned("g/b", "x/"), (Names{{"g/b", "x/b"}}));
}

TEST_F(cli_transfer, takes_all_of_a_group_with_its_inner_groups_last) {
    const Names same = {{"g/b", "g/b"}, {"g/h/c", "g/h/c"}, {"g/h", "g/h"}, {"g", "g"}};
    EXPECT_EQ(planned("g", ""), same);
    EXPECT_EQ(planned("g/", ""), same);
    EXPECT_EQ(planned("g", "x"), (Names{{"g/b", "x/b"}, {"g/h/c", "x/h/c"}, {"g/h", "x/h"}, {"g", "x"}}));
    EXPECT_EQ(planned("g/h", "x/"), (Names{{"g/h/c", "x/h/c"}, {"g/h", "x/h"}}));
}

TEST_F(cli_transfer, takes_all_of_a_pool) {
    EXPECT_EQ(planned("", ""),
              (Names{{"a", "a"}, {"g/b", "g/b"}, {"g/h/c", "g/h/c"}, {"g/h", "g/h"}, {"g", "g"}}));
    EXPECT_EQ(planned("", "x/").front(), (std::pair<std::string, std::string>{"a", "x/a"}));
    EXPECT_THROW(planned("", "x"), Error);
    EXPECT_THROW(planned("nobody", "x"), Error);
    pmem.set_attribute("/", "title", "of the pool");
    EXPECT_EQ(planned("", "").back(), (std::pair<std::string, std::string>{"/", "/"}));
}

// Inner groups lie in outer ones, which therefore come first.
TEST_F(cli_transfer, keeps_private_what_is_private_with_the_groups_around_it) {
    set_scope(pmem, "g", Scope::own);
    copy_groups(plan(pmem, {"pool", ""}, ""), other, false);
    EXPECT_EQ(scope_of(other, "g/h"), Scope::own);
    EXPECT_EQ(scope_of(other, "g"), Scope::own);
}

TEST_F(cli_transfer, says_first_which_names_are_taken) {
    const auto transfers = plan(pmem, {"pool", "a"}, "x");
    EXPECT_EQ(refusal(transfers, other), Code{});
    other.store("x", 1);
    EXPECT_EQ(refusal(transfers, other), Code::already_exists);
    EXPECT_EQ(refusal(transfers, other, true), Code{});
    other.erase("x");
    other.store("x/inside", 1);
    EXPECT_EQ(refusal(transfers, other), Code::already_exists);
    EXPECT_EQ(refusal(transfers, other, true), Code::already_exists);  // a group is not replaced
}

TEST_F(cli_transfer, refuses_one_name_for_two_and_a_copy_onto_itself) {
    auto transfers = plan(pmem, {"pool", "a"}, "x");
    const auto more = plan(pmem, {"pool", "g/b"}, "x");
    transfers.insert(transfers.end(), more.begin(), more.end());
    EXPECT_EQ(refusal(transfers, other), Code::invalid_argument);
    EXPECT_EQ(refusal(plan(pmem, {"pool", "a"}, "a"), pmem, true), Code::invalid_argument);
}

TEST_F(cli_transfer, opens_each_pool_once) {
    const std::string path = pmem.info().path;
    int opened = 0;
    Pools pools([&](const std::string&) {
        ++opened;
        return PMEM();
    });
    PMEM& first = pools.at(path);
    EXPECT_EQ(&first, &pools.at(path));
    EXPECT_EQ(&first, &pools.at(path.substr(0, path.rfind('/')) + "/./pool"));
    EXPECT_NE(&first, &pools.at(other.info().path));
    EXPECT_EQ(opened, 2);
}
