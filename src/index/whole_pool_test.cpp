// The pool itself, `/`, is found like all else.

#include <pmemcpy/scope.hpp>
#include <string>
#include <vector>

#include "index/index_suite.hpp"

namespace pmemcpy {
namespace {

// With one private object in a pool that has an attribute "/" was found by an index, and by a look at all objects it was not.
TEST_F(index_beside_a_pool, finds_the_pool_itself_also_where_something_is_private) {
    for (const IndexMode mode : {IndexMode::none, IndexMode::sync}) {
        PMEM pool = open(mode, Mode::replace);
        pool.store("x", 1);
        pool.store("y", 2);
        pool.set_attribute("/", "author", std::string("li"));
        const auto expect_all = [&] {
            if (index_mode(pool) != IndexMode::none) flush_index(pool);
            const std::vector<std::string> all = {"/", "x", "y"};
            for (const char* text : {"", "exists(author)", "author = 'li'"})
                EXPECT_EQ(ids(pool, text), all) << text;
            EXPECT_EQ(ids(pool, "kind = 'group'"), std::vector<std::string>{"/"});
            EXPECT_EQ(count(pool, "author = 'li' count").front().objects, 3U);
            expect(Code::type_mismatch, [&] { ids(pool, "author = 5"); });
        };
        expect_all();
        set_scope(pool, "x", Scope::own);
        expect_all();
        set_index_mode(pool, mode == IndexMode::none ? IndexMode::sync : IndexMode::none);
        expect_all();
        set_index_mode(private_side(pool), IndexMode::sync);
        expect_all();
    }
}

}  // namespace
}  // namespace pmemcpy
