// Power loss behind the page cache: each dirty page may be there as it was at any moment since the last sync, and what
// was acknowledged by that sync must be.

#include "explore_script.hpp"

namespace pmemcpy::crash {
namespace {

class PageMedium : public Exploration {};

TEST_P(PageMedium, keeps_every_acknowledged_operation) {
    Plan plan;
    plan.model = Model::page;
    explore(plan, "page");
}

INSTANTIATE_TEST_SUITE_P(every, PageMedium, ::testing::ValuesIn(scripts_of_files()),
                         [](const auto& script) { return script.param.name; });

}  // namespace
}  // namespace pmemcpy::crash
