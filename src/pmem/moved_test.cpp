// The directory of an open pool is renamed, and another pool is made under the old name: what the process opens again by that name is its
// own pool, or an error that says so, and never the other one.

#include <filesystem>
#include <pmemcpy/extract.hpp>
#include <pmemcpy/index.hpp>
#include <pmemcpy/operations.hpp>
#include <string>
#include <vector>

#include "pmem/scope_suite.hpp"

namespace pmemcpy {
namespace {

namespace fs = std::filesystem;

class moved : public testing::TestWithParam<Layout> {
protected:
    moved() { fs::create_directory(here()); }
    std::string here() const { return folder_ / "here"; }
    std::string there() const { return folder_ / "there"; }
    static std::string in(const std::string& directory) { return directory + "/run.pmem"; }

    PMEM open(const std::string& path) const {
        Options options;
        options.max_bytes = 32 << 20;
        options.chunk_bytes = 64 << 10;
        options.layout = fs::exists(path) ? Layout::automatic : GetParam();
        PMEM pool;
        pool.mmap(path, options);
        return pool;
    }
    static void fill(PMEM& pool, int value) {
        pool.alloc<int>("a", Dimensions{4});
        pool.store<int>("a", std::vector<int>(4, value).data(), Box{{0}, {4}});
        pool.store("x", value);
    }
    static void expect_filled(const PMEM& pool, int value) {
        EXPECT_EQ(pool.ids(), (std::vector<std::string>{"a", "x"}));
        EXPECT_EQ(pool.load<int>("x"), value);
        std::vector<int> elements(4);
        pool.load("a", elements.data(), Box{{0}, {4}});
        EXPECT_EQ(elements, std::vector<int>(4, value));
        EXPECT_TRUE(pool.attributes("a").empty());
        EXPECT_TRUE(pool.verify().empty());
    }
    /// What lies beside the other pool, as it has closed it.
    std::vector<std::string> beside() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(here())) names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }
    /// Each call on a pool that was moved is refused, and neither pool is changed by it.
    void expect_refused(const std::function<void(PMEM&)>& call) const {
        PMEM pool = open(in(here()));
        fill(pool, 100);
        fs::rename(here(), there());
        fs::create_directory(here());
        PMEM other = open(in(here()));
        fill(other, 5);
        other.munmap();
        const std::vector<std::string> names = beside();
        expect_error(Code::busy, [&] { call(pool); });
        expect_filled(pool, 100);
        pool.store("x", 101);
        pool.munmap();
        EXPECT_EQ(beside(), names);
        expect_filled(open(in(here())), 5);
        pool = open(in(there()));
        EXPECT_EQ(pool.load<int>("x"), 101);
        pool.store("x", 100);
        expect_filled(pool, 100);
    }

    Folder folder_;
};

TEST_P(moved, makes_nothing_private_beside_another_pool) {
    expect_refused([](PMEM& pool) { set_scope(pool, "x", Scope::own); });
    fs::remove_all(here());
    fs::remove_all(there());
    fs::create_directory(here());
    expect_refused([](PMEM& pool) { private_side(pool); });
}

TEST_P(moved, shares_no_variable_of_another_pool) {
    PMEM pool = open(in(here()));
    fill(pool, 100);
    set_scope(pool, "x", Scope::own);
    fs::rename(here(), there());
    fs::create_directory(here());
    PMEM other = open(in(here()));
    fill(other, 5);
    set_scope(other, "x", Scope::own);
    expect_error(Code::busy, [&] { set_scope(pool, "x", Scope::shared); });
    expect_error(Code::busy, [&] { set_scope(pool, "a", Scope::own); });
    expect_filled(pool, 100);
    expect_filled(other, 5);
    EXPECT_EQ(scope_of(pool, "x"), Scope::own);
    EXPECT_EQ(scope_of(other, "x"), Scope::own);
}

TEST_P(moved, operates_on_no_array_of_another_pool) {
    expect_refused([](PMEM& pool) { run_operations(pool, "a", {.mask = operation::maximum}); });
}

TEST_P(moved, operates_in_the_background_on_no_array_of_another_pool) {
    expect_refused([](PMEM& pool) {
        hint(pool, "a", {.mask = operation::maximum});
        struct Unhint {
            PMEM& pool;
            ~Unhint() { hint(pool, "a", {}); }
        } const unhint{pool};
        wait_for_operations(pool);
    });
}

TEST_P(moved, extracts_from_no_other_pool) {
    expect_refused([](PMEM& pool) {
        const Extractor extractor(pool, "seen", Query{},
                                  [](PMEM& own, const std::string& id) { own.set_attribute(id, "seen", 1); });
    });
}

TEST_P(moved, is_opened_once_more_by_no_name_of_another) {
    expect_refused([](PMEM& pool) {
        PMEM again;
        again.mmap(pool);
    });
}

TEST_P(moved, begins_no_index_beside_another_pool) {
    expect_refused([](PMEM& pool) { set_index_mode(pool, IndexMode::sync); });
}

TEST_P(moved, removes_no_index_of_another_pool) {
    expect_refused([](PMEM& pool) { set_index_mode(pool, IndexMode::none); });
}

TEST_P(moved, calls_no_function_that_lies_beside_another_pool) {
    expect_refused([this](PMEM& pool) { add_operation(pool, "own", in(there()), {}); });
}

TEST_P(moved, is_opened_once_more_where_nothing_has_happened) {
    PMEM pool = open(in(here()));
    fill(pool, 100);
    PMEM again;
    again.mmap(pool);
    EXPECT_EQ(again.uuid(), pool.uuid());
    again.store("x", 7);
    EXPECT_EQ(pool.load<int>("x"), 7);
}

INSTANTIATE_TEST_SUITE_P(in, moved, testing::Values(Layout::file, Layout::directory), [](const auto& one) {
    return one.param == Layout::file ? "a_file" : "a_directory";
});

}  // namespace
}  // namespace pmemcpy
