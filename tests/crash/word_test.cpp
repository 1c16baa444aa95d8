// As line_test.cpp, where a store of more than a word may arrive in part, word by word and in any order.

#include "explore_script.hpp"

namespace pmemcpy::crash {
namespace {

class WordMedium : public Exploration {};

TEST_P(WordMedium, keeps_every_acknowledged_operation) {
    Plan plan;
    plan.model = Model::line;
    plan.tears_words = true;
    plan.exhaustive_limit = 1;
    explore(plan, "word");
}

INSTANTIATE_TEST_SUITE_P(every, WordMedium, ::testing::ValuesIn(all_scripts()),
                         [](const auto& script) { return script.param.name; });

}  // namespace
}  // namespace pmemcpy::crash
