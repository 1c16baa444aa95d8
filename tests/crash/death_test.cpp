// A process dies in a verb, another one takes back what it has left, and then the power fails: for each event of the verb
// that the first one dies at, every event of the other's work is looked at as in the scripts of one process.

#include "deaths.hpp"
#include "explore_script.hpp"

namespace pmemcpy::crash {
namespace {

class DeathBeforePowerLoss : public ::testing::TestWithParam<std::tuple<Death, Model>> {
public:
    static void TearDownTestSuite() {
        std::printf(
            "explored: %llu deaths in a verb, then power loss: %llu crash images, %llu audits, %llu wrong\n",
            static_cast<unsigned long long>(deaths_), static_cast<unsigned long long>(total_.images),
            static_cast<unsigned long long>(total_.audits), static_cast<unsigned long long>(total_.failures));
    }

protected:
    static inline Counts total_;
    static inline std::uint64_t deaths_ = 0;
};

TEST_P(DeathBeforePowerLoss, keeps_every_acknowledged_operation) {
    const auto& [death, model] = GetParam();
    const Grain grain = model == Model::page ? Grain::element : Grain::array;
    const auto [events, finished] = undisturbed(death, model);
    for (std::size_t at = 0; at <= events.size(); ++at) {
        // In CI each third event, and all that leave what others may build on.
        if (!is_long() && at % 3 != seed() % 3 && !leaves_unflushed(events, at)) continue;
        SimulatedKernel kernel(model);
        crash::Run run = perform(kernel, script_of(death, at), grain);
        run.unfinished = finished;
        Plan plan;
        plan.model = model;
        plan.seed = seed();
        plan.random_images = is_long() ? 20'000 : 100;
        plan.exhaustive_limit = 16;
        plan.point_every = is_long() ? 1 : 8;  // what a death leaves lasts for many moments
        const Counts counts = Explorer(kernel, run, plan).explore();
        for (const std::string& failure : counts.first_failures)
            ADD_FAILURE() << "death after event " << at << " of " << events.size() << ": " << failure;
        total_ += counts;
        ++deaths_;
        if (counts.failures > 0) return;
    }
}

INSTANTIATE_TEST_SUITE_P(every, DeathBeforePowerLoss,
                         ::testing::Combine(::testing::ValuesIn(deaths()),
                                            ::testing::Values(Model::line, Model::page)),
                         [](const auto& death) {
                             return std::get<0>(death.param).name +
                                    (std::get<1>(death.param) == Model::line ? "_line" : "_page");
                         });

}  // namespace
}  // namespace pmemcpy::crash
