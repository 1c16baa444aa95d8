#pragma once

// What the tests of the index stand on.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <pmemcpy/error.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/pmemcpy.hpp>
#include <pmemcpy/query.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "index/evaluation.hpp"
#include "tests/folder.hpp"
#include "tests/quiet_fork.hpp"

namespace pmemcpy {

inline std::vector<std::string> found(const PMEM& pool, const std::string& text) {
    std::vector<std::string> ids;
    for (const Found& one : query(pool, text)) ids.push_back(one.id);
    return ids;
}

/// Without any index. Errors: type_mismatch.
inline std::vector<std::string> looked_for(const PMEM& pool, const std::string& text) {
    std::vector<std::string> ids = pool.ids();
    const auto groups = pool.groups();
    ids.insert(ids.end(), groups.begin(), groups.end());
    index::Surroundings around(pool);
    if (around.pool() != nullptr) ids.emplace_back(index::pool_id);
    std::sort(ids.begin(), ids.end());
    index::Evaluation evaluation(Query::parse(text).condition()->node());
    std::vector<std::string> met;
    for (const std::string& id : ids) {
        index::Object object(pool, id, around);
        std::vector<Box> boxes;
        if (evaluation.meets(object, boxes)) met.push_back(id);
    }
    evaluation.finish();
    return met;
}

/// What is found, or else what is said.
template <class F>
std::vector<std::string> answer_or_error(F&& f) {
    try {
        return f();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), Code::type_mismatch) << error.what();
        return {error.what()};
    }
}

inline bool by_index(const PMEM& pool, const std::string& text) {
    return explain(pool, text).find("found by the index") != std::string::npos;
}

class index_beside_a_pool : public ::testing::Test {
protected:
    PMEM open(IndexMode mode = IndexMode::none, Mode how = Mode::create_or_update) const {
        Options options;
        options.max_bytes = 64 << 20;
        options.index = mode;
        options.mode = how;
        PMEM pool;
        pool.mmap(path_, options);
        return pool;
    }
    /// What keeps the index does so in the pause behind a burst.
    static void wait_until_all_is_in(const PMEM& pool) {
        for (int i = 0; i < 2000 && index_info(pool).changes_behind != 0; ++i) ::usleep(10'000);
        EXPECT_EQ(index_info(pool).changes_behind, 0U);
    }
    /// While somebody keeps it, who may just be making a new one in there.
    void remove_index() const {
        std::error_code error;
        do std::filesystem::remove_all(path_ + ".idx", error);
        while (error == std::errc::directory_not_empty);
        ASSERT_FALSE(error) << error.message();
    }
    bool is_there() const { return std::filesystem::exists(path_ + ".idx"); }
    /// The directory of the one generation that there is.
    std::string generation() const {
        for (const auto& entry : std::filesystem::directory_iterator(path_ + ".idx")) {
            if (entry.is_directory()) return entry.path();
        }
        return "";
    }
    static void expect(Code code, const std::function<void()>& call) {
        try {
            call();
            ADD_FAILURE() << "expected " << name_of(code);
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), code) << error.what();
        }
    }
    /// In another process, which then dies without a word.
    void in_another(const std::function<void(PMEM&)>& f) const {
        const pid_t child = quiet_fork();
        if (child == 0) {
            PMEM pool = open();
            f(pool);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_EQ(status, 0);
    }

    Folder folder_;
    std::string path_ = folder_ / "pool";
};

}  // namespace pmemcpy
