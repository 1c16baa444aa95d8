// Power loss on a medium where a cache line is durable once flushed and fenced: at every event of every script, the
// images that may be left are recovered by the real library and judged by what the user was promised.

#include "explore_script.hpp"

namespace pmemcpy::crash {
namespace {

class LineMedium : public Exploration {};

TEST_P(LineMedium, keeps_every_acknowledged_operation) {
    Plan plan;
    plan.model = Model::line;
    explore(plan, "line");
}

INSTANTIATE_TEST_SUITE_P(every, LineMedium, ::testing::ValuesIn(all_scripts()),
                         [](const auto& script) { return script.param.name; });

}  // namespace
}  // namespace pmemcpy::crash
